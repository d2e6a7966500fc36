//go:build !purego

// The products of 8 vectors with 8 interleaved vectors, added to a tile:
//
//	t[c, l] ← t[c, l] + Σ x[c][k]·y[8k+l]
//
// A row of y is four registers. Four vectors at a time: sixteen accumulators.
//
// Registers
//   R0  x's headers             R1  y, next row           R2  t, at a row of four
//   R3  rows of y left          R4..R7  x                 R8  stride in bytes
//   R9  passes left             R10..R12  rows of t       R13  elements before, in bytes
//   V0..V15  rows of t          V16..V19  a row of y      V20..V23  x, in both lanes

#include "textflag.h"

// GIVE4 adds x times a row of y to a row of the tile.
#define GIVE4(x, a, b, c, d) \
	VFMLA V16.D2, x.D2, a.D2 \
	VFMLA V17.D2, x.D2, b.D2 \
	VFMLA V18.D2, x.D2, c.D2 \
	VFMLA V19.D2, x.D2, d.D2

// func AddTileNEON(x *[8][]float64, y []float64, at, m, stride int, t []float64)
TEXT ·AddTileNEON(SB), 0, $136-80
	MOVD x+0(FP), R0
	MOVD at+32(FP), R13
	MOVD stride+48(FP), R8
	MOVD t_base+56(FP), R2
	LSL  $3, R8
	LSL  $3, R13
	MOVD $2, R9

pass:
	MOVD y_base+8(FP), R1
	ADD  R13<<3, R1
	MOVD m+40(FP), R3
	MOVD (R0), R4
	MOVD 24(R0), R5
	MOVD 48(R0), R6
	MOVD 72(R0), R7
	ADD  R13, R4
	ADD  R13, R5
	ADD  R13, R6
	ADD  R13, R7
	ADD  R8, R2, R10
	ADD  R8, R10, R11
	ADD  R8, R11, R12
	VLD1 (R2), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1 (R10), [V4.D2, V5.D2, V6.D2, V7.D2]
	VLD1 (R11), [V8.D2, V9.D2, V10.D2, V11.D2]
	VLD1 (R12), [V12.D2, V13.D2, V14.D2, V15.D2]

loop1:
	VLD1.P  64(R1), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1R.P 8(R4), [V20.D2]
	VLD1R.P 8(R5), [V21.D2]
	VLD1R.P 8(R6), [V22.D2]
	VLD1R.P 8(R7), [V23.D2]
	GIVE4(V20, V0, V1, V2, V3)
	GIVE4(V21, V4, V5, V6, V7)
	GIVE4(V22, V8, V9, V10, V11)
	GIVE4(V23, V12, V13, V14, V15)
	SUBS    $1, R3
	BNE     loop1

	VST1 [V0.D2, V1.D2, V2.D2, V3.D2], (R2)
	VST1 [V4.D2, V5.D2, V6.D2, V7.D2], (R10)
	VST1 [V8.D2, V9.D2, V10.D2, V11.D2], (R11)
	VST1 [V12.D2, V13.D2, V14.D2, V15.D2], (R12)
	ADD  $96, R0                                 // vectors 4 to 7
	ADD  R8, R12, R2
	SUBS $1, R9
	BNE  pass
	RET
