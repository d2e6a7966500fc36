//go:build !purego

// An epoch of coordinate descent over a box, for the samples listed in live:
//
//	g = sign·(Σ values·w[features]) − (margin − r·a)
//	b = min(max(a − g·inverse, 0), bound)
//
// and where b ≠ a: w[features] ← w[features] + (b − a)·sign·values, a ← b. It also
// updates the tallied fields, and moves the samples that are worth another visit to
// the front of live. See kernels.BoxEpoch; dot and update as in DotIndexedNEON and
// AxpyIndexedNEON, with the same bits.
//
// Whether a sample is at rest is unpredictable, so there is no branch for it, but
// conditional selects. GT and MI are false where an operand is NaN, NE is true.

#include "textflag.h"
#include "go_asm.h"
#include "indexed_arm64.h"
#include "update_arm64.h"

// The variable of a sample, at R9.
#define SIGN    0(R9)
#define INVERSE 8(R9)
#define BOUND   16(R9)
#define VALUE   24(R9)
#define MARGIN  32(R9)

// Registers, beside those of the shared macros (R2 is w)
//   R8   the epoch              R10  visit                R11  end
//   R12  samples kept           R13  entries of the sample
//   R7   live                   R15  the sample
//   R19, R20  its first value and feature                 R21, R22  scratch
//   R23  visited   R24  moved   R25  free   R26  entries of the free
//   F8   gap    F9   most over  F10  most under
//   F11  aside over             F12  aside under          F13  margin F14  0
//   F0   g, b − a, (b − a)·sign  F15  a      F16  bound    F17  b
//   F18  share of the gap       F19  g, or 0 at rest      F1  scratch
//   F20  r                      F21  1/r                  F22  ½r

// func BoxEpochNEON(e *BoxEpoch, from, to, kept int) int
TEXT ·BoxEpochNEON(SB), 0, $136-40
	MOVD  e+0(FP), R8
	MOVD  from+8(FP), R10
	MOVD  to+16(FP), R11
	MOVD  kept+24(FP), R12
	MOVD  BoxEpoch_Live(R8), R7
	MOVD  BoxEpoch_W(R8), R2
	MOVD  BoxEpoch_Visited(R8), R23
	MOVD  BoxEpoch_Moved(R8), R24
	MOVD  BoxEpoch_Free(R8), R25
	MOVD  BoxEpoch_FreeEntries(R8), R26
	FMOVD BoxEpoch_Gap(R8), F8
	FMOVD BoxEpoch_MostOver(R8), F9
	FMOVD BoxEpoch_MostUnder(R8), F10
	FMOVD BoxEpoch_AsideOver(R8), F11
	FMOVD BoxEpoch_AsideUnder(R8), F12
	FMOVD BoxEpoch_Diagonal(R8), F20
	FMOVD $1.0, F21
	FDIVD F20, F21, F21
	FMOVD $0.5, F22
	FMULD F20, F22, F22
	FMOVD ZR, F14
	CMP   R11, R10
	BGE   done

visit:
	MOVWU (R7)(R10<<2), R15
	MOVD  BoxEpoch_At(R8), R9
	ADD   R15<<2, R15, R21
	ADD   R21<<3, R9
	MOVD  BoxEpoch_From(R8), R21
	MOVD  (R21)(R15<<3), R4
	MOVD  BoxEpoch_To(R8), R21
	MOVD  (R21)(R15<<3), R3
	SUB   R4, R3, R3
	MOVD  R3, R13
	ADD   R3, R23
	MOVD  BoxEpoch_Values(R8), R0
	ADD   R4<<3, R0, R0
	MOVD  BoxEpoch_Features(R8), R1
	ADD   R4<<2, R1, R1
	MOVD  R0, R19
	MOVD  R1, R20
	CLEAR_SUMS
	SUBS  $4, R3
	BLT   tail

dot4:
	PAIR(F0, F1)
	PAIR(F2, F3)
	SUBS $4, R3
	BGE  dot4

tail:
	TAIL(one, step) // the low bits of R3 − 4 are those of R3

one:
	TBZ $0, R3, step
	SINGLE(F0)

step:
	FADDD   F2, F0, F0
	FADDD   F3, F1, F1
	FADDD   F1, F0, F0
	FMOVD   SIGN, F1
	FMOVD   MARGIN, F13
	FMOVD   VALUE, F15
	FMSUBD  F15, F13, F20, F13 // margin − r·a
	FNMSUBD F0, F13, F1, F0    // g = sign·F0 − that; −0 in place of +0 makes no difference here
	FMOVD   BOUND, F16
	FMOVD   INVERSE, F1
	FMSUBD  F1, F15, F0, F17   // a − g·inverse
	FCMPD   F14, F17
	FCSELD  GT, F17, F14, F17  // 0 where that is NaN
	FCMPD   F16, F17
	FCSELD  MI, F17, F16, F17  // b

tally:
	FMSUBD F21, F15, F0, F1  // a − g/r
	FCMPD  F14, F1
	FCSELD GT, F1, F14, F1
	FCMPD  F16, F1
	FCSELD MI, F1, F16, F1
	FSUBD  F1, F15, F18      // from there to a
	FMSUBD F18, F0, F22, F1  // g − ½r·share
	FMADDD F1, F8, F18, F8
	FCMPD  F14, F18
	FCSELD NE, F0, F14, F19
	CSET   NE, R21           // not at rest
	FCMPD  F9, F19
	FCSELD GT, F19, F9, F9
	FCMPD  F10, F19
	FCSELD MI, F19, F10, F10
	FCMPD  F11, F0
	CSET   GT, R22           // g > aside over
	FCMPD  F12, F0
	CSINC  PL, R22, ZR, R22  // or g < aside under
	EOR    $1, R22
	ORR    R21, R22          // kept
	MOVW   R15, (R7)(R12<<2)
	ADD    R22, R12
	FCMPD  F14, F17
	CSET   NE, R21           // b ≠ 0
	FCMPD  F16, F17
	CSEL   NE, R21, ZR, R21  // and b ≠ bound
	ADD    R21, R25
	MUL    R13, R21
	ADD    R21, R26
	FSUBD  F15, F17, F0
	FCMPD  F14, F0
	BEQ    next              // not so if either is NaN

	FMOVD F17, VALUE
	FMOVD SIGN, F1
	FMULD F1, F0, F0
	ADD   R13, R24
	MOVD  R19, R0
	MOVD  R20, R1
	SUBS  $2, R13, R3
	BLT   updatetail

update2:
	UPDATE
	SUBS $2, R3
	BGE  update2

updatetail:
	TBZ $0, R3, next
	UPDATE_LAST

next:
	ADD $1, R10
	CMP R11, R10
	BLT visit

done:
	FMOVD F8, BoxEpoch_Gap(R8)
	FMOVD F9, BoxEpoch_MostOver(R8)
	FMOVD F10, BoxEpoch_MostUnder(R8)
	MOVD  R23, BoxEpoch_Visited(R8)
	MOVD  R24, BoxEpoch_Moved(R8)
	MOVD  R25, BoxEpoch_Free(R8)
	MOVD  R26, BoxEpoch_FreeEntries(R8)
	MOVD  R12, ret+32(FP)
	RET
