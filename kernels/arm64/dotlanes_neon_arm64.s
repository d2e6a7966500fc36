//go:build !purego

// Sparse column times 8 interleaved dense vectors:
// out[l] = Σ values[k]·y[8·(rows[k]−first)+l], l = 0 … 7.
//
// 4 entries per iteration, entry k into partial sum k mod 4 of each lane: 16
// registers of two lanes.
//
// Registers
//   R0  values, next entry      R1  rows, next entry      R2  y, less 8·first
//   R3  entries left            R4  address of a row      R6  out
//   V0..V3  sum 0               V4..V7  sum 1
//   V8..V11  sum 2              V12..V15  sum 3
//   V16..V19  a row of y        V20  the value, in both lanes

#include "textflag.h"

// One entry into four registers. R5 is clobbered.
#define ENTRY(a, b, c, d) \
	MOVWU.P 4(R1), R4                              \
	MOVD.P  8(R0), R5                              \
	ADD     R4<<6, R2, R4                          \
	VDUP    R5, V20.D2                             \
	VLD1    (R4), [V16.D2, V17.D2, V18.D2, V19.D2] \
	VFMLA   V16.D2, V20.D2, a.D2                   \
	VFMLA   V17.D2, V20.D2, b.D2                   \
	VFMLA   V18.D2, V20.D2, c.D2                   \
	VFMLA   V19.D2, V20.D2, d.D2

// func DotLanesNEON(values []float64, rows []int32, y []float64, first int, out *[8]float64)
TEXT ·DotLanesNEON(SB), 0, $136-88
	MOVD values_base+0(FP), R0
	MOVD values_len+8(FP), R3
	MOVD rows_base+24(FP), R1
	MOVD y_base+48(FP), R2
	MOVD first+72(FP), R7
	MOVD out+80(FP), R6
	SUB  R7<<6, R2, R2

#include "lanes_arm64.h"
	RET
