//go:build !purego

// Sparse columns times dense vector: out[c] = Σ values[k]·y[rows[k]] over the
// entries k from colPtr[c] to colPtr[c+1].
//
// Every column as in DotIndexedNEON, with the same bits, without a call per
// column. Entries of consecutive columns are adjacent: the pointers run on.

#include "textflag.h"
#include "indexed_arm64.h"

// Registers, beside those of the shared macros
//   R8   colPtr, next column    R9  out, next column      R10  columns left
//   R11  where the column ends  R12 where it begins

// func DotColumnsNEON(colPtr []int64, rows []int32, values, y, out []float64)
TEXT ·DotColumnsNEON(SB), 0, $136-120
	MOVD colPtr_base+0(FP), R8
	MOVD rows_base+24(FP), R1
	MOVD values_base+48(FP), R0
	MOVD y_base+72(FP), R2
	MOVD out_base+96(FP), R9
	MOVD out_len+104(FP), R10
	CBZ  R10, done
	MOVD.P 8(R8), R11
	ADD  R11<<2, R1, R1
	ADD  R11<<3, R0, R0

column:
	MOVD   R11, R12
	MOVD.P 8(R8), R11
	SUB    R12, R11, R3      // entries of this column
	CLEAR_SUMS
	SUBS   $4, R3
	BLT    tail

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
	FMOVD.P F0, 8(R9)
	SUBS    $1, R10
	BNE     column

done:
	RET
