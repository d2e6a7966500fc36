//go:build !purego

// Largest absolute value: max |x_i|, or NaN if any x_i is NaN.
//
// With the sign bit cleared, floating-point numbers are ordered as the unsigned
// integers with the same bits, and every NaN is larger than Inf: the maximum of
// integers is the answer, NaN included. It is exact, in any order.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   Z0..Z3  maxima              BX  blocks of 32 left
//   Z8      operand             Z11 all bits but the sign     K1..K4  masks of the tail

#define BLOCK(offset, largest) \
	VPANDQ  offset(SI), Z11, Z8  \
	VPMAXUQ Z8, largest, largest

#define TAIL(offset, mask, largest) \
	VPANDQ.Z offset(SI), Z11, mask, Z8 \
	VPMAXUQ  Z8, largest, largest

// func MaxAbsAVX512(x []float64) float64
TEXT ·MaxAbsAVX512(SB), 0, $128-32
	MOVQ       x_base+0(FP), SI
	MOVQ       x_len+8(FP), CX
	CLEAR_SUMS
	VPTERNLOGQ $255, Z11, Z11, Z11 // all ones
	VPSRLQ     $1, Z11, Z11
	MOVQ       CX, BX
	ANDQ       $31, CX
	SHRQ       $5, BX
	JZ         tail

loop32:
	BLOCK(0, Z0)
	BLOCK(64, Z1)
	BLOCK(128, Z2)
	BLOCK(192, Z3)
	ADDQ $256, SI
	DECQ BX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    fold
	MASKS
	TAIL(0, K1, Z0)
	TAIL(64, K2, Z1)
	TAIL(128, K3, Z2)
	TAIL(192, K4, Z3)

fold:
	VPMAXUQ       Z1, Z0, Z0
	VPMAXUQ       Z3, Z2, Z2
	VPMAXUQ       Z2, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VPMAXUQ       Y1, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VPMAXUQ       X1, X0, X0
	VUNPCKHPD     X0, X0, X1
	VPMAXUQ       X1, X0, X0
	VMOVSD        X0, ret+24(FP)
	VZEROUPPER
	RET
