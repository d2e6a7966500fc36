//go:build !purego

// Dot product: Σ x_i·y_i.
//
// 32 elements per iteration, one fused multiply–add each, into 32 partial sums
// (element i into sum i mod 32). Two loads per multiply–add make the loads the
// limit: four accumulators would hide the latency, eight leave slack for
// operands that straddle cache lines.

#include "textflag.h"
#include "dense_avx2_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   DI  y, next element         BX  blocks of 32 left
//   Y0..Y7   partial sums       Y8, Y9   operands
//   Y12..Y15 masks of the tail

#define BLOCK(offset, sum) \
	VMOVUPD     offset(SI), Y8      \
	VFMADD231PD offset(DI), Y8, sum

#define TAIL(offset, sum) \
	MASK_NEXT                       \
	VMASKMOVPD  offset(SI), Y13, Y8 \
	VMASKMOVPD  offset(DI), Y13, Y9 \
	VFMADD231PD Y9, Y8, sum

// func DotAVX2(x, y []float64) float64
TEXT ·DotAVX2(SB), 0, $128-56
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ y_base+24(FP), DI
	CLEAR_SUMS
	MOVQ CX, BX
	ANDQ $31, CX
	SHRQ $5, BX
	JZ   tail

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
	ADDQ $256, DI
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
	VMOVSD X0, ret+48(FP)
	VZEROUPPER
	RET
