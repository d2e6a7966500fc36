//go:build !purego

// An epoch of cyclic coordinate descent on a quadratic, with the proximal step in
// between: for each position
//
//	c    = C[slot]
//	grad = c − ridge·β
//	b    = ST(square·β + c, threshold) / (square + ridge)
//
// and where b ≠ β: C ← C + (β − b)·G[slot], β ← b. See kernels.GramEpoch.

#include "textflag.h"
#include "go_asm.h"
#include "dense_avx512_amd64.h"
#include "prox_avx2_amd64.h"

// Registers, beside those of the proximal step
//   R11  end                    R12  moved                DX  the most moves
//   DI   C                      R13  blocks of 32 of C    BX  slot
//   SI   row of G, next         AX   C, next              CX  blocks left
//   Z0   β − b                  K1..K4  masks of the tail of C

#define UPDATE(offset) \
	VMOVUPD     offset(AX), Z1     \
	VFMADD231PD offset(SI), Z0, Z1 \
	VMOVUPD     Z1, offset(AX)

#define TAIL(offset, mask) \
	VMOVUPD.Z   offset(AX), mask, Z1     \
	VFMADD231PD offset(SI), Z0, mask, Z1 \
	VMOVUPD     Z1, mask, offset(AX)

// func GramEpochAVX512(e *GramEpoch, from, to, moves int) (next, moved int)
TEXT ·GramEpochAVX512(SB), 0, $128-48
	MOVQ e+0(FP), R8
	MOVQ from+8(FP), R10
	MOVQ to+16(FP), R11
	MOVQ moves+24(FP), DX
	MOVQ GramEpoch_Correlation(R8), DI
	MOVQ GramEpoch_Correlation+8(R8), R13
	MOVQ R13, CX
	ANDQ $31, CX
	MASKS
	SHRQ $5, R13
	SIGN_BIT
	XORQ R12, R12
	CMPQ R10, R11
	JGE  done

position:
	MOVQ     GramEpoch_Slot(R8), R9
	MOVL     (R9)(R10*4), BX
	VMOVSD   (DI)(BX*8), X3
	PROX(GramEpoch_Coef, GramEpoch_Square, GramEpoch_Threshold, GramEpoch_Grad, GramEpoch_Ridge)
	VUCOMISD X4, X6
	JNE      update
	JPC      next                   // equal, and neither is NaN

update:
	MOVQ         GramEpoch_Coef(R8), R9
	VMOVSD       X6, (R9)(R10*8)
	VSUBSD       X6, X4, X0
	VBROADCASTSD X0, Z0
	INCQ         R12
	IMULQ        GramEpoch_Stride(R8), BX
	MOVQ         GramEpoch_Gram(R8), SI
	LEAQ         (SI)(BX*8), SI
	MOVQ         DI, AX
	MOVQ         R13, CX
	TESTQ        CX, CX
	JZ           tail

loop32:
	UPDATE(0)
	UPDATE(64)
	UPDATE(128)
	UPDATE(192)
	ADDQ $256, AX
	ADDQ $256, SI
	DECQ CX
	JNZ  loop32

tail:
	TAIL(0, K1)
	TAIL(64, K2)
	TAIL(128, K3)
	TAIL(192, K4)

next:
	INCQ R10
	CMPQ R12, DX
	JGE  done
	CMPQ R10, R11
	JLT  position

done:
	MOVQ R10, next+32(FP)
	MOVQ R12, moved+40(FP)
	VZEROUPPER
	RET
