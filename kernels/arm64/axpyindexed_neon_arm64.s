//go:build !purego

// Sparse scaled update: y[rows[k]] ← fma(a, values[k], y[rows[k]]).
//
// 2 entries per iteration; rows are distinct, so the order is immaterial.

#include "textflag.h"
#include "update_arm64.h"

// func AxpyIndexedNEON(a float64, values []float64, rows []int32, y []float64)
TEXT ·AxpyIndexedNEON(SB), 0, $136-80
	FMOVD a+0(FP), F0
	MOVD  values_base+8(FP), R0
	MOVD  values_len+16(FP), R3
	MOVD  rows_base+32(FP), R1
	MOVD  y_base+56(FP), R2
	SUBS  $2, R3
	BLT   tail

loop2:
	UPDATE
	SUBS $2, R3
	BGE  loop2

tail:
	TBZ $0, R3, done // the low bit of R3 − 2 is that of R3
	UPDATE_LAST

done:
	RET
