//go:build !purego

// Dot product of a 32-bit and a 64-bit vector: Σ x_i·y_i.
//
// As DotAVX512, x widened on the way.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   DI  y, next element         BX  blocks of 32 left
//   Z0..Z3  partial sums        Z8  operand      K1..K4  masks of the tail

#define BLOCK(single, double, sum) \
	VCVTPS2PD   single(SI), Z8      \
	VFMADD231PD double(DI), Z8, sum

#define TAIL(single, double, mask, sum) \
	VCVTPS2PD.Z single(SI), mask, Z8      \
	VFMADD231PD double(DI), Z8, mask, sum

// func DotSingleAVX512(x []float32, y []float64) float64
TEXT ·DotSingleAVX512(SB), 0, $128-56
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ y_base+24(FP), DI
	CLEAR_SUMS
	MOVQ CX, BX
	ANDQ $31, CX
	SHRQ $5, BX
	JZ   tail

loop32:
	BLOCK(0, 0, Z0)
	BLOCK(32, 64, Z1)
	BLOCK(64, 128, Z2)
	BLOCK(96, 192, Z3)
	ADDQ $128, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    fold
	MASKS
	TAIL(0, 0, K1, Z0)
	TAIL(32, 64, K2, Z1)
	TAIL(64, 128, K3, Z2)
	TAIL(96, 192, K4, Z3)

fold:
	FOLD_SUMS
	VMOVSD X0, ret+48(FP)
	VZEROUPPER
	RET
