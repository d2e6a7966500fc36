//go:build !purego

// Dot product: Σ x_i·y_i.
//
// 32 elements per iteration, one fused multiply–add each, into 32 partial sums
// (element i into sum i mod 32). Two loads a cycle feed one multiply–add a
// cycle; its latency of four is just hidden by the four accumulators.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   DI  y, next element         BX  blocks of 32 left
//   Z0..Z3  partial sums        Z8  operand      K1..K4  masks of the tail

#define BLOCK(offset, sum) \
	VMOVUPD     offset(SI), Z8      \
	VFMADD231PD offset(DI), Z8, sum

#define TAIL(offset, mask, sum) \
	VMOVUPD.Z   offset(SI), mask, Z8      \
	VFMADD231PD offset(DI), Z8, mask, sum

// func DotAVX512(x, y []float64) float64
TEXT ·DotAVX512(SB), 0, $128-56
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ y_base+24(FP), DI
	CLEAR_SUMS
	MOVQ CX, BX
	ANDQ $31, CX
	SHRQ $5, BX
	JZ   tail

loop32:
	BLOCK(0, Z0)
	BLOCK(64, Z1)
	BLOCK(128, Z2)
	BLOCK(192, Z3)
	ADDQ $256, SI
	ADDQ $256, DI
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
	VMOVSD X0, ret+48(FP)
	VZEROUPPER
	RET
