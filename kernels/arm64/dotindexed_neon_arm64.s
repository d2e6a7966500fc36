//go:build !purego

// Sparse column times dense vector: Σ values[k]·y[rows[k]].
//
// 4 entries per iteration into 4 partial sums (entry k into sum k mod 4).

#include "textflag.h"
#include "indexed_arm64.h"

// func DotIndexedNEON(values []float64, rows []int32, y []float64) float64
TEXT ·DotIndexedNEON(SB), 0, $136-80
	MOVD values_base+0(FP), R0
	MOVD values_len+8(FP), R3
	MOVD rows_base+24(FP), R1
	MOVD y_base+48(FP), R2
	CLEAR_SUMS
	SUBS $4, R3
	BLT  tail

loop4:
	PAIR(F0, F1)
	PAIR(F2, F3)
	SUBS $4, R3
	BGE  loop4

tail:
	TAIL(one, fold) // the low bits of R3 − 4 are those of R3

one:
	TBZ $0, R3, fold
	SINGLE(F0)

fold:
	FOLD_SUMS
	FMOVD F0, ret+72(FP)
	RET
