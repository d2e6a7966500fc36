//go:build !purego

// The operations of a factorisation by tiles of 8 × 8.
//
//	SubPanel   t ← t − Σ x[k]·(row k of y)
//	SubTile    row c of t ← row c of t − Σ x[c, k]·(row k of y), c = 0 … 7
//	SolveTile  L·X = T for 8 right-hand sides side by side
//
// A row of 8 neighbouring elements is four registers. SubTile takes four rows of t
// at a time: sixteen accumulators. SolveTile takes four right-hand sides at a
// time.

#include "textflag.h"

// Registers
//   R0  x, or l                 R1  y, next row            R2  t
//   R3  rows of y left          R8  stride in bytes        R4..R7, R10, R11  rows
//   V0..V15  the tile, or partial sums
//   V16..V19  a row of y        V20..V23  x, in both lanes

#define ENTRY(a, b, c, d) \
	VLD1R.P 8(R0), [V20.D2]                        \
	VLD1    (R1), [V16.D2, V17.D2, V18.D2, V19.D2] \
	ADD     R8, R1                                 \
	VFMLA   V16.D2, V20.D2, a.D2                   \
	VFMLA   V17.D2, V20.D2, b.D2                   \
	VFMLA   V18.D2, V20.D2, c.D2                   \
	VFMLA   V19.D2, V20.D2, d.D2

// ADD2: sum += v, V31 being 1 in both lanes.
#define ADD2(v, sum) VFMLA V31.D2, v.D2, sum.D2

// func SubPanelNEON(x, y []float64, stride int, t []float64)
TEXT ·SubPanelNEON(SB), 0, $136-80
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R3
	MOVD y_base+24(FP), R1
	MOVD stride+48(FP), R8
	MOVD t_base+56(FP), R2
	LSL  $3, R8
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	SUBS $4, R3
	BLT  tail

loop4:
	ENTRY(V0, V1, V2, V3)
	ENTRY(V4, V5, V6, V7)
	ENTRY(V8, V9, V10, V11)
	ENTRY(V12, V13, V14, V15)
	SUBS $4, R3
	BGE  loop4

tail:
	ADDS $4, R3
	BEQ  fold
	ENTRY(V0, V1, V2, V3)
	SUBS $1, R3
	BEQ  fold
	ENTRY(V4, V5, V6, V7)
	SUBS $1, R3
	BEQ  fold
	ENTRY(V8, V9, V10, V11)

fold:
	// t − ((s0+s2) + (s1+s3)), in every lane.
	FMOVD $1.0, F31
	VDUP  V31.D[0], V31.D2
	ADD2(V8, V0)
	ADD2(V9, V1)
	ADD2(V10, V2)
	ADD2(V11, V3)
	ADD2(V12, V4)
	ADD2(V13, V5)
	ADD2(V14, V6)
	ADD2(V15, V7)
	ADD2(V4, V0)
	ADD2(V5, V1)
	ADD2(V6, V2)
	ADD2(V7, V3)
	VLD1  (R2), [V16.D2, V17.D2, V18.D2, V19.D2]
	VFMLS V31.D2, V0.D2, V16.D2
	VFMLS V31.D2, V1.D2, V17.D2
	VFMLS V31.D2, V2.D2, V18.D2
	VFMLS V31.D2, V3.D2, V19.D2
	VST1  [V16.D2, V17.D2, V18.D2, V19.D2], (R2)
	RET

// TAKE4 subtracts x times a row of y from a row of the tile.
#define TAKE4(x, a, b, c, d) \
	VFMLS V16.D2, x.D2, a.D2 \
	VFMLS V17.D2, x.D2, b.D2 \
	VFMLS V18.D2, x.D2, c.D2 \
	VFMLS V19.D2, x.D2, d.D2

// func SubTileNEON(x, y []float64, stride, m int, t []float64)
TEXT ·SubTileNEON(SB), 0, $136-88
	MOVD x_base+0(FP), R0
	MOVD stride+48(FP), R8
	MOVD t_base+64(FP), R2
	LSL  $3, R8
	MOVD $2, R9            // passes of four rows

pass:
	MOVD y_base+24(FP), R1
	MOVD m+56(FP), R3
	ADD  R8, R0, R4
	ADD  R8, R4, R5
	ADD  R8, R5, R6
	ADD  R8, R2, R7
	ADD  R8, R7, R10
	ADD  R8, R10, R11
	VLD1 (R2), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1 (R7), [V4.D2, V5.D2, V6.D2, V7.D2]
	VLD1 (R10), [V8.D2, V9.D2, V10.D2, V11.D2]
	VLD1 (R11), [V12.D2, V13.D2, V14.D2, V15.D2]
	ADD  R8, R6, R12                             // row 4 of x
	CBZ  R3, store

loop1:
	VLD1    (R1), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1R.P 8(R0), [V20.D2]
	VLD1R.P 8(R4), [V21.D2]
	VLD1R.P 8(R5), [V22.D2]
	VLD1R.P 8(R6), [V23.D2]
	TAKE4(V20, V0, V1, V2, V3)
	TAKE4(V21, V4, V5, V6, V7)
	TAKE4(V22, V8, V9, V10, V11)
	TAKE4(V23, V12, V13, V14, V15)
	ADD     R8, R1
	SUBS    $1, R3
	BNE     loop1

