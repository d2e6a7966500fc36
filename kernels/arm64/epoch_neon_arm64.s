//go:build !purego

// An epoch of cyclic coordinate descent over packed sparse columns, with the
// proximal step in between: for each column
//
//	c    = Σ values·r[rows] + (offset·total)·mean
//	grad = c − ridge·β
//	b    = ST(square·β + c, threshold) / (square + ridge)
//
// and where b ≠ β: d = b − β, r[rows] ← r[rows] − d·values, offset ← offset +
// d·mean, β ← b. See kernels.Epoch; dot and update as in DotIndexedNEON and
// AxpyIndexedNEON, with the same bits.

#include "textflag.h"
#include "go_asm.h"
#include "indexed_arm64.h"
#include "update_arm64.h"

// Registers, beside those of the shared macros (R2 is r)
//   R8   the epoch              R10  column k             R11  its end
//   R12  entries updated        R13  entries of the column
//   R9   a slice of the epoch
//   F8   offset    F9  total    F10  ridge
//   F11  c         F12 β        F13  square   F14  z, then b     F15  scratch

// ENTRIES points R0 and R1 at the column's entries and leaves their number in
// R3. Clobbers R4, R9.
#define ENTRIES \
	MOVD Epoch_From(R8), R9   \
	MOVD (R9)(R10<<3), R4     \
	MOVD Epoch_Values(R8), R0 \
	ADD  R4<<3, R0, R0        \
	MOVD Epoch_Rows(R8), R1   \
	ADD  R4<<2, R1, R1        \
	MOVD Epoch_To(R8), R9     \
	MOVD (R9)(R10<<3), R3     \
	SUB  R4, R3, R3

// OF loads the element of slice for this column.
#define OF(slice, x) \
	MOVD  slice(R8), R9   \
	FMOVD (R9)(R10<<3), x

// func EpochNEON(e *Epoch, from, to int) (updated int)
TEXT ·EpochNEON(SB), 0, $136-32
	MOVD  e+0(FP), R8
	MOVD  from+8(FP), R10
	MOVD  to+16(FP), R11
	MOVD  Epoch_Residual(R8), R2
	FMOVD Epoch_Offset(R8), F8
	FMOVD Epoch_Total(R8), F9
	FMOVD Epoch_Ridge(R8), F10
	MOVD  ZR, R12
	CMP   R11, R10
	BGE   done

column:
	ENTRIES
	MOVD R3, R13
	CLEAR_SUMS
	SUBS $4, R3
	BLT  tail

dot4:
	PAIR(F0, F1)
	PAIR(F2, F3)
	SUBS $4, R3
	BGE  dot4

tail:
	TAIL(one, prox) // the low bits of R3 − 4 are those of R3

one:
	TBZ $0, R3, prox
	SINGLE(F0)

prox:
	FOLD_SUMS                 // F0: Σ values·r[rows]
	FMULD  F9, F8, F11
	OF(Epoch_Mean, F1)
	FMADDD F1, F0, F11, F11   // c
	OF(Epoch_Coef, F12)
	FMULD  F12, F10, F15
	FSUBD  F15, F11, F15
	MOVD   Epoch_Grad(R8), R9
	FMOVD  F15, (R9)(R10<<3)
	OF(Epoch_Square, F13)
	FMADDD F12, F11, F13, F14 // z = square·β + c
	OF(Epoch_Threshold, F15)
	FCMPD  F15, F14
	BGT    positive           // z > t; not so if either is NaN
	FNEGD  F15, F1
	FCMPD  F14, F1
	BGT    negative           // −t > z
	FMOVD  ZR, F14
	B      divide

positive:
	FSUBD F15, F14, F14
	B     divide

negative:
	FADDD F15, F14, F14

divide:
	FADDD F10, F13, F13
	FDIVD F13, F14, F14 // b
	FCMPD F12, F14
	BEQ   next          // not so if either is NaN

	MOVD   Epoch_Coef(R8), R9
	FMOVD  F14, (R9)(R10<<3)
	FSUBD  F12, F14, F14      // d
	OF(Epoch_Mean, F1)
	FMADDD F1, F8, F14, F8    // offset
	FNEGD  F14, F0            // −d
	ADD    R13, R12
	ENTRIES
	SUBS   $2, R3
	BLT    updatetail

update2:
	UPDATE
	SUBS $2, R3
	BGE  update2

updatetail:
	TBZ    $0, R3, next
	UPDATE_LAST

next:
	ADD $1, R10
	CMP R11, R10
	BLT column

done:
	FMOVD F8, Epoch_Offset(R8)
	MOVD  R12, updated+24(FP)
	RET
