//go:build !purego

// Sparse scaled update: y[rows[k]] ← fma(a, values[k], y[rows[k]]).
//
// 2 entries per iteration; rows are distinct, so the order is immaterial.

#include "textflag.h"

// Registers
//   R0  values, next entry      R1  rows, next entry      R2  y
//   R3  entries left            R4, R5  row numbers       F0  a
//   F4, F5  values              F6, F7  of y

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
	LDPW.P  8(R1), (R4, R5)
	FLDPD.P 16(R0), (F4, F5)
	FMOVD   (R2)(R4<<3), F6
	FMOVD   (R2)(R5<<3), F7
	FMADDD  F0, F6, F4, F6   // F6 ← F6 + F4·a
	FMADDD  F0, F7, F5, F7
	FMOVD   F6, (R2)(R4<<3)
	FMOVD   F7, (R2)(R5<<3)
	SUBS    $2, R3
	BGE     loop2

tail:
	TBZ    $0, R3, done    // the low bit of R3 − 2 is that of R3
	MOVWU  (R1), R4
	FMOVD  (R0), F4
	FMOVD  (R2)(R4<<3), F6
	FMADDD F0, F6, F4, F6
	FMOVD  F6, (R2)(R4<<3)

done:
	RET
