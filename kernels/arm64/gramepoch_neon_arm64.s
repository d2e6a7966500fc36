//go:build !purego

// An epoch of cyclic coordinate descent on a quadratic, with the proximal step in
// between: for each position
//
//	c    = C[slot]
//	grad = c − ridge·β
//	b    = ST(square·β + c, threshold)·inverse
//
// and where b ≠ β: C ← C + (β − b)·G[slot], β ← b. See kernels.GramEpoch.

#include "textflag.h"
#include "go_asm.h"

// Registers
//   R8   the epoch              R10  position             R11  its end
//   R12  moved                  R13  the most moves       R9   a slice of the epoch
//   R2   C                      R3   its length           R4   slot
//   R0   row of G, next         R1   C, next              R5   elements left
//   F10  ridge     F11  c       F12 β        F13  square   F14  z, then b
//   F15  scratch   V30  β − b   V0..V3 of C  V4..V7 of G

// OF loads the element of slice for this position.
#define OF(slice, x) \
	MOVD  slice(R8), R9   \
	FMOVD (R9)(R10<<3), x

// func GramEpochNEON(e *GramEpoch, from, to, moves int) (next, moved int)
TEXT ·GramEpochNEON(SB), 0, $136-48
	MOVD  e+0(FP), R8
	MOVD  from+8(FP), R10
	MOVD  to+16(FP), R11
	MOVD  moves+24(FP), R13
	MOVD  GramEpoch_Correlation(R8), R2
	MOVD  GramEpoch_Correlation+8(R8), R3
	FMOVD GramEpoch_Ridge(R8), F10
	MOVD  ZR, R12
	CMP   R11, R10
	BGE   done

position:
	MOVD   GramEpoch_Slot(R8), R9
	MOVWU  (R9)(R10<<2), R4
	FMOVD  (R2)(R4<<3), F11
	OF(GramEpoch_Coef, F12)
	FMULD  F12, F10, F15
	FSUBD  F15, F11, F15
	MOVD   GramEpoch_Grad(R8), R9
	FMOVD  F15, (R9)(R10<<3)
	OF(GramEpoch_Square, F13)
	FMADDD F12, F11, F13, F14     // z = square·β + c
	OF(GramEpoch_Threshold, F15)
	FCMPD  F15, F14
	BGT    positive               // z > t; not so if either is NaN
	FNEGD  F15, F1
	FCMPD  F14, F1
	BGT    negative               // −t > z
	FMOVD  ZR, F14
	B      scale

positive:
	FSUBD F15, F14, F14
	B     scale

negative:
	FADDD F15, F14, F14

scale:
	OF(GramEpoch_Inverse, F13)
	FMULD F13, F14, F14 // b
	FCMPD F12, F14
	BEQ   next          // not so if either is NaN

	MOVD  GramEpoch_Coef(R8), R9
	FMOVD F14, (R9)(R10<<3)
	FSUBD F14, F12, F30
	VDUP  V30.D[0], V30.D2
	ADD   $1, R12
	MOVD  GramEpoch_Stride(R8), R9
	MUL   R9, R4
	MOVD  GramEpoch_Gram(R8), R0
	ADD   R4<<3, R0, R0
	MOVD  R2, R1
	SUBS  $8, R3, R5
	BLT   tail

loop8:
	VLD1.P 64(R0), [V4.D2, V5.D2, V6.D2, V7.D2]
	VLD1   (R1), [V0.D2, V1.D2, V2.D2, V3.D2]
	VFMLA  V30.D2, V4.D2, V0.D2
	VFMLA  V30.D2, V5.D2, V1.D2
	VFMLA  V30.D2, V6.D2, V2.D2
	VFMLA  V30.D2, V7.D2, V3.D2
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R1)
	SUBS   $8, R5
	BGE    loop8

tail:
	ADDS $8, R5
	BEQ  next

loop1:
	FMOVD.P 8(R0), F4
	FMOVD   (R1), F0
	FMADDD  F30, F0, F4, F0 // F0 ← F0 + F4·F30
	FMOVD.P F0, 8(R1)
	SUBS    $1, R5
	BNE     loop1

next:
	ADD $1, R10
	CMP R13, R12
	BGE done
	CMP R11, R10
	BLT position

done:
	MOVD R10, next+32(FP)
	MOVD R12, moved+40(FP)
	RET
