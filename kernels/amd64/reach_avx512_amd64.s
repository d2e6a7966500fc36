//go:build !purego

// Which elements reach a bound: bit i of out is set unless x_i + s·y_i, or |x_i| + s·y_i, is less
// than the bound. A mask for the bits of x removes its sign, or nothing.
//
// 32 elements per iteration give 32 bits, which are stored as they come.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI, DI  x and y, next elements      CX  elements left after the loop
//   R8      out, next bits              BX  blocks of 32 left
//   Z0      which bits of x count       Z1  s    Z2  the bound
//   Z3..Z6  operands    Z7  of the tail K1..K4  masks of the tail, K5, K6, K7, K0 bits

#define BITS(offset, v, bits) \
	VPANDQ      offset(SI), Z0, v    \
	VFMADD231PD offset(DI), Z1, v    \
	VCMPPD      $0x15, Z2, v, bits // not less, NaN included

#define TAIL(offset, mask, v, bits) \
	VPANDQ.Z    offset(SI), Z0, mask, v \
	VMOVUPD.Z   offset(DI), mask, Z7    \
	VFMADD231PD Z7, Z1, v               \
	VCMPPD      $0x15, Z2, v, mask, bits

#define STORE \
	KUNPCKBW K5, K6, K5 \ // the first is the lower half
	KUNPCKBW K7, K0, K7 \
	KUNPCKWD K5, K7, K5 \
	KMOVD    K5, (R8)

// func ReachAVX512(mask uint64, s float64, x, y []float64, least float64, out []uint64)
TEXT ·ReachAVX512(SB), 0, $128-96
	VPBROADCASTQ mask+0(FP), Z0
	VBROADCASTSD s+8(FP), Z1
	MOVQ         x_base+16(FP), SI
	MOVQ         x_len+24(FP), CX
	MOVQ         y_base+40(FP), DI
	VBROADCASTSD least+64(FP), Z2
	MOVQ         out_base+72(FP), R8
	MOVQ         CX, BX
	ANDQ         $31, CX
	SHRQ         $5, BX
	JZ           tail

loop32:
	BITS(0, Z3, K5)
	BITS(64, Z4, K6)
	BITS(128, Z5, K7)
	BITS(192, Z6, K0)
	STORE
	ADDQ $256, SI
	ADDQ $256, DI
	ADDQ $4, R8
	DECQ BX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    done
	MASKS
	TAIL(0, K1, Z3, K5)
	TAIL(64, K2, Z4, K6)
	TAIL(128, K3, Z5, K7)
	TAIL(192, K4, Z6, K0)
	STORE

done:
	VZEROUPPER
	RET
