//go:build !purego

// Sparse column times dense vector: Σ values[k]·y[rows[k]].
//
// 8 entries per iteration into 4 partial sums (entry k into sum k mod 4), in
// pairs. Only X registers are used: no VZEROUPPER is needed.

#include "textflag.h"
#include "indexed_avx2_amd64.h"

// func DotIndexedAVX2(values []float64, rows []int32, y []float64) float64
TEXT ·DotIndexedAVX2(SB), 0, $128-80
	MOVQ   values_base+0(FP), SI
	MOVQ   values_len+8(FP), CX
	MOVQ   rows_base+24(FP), DX
	MOVQ   y_base+48(FP), DI
	VXORPD X0, X0, X0
	VXORPD X1, X1, X1
	SUBQ   $8, CX
	JLT    tail

loop8:
	PAIR(0, 0, X0)
	PAIR(16, 8, X1)
	PAIR(32, 16, X0)
	PAIR(48, 24, X1)
	ADDQ $64, SI
	ADDQ $32, DX
	SUBQ $8, CX
	JGE  loop8

tail:
	TESTQ $4, CX  // the low bits of CX − 8 are those of CX
	JZ    tail2
	PAIR(0, 0, X0)
	PAIR(16, 8, X1)
	ADDQ  $32, SI
	ADDQ  $16, DX

tail2:
	TESTQ $2, CX
	JZ    tail1
	PAIR(0, 0, X0)
	TESTQ $1, CX
	JZ    fold
	SINGLE(16, 8, X1)
	JMP   fold

tail1:
	TESTQ $1, CX
	JZ    fold
	SINGLE(0, 0, X0)

fold:
	FOLD_SUMS
	VMOVSD X0, ret+72(FP)
	RET
