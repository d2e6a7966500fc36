//go:build !purego

// An epoch of cyclic coordinate descent over packed sparse columns, with the
// proximal step in between: for each column
//
//	c    = Σ values·r[rows] + (offset·total)·mean
//	grad = c − ridge·β
//	b    = ST(square·β + c, threshold) / (square + ridge)
//
// and where b ≠ β: d = b − β, r[rows] ← r[rows] − d·values, offset ← offset +
// d·mean, β ← b. See kernels.Epoch; dot and update as in DotIndexedAVX2 and
// AxpyIndexedAVX2, with the same bits.
//
// The numbers of a column are read from the slices of the epoch where they are
// needed: they are in the first-level cache, and there are few registers.

#include "textflag.h"
#include "go_asm.h"
#include "indexed_avx2_amd64.h"
#include "update_avx2_amd64.h"

// Registers, beside those of the shared macros (DI is r)
//   R8   the epoch              R10  column k             R11  its end
//   R12  entries updated        R13  entries of the column
//   R9   a slice of the epoch
//   X8   offset    X9  total    X10  ridge    X11  the sign bit
//   X3   c         X4  β        X5   square   X6   z, then b     X7  scratch

// ENTRIES points SI and DX at the column's entries and leaves their number in
// CX. Clobbers AX, R9.
#define ENTRIES \
	MOVQ Epoch_From(R8), R9   \
	MOVQ (R9)(R10*8), AX      \
	MOVQ Epoch_Values(R8), SI \
	LEAQ (SI)(AX*8), SI       \
	MOVQ Epoch_Rows(R8), DX   \
	LEAQ (DX)(AX*4), DX       \
	MOVQ Epoch_To(R8), R9     \
	MOVQ (R9)(R10*8), CX      \
	SUBQ AX, CX

// OF loads the element of slice for this column.
#define OF(slice, x) \
	MOVQ   slice(R8), R9  \
	VMOVSD (R9)(R10*8), x

// func EpochAVX2(e *Epoch, from, to int) (updated int)
TEXT ·EpochAVX2(SB), 0, $128-32
	MOVQ     e+0(FP), R8
	MOVQ     from+8(FP), R10
	MOVQ     to+16(FP), R11
	MOVQ     Epoch_Residual(R8), DI
	VMOVSD   Epoch_Offset(R8), X8
	VMOVSD   Epoch_Total(R8), X9
	VMOVSD   Epoch_Ridge(R8), X10
	VPCMPEQQ X11, X11, X11
	VPSLLQ   $63, X11, X11
	XORQ     R12, R12
	CMPQ     R10, R11
	JGE      done

column:
	ENTRIES
	MOVQ   CX, R13
	VXORPD X0, X0, X0
	VXORPD X1, X1, X1
	SUBQ   $4, CX
	JLT    tail

dot4:
	PAIR(0, 0, X0)
	PAIR(16, 8, X1)
	ADDQ $32, SI
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  dot4

tail:
	TESTQ $2, CX // the low bits of CX − 4 are those of CX
	JZ    tail1
	PAIR(0, 0, X0)
	TESTQ $1, CX
	JZ    prox
	SINGLE(16, 8, X1)
	JMP   prox

tail1:
	TESTQ $1, CX
	JZ    prox
	SINGLE(0, 0, X0)

prox:
	FOLD_SUMS                      // X0: Σ values·r[rows]
	VMULSD      X9, X8, X3
	OF(Epoch_Mean, X1)
	VFMADD213SD X0, X1, X3         // c
	OF(Epoch_Coef, X4)
	VMULSD      X4, X10, X7
	VSUBSD      X7, X3, X7
	MOVQ        Epoch_Grad(R8), R9
	VMOVSD      X7, (R9)(R10*8)
	OF(Epoch_Square, X5)
	VMOVAPD     X4, X6
	VFMADD213SD X3, X5, X6         // z = square·β + c
	OF(Epoch_Threshold, X7)
	VUCOMISD    X7, X6
	JA          positive           // z > t; not so if either is NaN
	VXORPD      X11, X7, X1
	VUCOMISD    X6, X1
	JA          negative           // −t > z
	VXORPD      X6, X6, X6
	JMP         divide

positive:
	VSUBSD X7, X6, X6
	JMP    divide

negative:
	VADDSD X7, X6, X6

divide:
	VADDSD   X10, X5, X5
	VDIVSD   X5, X6, X6  // b
	VUCOMISD X4, X6
	JNE      update
	JPC      next        // equal, and neither is NaN

update:
	MOVQ        Epoch_Coef(R8), R9
	VMOVSD      X6, (R9)(R10*8)
	VSUBSD      X4, X6, X6         // d
	OF(Epoch_Mean, X1)
	VFMADD231SD X1, X6, X8         // offset
	VXORPD      X11, X6, X0        // −d
	ADDQ        R13, R12
	ENTRIES
	SUBQ        $4, CX
	JLT         updatetail

update4:
	UPDATE(0, 0)
	UPDATE(16, 8)
	ADDQ $32, SI
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  update4

updatetail:
	TESTQ $2, CX
	JZ    update1
	UPDATE(0, 0)
	ADDQ  $16, SI
	ADDQ  $8, DX

update1:
	TESTQ $1, CX
	JZ    next
	UPDATE_LAST

next:
	INCQ R10
	CMPQ R10, R11
	JLT  column

done:
	VMOVSD X8, Epoch_Offset(R8)
	MOVQ   R12, updated+24(FP)
	RET
