//go:build !purego

// Sparse columns, each times its coefficient, added to a dense vector:
// y[rows[k]] ← fma(a[c], values[k], y[rows[k]]) over the entries from[c] ≤ k < to[c],
// column after column.
//
// Each column is done as in AxpyIndexedNEON, with the same bits, without a call per
// column. It stops before a column that is not within rows, or with which it would
// exceed 8,192 entries in all, and returns the number of columns done.

#include "textflag.h"
#include "update_arm64.h"

// Registers, beside those of the shared macros
//   R8   from, next column      R9  to, next column       R10  columns
//   R11  all values             R12 all rows              R13  a, next column
//   R7   entries so far         R15 length of rows        R6   columns done

// func AxpySpansNEON(a []float64, from, to []int64, rows []int32, values, y []float64) (done int)
TEXT ·AxpySpansNEON(SB), 0, $136-152
	MOVD a_base+0(FP), R13
	MOVD a_len+8(FP), R10
	MOVD from_base+24(FP), R8
	MOVD to_base+48(FP), R9
	MOVD rows_base+72(FP), R12
	MOVD rows_len+80(FP), R15
	MOVD values_base+96(FP), R11
	MOVD y_base+120(FP), R2
	MOVD ZR, R7
	MOVD ZR, R6

column:
	CMP     R10, R6
	BGE     done
	MOVD.P  8(R8), R4
	MOVD.P  8(R9), R3
	CMP     R15, R3
	BHI     done           // unsigned: also if it is negative
	CMP     R3, R4
	BHI     done
	ADD     R4<<3, R11, R0
	ADD     R4<<2, R12, R1
	SUB     R4, R3, R3     // entries of this column
	ADD     R3, R7
	CMP     $8192, R7
	BGT     done
	FMOVD.P 8(R13), F0
	ADD     $1, R6
	SUBS    $2, R3
	BLT     tail

loop2:
	UPDATE
	SUBS $2, R3
	BGE  loop2

tail:
	TBZ $0, R3, column // the low bit of R3 − 2 is that of R3
	UPDATE_LAST
	B   column

done:
	MOVD R6, done+144(FP)
	RET
