//go:build !purego

// Sparse columns times dense vector: out[c] = Σ values[k]·y[rows[k]] over the
// entries from[c] ≤ k < to[c].
//
// Each column is done as in DotIndexedNEON, with the same bits, without a call per
// column. It stops before a column that is not within rows, or with which it would
// exceed 8,192 entries in all, and returns the number of columns done.

#include "textflag.h"
#include "indexed_arm64.h"

// Registers, beside those of the shared macros
//   R8   from, next column      R9  to, next column       R10  columns
//   R11  all values             R12 all rows              R13  out, next column
//   R7   entries so far        R15 length of rows        R6   columns done

// func DotSpansNEON(from, to []int64, rows []int32, values, y, out []float64) (done int)
TEXT ·DotSpansNEON(SB), 0, $136-152
	MOVD from_base+0(FP), R8
	MOVD to_base+24(FP), R9
	MOVD rows_base+48(FP), R12
	MOVD values_base+72(FP), R11
	MOVD y_base+96(FP), R2
	MOVD out_base+120(FP), R13
	MOVD out_len+128(FP), R10
	MOVD rows_len+56(FP), R15
	MOVD ZR, R7
	MOVD ZR, R6

column:
	CMP    R10, R6
	BGE    done
	MOVD.P 8(R8), R4
	MOVD.P 8(R9), R3
	CMP    R15, R3
	BHI    done           // unsigned: also if it is negative
	CMP    R3, R4
	BHI    done
	ADD    R4<<3, R11, R0
	ADD    R4<<2, R12, R1
	SUB    R4, R3, R3     // entries of this column
	ADD    R3, R7
	CMP    $8192, R7
	BGT    done
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
	FMOVD.P F0, 8(R13)
	ADD     $1, R6
	B       column

done:
	MOVD R6, done+144(FP)
	RET
