//go:build !purego

// Sparse scaled update of 8 interleaved dense vectors:
// y[8·rows[k]+l] ← fma(a[l], values[k], y[8·rows[k]+l]), l = 0 … 7.
//
// A row is one cache line and four registers. One entry per iteration.
//
// Registers
//   R0  values, next entry      R1  rows, next entry      R2  y
//   R3  entries left            R4  a row, then its address
//   V0..V3  a                   V4  the value, in both lanes
//   V16..V19  a row of y

#include "textflag.h"

// func AxpyLanesNEON(a *[8]float64, values []float64, rows []int32, y []float64)
TEXT ·AxpyLanesNEON(SB), 0, $136-80
	MOVD a+0(FP), R4
	VLD1 (R4), [V0.D2, V1.D2, V2.D2, V3.D2]
	MOVD values_base+8(FP), R0
	MOVD values_len+16(FP), R3
	MOVD rows_base+32(FP), R1
	MOVD y_base+56(FP), R2
	CBZ  R3, done

loop1:
	MOVWU.P 4(R1), R4
	MOVD.P  8(R0), R5
	ADD     R4<<6, R2, R4
	VDUP    R5, V4.D2
	VLD1    (R4), [V16.D2, V17.D2, V18.D2, V19.D2]
	VFMLA   V4.D2, V0.D2, V16.D2
	VFMLA   V4.D2, V1.D2, V17.D2
	VFMLA   V4.D2, V2.D2, V18.D2
	VFMLA   V4.D2, V3.D2, V19.D2
	VST1    [V16.D2, V17.D2, V18.D2, V19.D2], (R4)
	SUBS    $1, R3
	BNE     loop1

done:
	RET