store:
	VST1 [V0.D2, V1.D2, V2.D2, V3.D2], (R2)
	VST1 [V4.D2, V5.D2, V6.D2, V7.D2], (R7)
	VST1 [V8.D2, V9.D2, V10.D2, V11.D2], (R10)
	VST1 [V12.D2, V13.D2, V14.D2, V15.D2], (R11)
	MOVD R12, R0
	ADD  R8, R11, R2
	SUBS $1, R9
	BNE  pass
	RET

// SCALE multiplies a row of the tile by 1/L_cc, L_cc being next at p. F31 is 1, V30
// is −0 in both lanes: fma(a, x, −0) is a·x, the sign of zero included.
#define SCALE(p, a, b) \
	FMOVD.P 8(p), F20            \
	FDIVD   F20, F31, F20        \
	VDUP    V20.D[0], V20.D2     \
	VMOV    V30.B16, V21.B16     \
	VMOV    V30.B16, V22.B16     \
	VFMLA   a.D2, V20.D2, V21.D2 \
	VFMLA   b.D2, V20.D2, V22.D2 \
	VMOV    V21.B16, a.B16       \
	VMOV    V22.B16, b.B16

// TAKE2 subtracts L_dc, next at p, times the row that SCALE has left in V21, V22.
#define TAKE2(p, a, b) \
	VLD1R.P 8(p), [V20.D2]       \
	VFMLS   V21.D2, V20.D2, a.D2 \
	VFMLS   V22.D2, V20.D2, b.D2

// func SolveTileNEON(l []float64, stride int, t []float64)
TEXT ·SolveTileNEON(SB), 0, $136-56
	MOVD  stride+24(FP), R8
	MOVD  t_base+32(FP), R2
	LSL   $3, R8
	FMOVD $1.0, F31
	FMOVD ZR, F30
	FNEGD F30, F30
	VDUP  V30.D[0], V30.D2
	MOVD  $2, R9            // passes of four right-hand sides

pass:
	MOVD l_base+0(FP), R0
	ADD  R8, R0, R4
	ADD  R8, R4, R5
	ADD  R8, R5, R6
	ADD  R8, R6, R7
	ADD  R8, R7, R10
	ADD  R8, R10, R11
	ADD  R8, R11, R12
	MOVD R2, R1
	VLD1 (R1), [V0.D2, V1.D2]
	ADD  R8, R1
	VLD1 (R1), [V2.D2, V3.D2]
	ADD  R8, R1
	VLD1 (R1), [V4.D2, V5.D2]
	ADD  R8, R1
	VLD1 (R1), [V6.D2, V7.D2]
	ADD  R8, R1
	VLD1 (R1), [V8.D2, V9.D2]
	ADD  R8, R1
	VLD1 (R1), [V10.D2, V11.D2]
	ADD  R8, R1
	VLD1 (R1), [V12.D2, V13.D2]
	ADD  R8, R1
	VLD1 (R1), [V14.D2, V15.D2]

	SCALE(R0, V0, V1)
	TAKE2(R4, V2, V3)
	TAKE2(R5, V4, V5)
	TAKE2(R6, V6, V7)
	TAKE2(R7, V8, V9)
	TAKE2(R10, V10, V11)
	TAKE2(R11, V12, V13)
	TAKE2(R12, V14, V15)

	SCALE(R4, V2, V3)
	TAKE2(R5, V4, V5)
	TAKE2(R6, V6, V7)
	TAKE2(R7, V8, V9)
	TAKE2(R10, V10, V11)
	TAKE2(R11, V12, V13)
	TAKE2(R12, V14, V15)

	SCALE(R5, V4, V5)
	TAKE2(R6, V6, V7)
	TAKE2(R7, V8, V9)
	TAKE2(R10, V10, V11)
	TAKE2(R11, V12, V13)
	TAKE2(R12, V14, V15)

	SCALE(R6, V6, V7)
	TAKE2(R7, V8, V9)
	TAKE2(R10, V10, V11)
	TAKE2(R11, V12, V13)
	TAKE2(R12, V14, V15)

	SCALE(R7, V8, V9)
	TAKE2(R10, V10, V11)
	TAKE2(R11, V12, V13)
	TAKE2(R12, V14, V15)

	SCALE(R10, V10, V11)
	TAKE2(R11, V12, V13)
	TAKE2(R12, V14, V15)

	SCALE(R11, V12, V13)
	TAKE2(R12, V14, V15)

	SCALE(R12, V14, V15)
	MOVD R2, R1
	VST1 [V0.D2, V1.D2], (R1)
	ADD  R8, R1
	VST1 [V2.D2, V3.D2], (R1)
	ADD  R8, R1
	VST1 [V4.D2, V5.D2], (R1)
	ADD  R8, R1
	VST1 [V6.D2, V7.D2], (R1)
	ADD  R8, R1
	VST1 [V8.D2, V9.D2], (R1)
	ADD  R8, R1
	VST1 [V10.D2, V11.D2], (R1)
	ADD  R8, R1
	VST1 [V12.D2, V13.D2], (R1)
	ADD  R8, R1
	VST1 [V14.D2, V15.D2], (R1)
	ADD  $32, R2
	SUBS $1, R9
	BNE  pass
	RET
