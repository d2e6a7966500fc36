//go:build !purego

// Dot product of a 32-bit and a 64-bit vector: Σ x_i·y_i.
//
// As DotAVX2, x widened on the way: 32 elements per iteration into 32 partial
// sums.

#include "textflag.h"
#include "dense_avx2_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   DI  y, next element         BX  blocks of 32 left
//   Y0..Y7   partial sums       Y8..Y10  operands
//   Y12..Y15 masks of the tail

#define BLOCK(single, double, sum) \
	VCVTPS2PD   single(SI), Y8      \
	VFMADD231PD double(DI), Y8, sum

// The mask of 64-bit lanes becomes one of 32-bit lanes: every second word of it.
#define TAIL(single, double, sum) \
	MASK_NEXT                        \
	VEXTRACTF128 $1, Y13, X9         \
	VSHUFPS      $136, X9, X13, X9   \
	VMASKMOVPS   single(SI), X9, X8  \
	VCVTPS2PD    X8, Y8              \
	VMASKMOVPD   double(DI), Y13, Y9 \
	VFMADD231PD  Y9, Y8, sum

// func DotSingleAVX2(x []float32, y []float64) float64
TEXT ·DotSingleAVX2(SB), 0, $128-56
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ y_base+24(FP), DI
	CLEAR_SUMS
	MOVQ CX, BX
	ANDQ $31, CX
	SHRQ $5, BX
	JZ   tail

loop32:
	BLOCK(0, 0, Y0)
	BLOCK(16, 32, Y1)
	BLOCK(32, 64, Y2)
	BLOCK(48, 96, Y3)
	BLOCK(64, 128, Y4)
	BLOCK(80, 160, Y5)
	BLOCK(96, 192, Y6)
	BLOCK(112, 224, Y7)
	ADDQ $128, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    fold
	MASK_START
	TAIL(0, 0, Y0)
	TAIL(16, 32, Y1)
	TAIL(32, 64, Y2)
	TAIL(48, 96, Y3)
	CMPQ  CX, $16
	JLE   fold
	TAIL(64, 128, Y4)
	TAIL(80, 160, Y5)
	TAIL(96, 192, Y6)
	TAIL(112, 224, Y7)

fold:
	FOLD_SUMS
	VMOVSD X0, ret+48(FP)
	VZEROUPPER
	RET
