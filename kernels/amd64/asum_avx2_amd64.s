//go:build !purego

// Sum of absolute values: Σ |x_i|.
//
// As the dot product: 32 elements per iteration into 32 partial sums. One load
// per addition; eight accumulators hide the latency of the additions on ports
// that do two a cycle.

#include "textflag.h"
#include "dense_avx2_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   Y0..Y7   partial sums       BX  blocks of 32 left
//   Y8       operand            Y11 all bits but the sign
//   Y12..Y15 masks of the tail

#define BLOCK(offset, sum) \
	VANDPD offset(SI), Y11, Y8 \
	VADDPD Y8, sum, sum

#define TAIL(offset, sum) \
	MASK_NEXT                      \
	VMASKMOVPD offset(SI), Y13, Y8 \
	VANDPD     Y8, Y11, Y8         \
	VADDPD     Y8, sum, sum

// func AsumAVX2(x []float64) float64
TEXT ·AsumAVX2(SB), 0, $128-32
	MOVQ     x_base+0(FP), SI
	MOVQ     x_len+8(FP), CX
	CLEAR_SUMS
	VPCMPEQQ Y11, Y11, Y11
	VPSRLQ   $1, Y11, Y11
	MOVQ     CX, BX
	ANDQ     $31, CX
	SHRQ     $5, BX
	JZ       tail

loop32:
	BLOCK(0, Y0)
	BLOCK(32, Y1)
	BLOCK(64, Y2)
	BLOCK(96, Y3)
	BLOCK(128, Y4)
	BLOCK(160, Y5)
	BLOCK(192, Y6)
	BLOCK(224, Y7)
	ADDQ $256, SI
	DECQ BX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    fold
	MASK_START
	TAIL(0, Y0)
	TAIL(32, Y1)
	TAIL(64, Y2)
	TAIL(96, Y3)
	CMPQ  CX, $16
	JLE   fold
	TAIL(128, Y4)
	TAIL(160, Y5)
	TAIL(192, Y6)
	TAIL(224, Y7)

fold:
	FOLD_SUMS
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET
