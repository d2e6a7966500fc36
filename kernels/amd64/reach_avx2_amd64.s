//go:build !purego

// Which elements reach a bound: bit i of out is set unless x_i + s·y_i, or |x_i| + s·y_i, is less
// than the bound. A mask for the bits of x removes its sign, or nothing.
//
// 16 elements per iteration give 16 bits, which are stored as they come.

#include "textflag.h"
#include "dense_avx2_amd64.h"

// Registers
//   SI, DI  x and y, next elements      CX  elements left after the loop
//   R8      out, next bits              BX  blocks of 16 left
//   Y0      which bits of x count       AX  the bits, DX those of a vector
//   Y1      s    Y2  the bound          Y3, Y4  operands    Y12..Y15 masks of the tail

#define BITS(offset) \
	VANDPD      offset(SI), Y0, Y3 \
	VFMADD231PD offset(DI), Y1, Y3 \
	VCMPPD      $0x15, Y2, Y3, Y3  \ // not less, NaN included
	VMOVMSKPD   Y3, DX

#define TAIL(offset) \
	MASK_NEXT                       \
	VMASKMOVPD  offset(SI), Y13, Y3 \
	VMASKMOVPD  offset(DI), Y13, Y4 \
	VANDPD      Y3, Y0, Y3          \
	VFMADD231PD Y4, Y1, Y3          \
	VCMPPD      $0x15, Y2, Y3, Y3   \
	VANDPD      Y13, Y3, Y3         \
	VMOVMSKPD   Y3, DX

// func ReachAVX2(mask uint64, s float64, x, y []float64, least float64, out []uint64)
TEXT ·ReachAVX2(SB), 0, $128-96
	VPBROADCASTQ mask+0(FP), Y0
	VBROADCASTSD s+8(FP), Y1
	MOVQ         x_base+16(FP), SI
	MOVQ         x_len+24(FP), CX
	MOVQ         y_base+40(FP), DI
	VBROADCASTSD least+64(FP), Y2
	MOVQ         out_base+72(FP), R8
	MOVQ         CX, BX
	ANDQ         $15, CX
	SHRQ         $4, BX
	JZ           tail

loop16:
	BITS(96)
	MOVQ DX, AX
	SHLQ $4, AX
	BITS(64)
	ORQ  DX, AX
	SHLQ $4, AX
	BITS(32)
	ORQ  DX, AX
	SHLQ $4, AX
	BITS(0)
	ORQ  DX, AX
	MOVW AX, (R8)
	ADDQ $128, SI
	ADDQ $128, DI
	ADDQ $2, R8
	DECQ BX
	JNZ  loop16

tail:
	TESTQ CX, CX
	JZ    done
	MASK_START
	TAIL(0)
	MOVQ  DX, AX
	TAIL(32)
	SHLQ  $4, DX
	ORQ   DX, AX
	TAIL(64)
	SHLQ  $8, DX
	ORQ   DX, AX
	TAIL(96)
	SHLQ  $12, DX
	ORQ   DX, AX
	MOVW  AX, (R8)

done:
	VZEROUPPER
	RET
