//go:build !purego

// Margins: dst_i = |x_i| − s·y_i, with the product rounded, or limit where that is not at least −limit, for
// each i whose bit is set.
//
// 16 elements per iteration, which are skipped where none of their 16 bits is set.

#include "textflag.h"

// Registers
//   SI, DX  x and y, next elements      CX  elements left
//   DI  dst, next element               R8  next bits    AX  bits
//   Y0  all bits but the sign    Y1  s    Y2  limit    Y3  −limit
//   Y4..Y7  bits 0..3, 4..7, 8..11, 12..15, one a lane    Y8  the bits, in all lanes    Y9..Y11  operands

#define MARGIN(offset, lanes) \
	VANDPD    offset(SI), Y0, Y9  \
	VMULPD    offset(DX), Y1, Y10 \
	VSUBPD    Y10, Y9, Y9         \
	VCMPPD    $0x1D, Y3, Y9, Y10  \ // at least, NaN excluded
	VBLENDVPD Y10, Y9, Y2, Y9     \
	VPAND     lanes, Y8, Y11      \
	VPCMPEQQ  lanes, Y11, Y11     \
	VMOVUPD   offset(DI), Y10     \
	VBLENDVPD Y11, Y9, Y10, Y10   \
	VMOVUPD   Y10, offset(DI)

DATA ·lanes<>+0(SB)/8, $1
DATA ·lanes<>+8(SB)/8, $2
DATA ·lanes<>+16(SB)/8, $4
DATA ·lanes<>+24(SB)/8, $8
GLOBL ·lanes<>(SB), RODATA|NOPTR, $32

// func MarginAVX2(dst []float64, s float64, x, y []float64, limit float64, which []uint64)
TEXT ·MarginAVX2(SB), 0, $128-112
	MOVQ         dst_base+0(FP), DI
	MOVQ         dst_len+8(FP), CX
	VBROADCASTSD s+24(FP), Y1
	MOVQ         x_base+32(FP), SI
	MOVQ         y_base+56(FP), DX
	VBROADCASTSD limit+80(FP), Y2
	MOVQ         which_base+88(FP), R8
	VPCMPEQQ     Y0, Y0, Y0
	VPSLLQ       $63, Y0, Y3
	VXORPD       Y2, Y3, Y3
	VPSRLQ       $1, Y0, Y0
	VMOVDQU      ·lanes<>(SB), Y4
	VPSLLQ       $4, Y4, Y5
	VPSLLQ       $8, Y4, Y6
	VPSLLQ       $12, Y4, Y7
	SUBQ         $16, CX
	JLT          tail

loop16:
	MOVWQZX      (R8), AX
	TESTQ        AX, AX
	JZ           next16
	VMOVQ        AX, X8
	VPBROADCASTQ X8, Y8
	MARGIN(0, Y4)
	MARGIN(32, Y5)
	MARGIN(64, Y6)
	MARGIN(96, Y7)

next16:
	ADDQ $128, SI
	ADDQ $128, DX
	ADDQ $128, DI
	ADDQ $2, R8
	SUBQ $16, CX
	JGE  loop16

tail:
	ADDQ    $16, CX
	JZ      done
	MOVWQZX (R8), AX

loop1:
	TESTQ     $1, AX
	JZ        next1
	VMOVSD    (SI), X9
	VANDPD    X9, X0, X9
	VMULSD    (DX), X1, X10
	VSUBSD    X10, X9, X9
	VCMPSD    $0x1D, X3, X9, X10
	VBLENDVPD X10, X9, X2, X9
	VMOVSD    X9, (DI)

next1:
	SHRQ $1, AX
	ADDQ $8, SI
	ADDQ $8, DX
	ADDQ $8, DI
	DECQ CX
	JNZ  loop1

done:
	VZEROUPPER
	RET
