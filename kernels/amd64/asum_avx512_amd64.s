//go:build !purego

// Sum of absolute values: Σ |x_i|.
//
// As the dot product: 32 elements per iteration into 32 partial sums.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   Z0..Z3  partial sums        BX  blocks of 32 left
//   Z8      operand             Z11 all bits but the sign     K1..K4  masks of the tail

#define BLOCK(offset, sum) \
	VPANDQ offset(SI), Z11, Z8 \
	VADDPD Z8, sum, sum

#define TAIL(offset, mask, sum) \
	VPANDQ.Z offset(SI), Z11, mask, Z8 \
	VADDPD   Z8, sum, mask, sum

// func AsumAVX512(x []float64) float64
TEXT ·AsumAVX512(SB), 0, $128-32
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
	FOLD_SUMS
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET
