//go:build !purego

// An epoch of cyclic coordinate descent on a quadratic, with the proximal step in
// between: for each position
//
//	c    = C[slot]
//	grad = c − ridge·β
//	b    = ST(square·β + c, threshold)·inverse
//
// and where b ≠ β: C ← C + (β − b)·G[slot], β ← b. See kernels.GramEpoch.
//
// Each step waits for the one before, which is most of the time. So the element of C
// for the next step is updated by itself, ahead of the rest of the row.

#include "textflag.h"
#include "go_asm.h"
#include "prox_avx2_amd64.h"

// Registers, beside those of the proximal step
//   R11  end                    R12  moved                DX  the most moves
//   DI   C                      R13  its length           BX  slot
//   SI   row of G, next         AX   C, next              CX  elements left
//   Y0   β − b

#define UPDATE(offset) \
	VMOVUPD     offset(AX), Y1     \
	VFMADD231PD offset(SI), Y0, Y1 \
	VMOVUPD     Y1, offset(AX)

// func GramEpochAVX2(e *GramEpoch, from, to, moves int) (next, moved int)
TEXT ·GramEpochAVX2(SB), 0, $128-48
	MOVQ e+0(FP), R8
	MOVQ from+8(FP), R10
	MOVQ to+16(FP), R11
	MOVQ moves+24(FP), DX
	MOVQ GramEpoch_Correlation(R8), DI
	MOVQ GramEpoch_Correlation+8(R8), R13
	SIGN_BIT
	XORQ R12, R12
	CMPQ R10, R11
	JGE  done

	MOVQ   GramEpoch_Slot(R8), R9
	MOVL   (R9)(R10*4), BX
	VMOVSD (DI)(BX*8), X3

position:
	PROX(GramEpoch_Coef, GramEpoch_Square, GramEpoch_Inverse, GramEpoch_Threshold, GramEpoch_Grad, GramEpoch_Ridge)
	VUCOMISD X4, X6
	JNE      update
	JPC      stays  // equal, and neither is NaN

update:
	MOVQ         GramEpoch_Coef(R8), R9
	VMOVSD       X6, (R9)(R10*8)
	VSUBSD       X6, X4, X0
	VBROADCASTSD X0, Y0
	INCQ         R12
	IMULQ        GramEpoch_Stride(R8), BX
	MOVQ         GramEpoch_Gram(R8), SI
	LEAQ         (SI)(BX*8), SI
	LEAQ         1(R10), CX
	CMPQ         CX, R11
	JGE          row
	MOVQ         GramEpoch_Slot(R8), R9
	MOVL         (R9)(CX*4), BX
	VMOVSD       (DI)(BX*8), X3
	VFMADD231SD  (SI)(BX*8), X0, X3

row:
	MOVQ DI, AX
	MOVQ R13, CX
	SUBQ $16, CX
	JLT  tail4

loop16:
	UPDATE(0)
	UPDATE(32)
	UPDATE(64)
	UPDATE(96)
	ADDQ $128, AX
	ADDQ $128, SI
	SUBQ $16, CX
	JGE  loop16

tail4:
	ADDQ $12, CX // elements left, less 4
	JLT  tail1

loop4:
	UPDATE(0)
	ADDQ $32, AX
	ADDQ $32, SI
	SUBQ $4, CX
	JGE  loop4

tail1:
	ADDQ $4, CX
	JZ   next

loop1:
	VMOVSD      (AX), X1
	VFMADD231SD (SI), X0, X1
	VMOVSD      X1, (AX)
	ADDQ        $8, AX
	ADDQ        $8, SI
	DECQ        CX
	JNZ         loop1

next:
	INCQ R10
	CMPQ R12, DX
	JGE  done
	CMPQ R10, R11
	JLT  position
	JMP  done

stays:
	INCQ   R10
	CMPQ   R10, R11
	JGE    done
	MOVQ   GramEpoch_Slot(R8), R9
	MOVL   (R9)(R10*4), BX
	VMOVSD (DI)(BX*8), X3
	JMP    position

done:
	MOVQ R10, next+32(FP)
	MOVQ R12, moved+40(FP)
	VZEROUPPER
	RET
