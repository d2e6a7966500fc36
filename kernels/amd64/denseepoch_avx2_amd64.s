//go:build !purego

// An epoch of cyclic coordinate descent over packed dense columns, with the
// proximal step in between: for each column
//
//	c    = Σ x·r
//	grad = c − ridge·β
//	b    = ST(square·β + c, threshold)·inverse
//
// and where b ≠ β: r ← r + (β − b)·x, β ← b. See kernels.DenseEpoch; the dot
// product as in DotAVX2, with the same bits.
//
// An update is put off until the dot product of the next column, and both are done in
// one pass over r. Tails are stored under a mask, which is slow on some CPUs, but
// there are at most eight such stores for each column.

#include "textflag.h"
#include "go_asm.h"
#include "dense_avx2_amd64.h"
#include "prox_avx2_amd64.h"

// Registers, beside those of the proximal step
//   R11  end                    R12  moved
//   DI   r                      R13  its length           CX  blocks, elements left
//   SI   x, next                AX   r, next
//   DX   the column whose update waits, 0 if none         BX  it, next
//   Y0..Y7  partial sums        Y8, Y9  operands          Y10  β − b of the update
//   Y12..Y15  masks of the tail

#define BLOCK(offset, sum) \
	VMOVUPD     offset(AX), Y8      \
	VFMADD231PD offset(SI), Y8, sum

#define BOTH(offset, sum) \
	VMOVUPD     offset(AX), Y8      \
	VFMADD231PD offset(BX), Y10, Y8 \
	VMOVUPD     Y8, offset(AX)      \
	VFMADD231PD offset(SI), Y8, sum

#define UPDATE(offset) \
	VMOVUPD     offset(AX), Y8      \
	VFMADD231PD offset(BX), Y10, Y8 \
	VMOVUPD     Y8, offset(AX)

#define TAIL(offset, sum) \
	MASK_NEXT                       \
	VMASKMOVPD  offset(AX), Y13, Y8 \
	VMASKMOVPD  offset(SI), Y13, Y9 \
	VFMADD231PD Y9, Y8, sum

#define TAIL_BOTH(offset, sum) \
	MASK_NEXT                       \
	VMASKMOVPD  offset(AX), Y13, Y8 \
	VMASKMOVPD  offset(BX), Y13, Y9 \
	VFMADD231PD Y9, Y10, Y8         \
	VMASKMOVPD  Y8, Y13, offset(AX) \
	VMASKMOVPD  offset(SI), Y13, Y9 \
	VFMADD231PD Y9, Y8, sum

#define TAIL_UPDATE(offset) \
	MASK_NEXT                       \
	VMASKMOVPD  offset(AX), Y13, Y8 \
	VMASKMOVPD  offset(BX), Y13, Y9 \
	VFMADD231PD Y9, Y10, Y8         \
	VMASKMOVPD  Y8, Y13, offset(AX)

// func DenseEpochAVX2(e *DenseEpoch, from, to int) (moved int)
TEXT ·DenseEpochAVX2(SB), 0, $128-32
	MOVQ e+0(FP), R8
	MOVQ from+8(FP), R10
	MOVQ to+16(FP), R11
	MOVQ DenseEpoch_Residual(R8), DI
	MOVQ DenseEpoch_Residual+8(R8), R13
	SIGN_BIT
	XORQ R12, R12
	XORQ DX, DX
	CMPQ R10, R11
	JGE  done

column:
	MOVQ  DenseEpoch_From(R8), R9
	MOVQ  (R9)(R10*8), AX
	MOVQ  DenseEpoch_Values(R8), SI
	LEAQ  (SI)(AX*8), SI
	MOVQ  DI, AX
	MOVQ  R13, CX
	SHRQ  $5, CX
	CLEAR_SUMS
	MOVQ  DX, BX
	TESTQ DX, DX
	JNZ   both
	TESTQ CX, CX
	JZ    tail

loop32:
	BLOCK(0, Y0)
	BLOCK(32, Y1)
	BLOCK(64, Y2)
	BLOCK(96, Y3)
	BLOCK(128, Y4)
	BLOCK(160, Y5)
	BLOCK(192, Y6)
	BLOCK(224, Y7)
	ADDQ $256, SI
	ADDQ $256, AX
	DECQ CX
	JNZ  loop32

tail:
	MOVQ R13, CX
	ANDQ $31, CX
	JZ   prox
	MASK_START
	TAIL(0, Y0)
	TAIL(32, Y1)
	TAIL(64, Y2)
	TAIL(96, Y3)
	CMPQ CX, $16
	JLE  prox
	TAIL(128, Y4)
	TAIL(160, Y5)
	TAIL(192, Y6)
	TAIL(224, Y7)
	JMP  prox

both:
	XORQ  DX, DX
	TESTQ CX, CX
	JZ    tailboth

both32:
	BOTH(0, Y0)
	BOTH(32, Y1)
	BOTH(64, Y2)
	BOTH(96, Y3)
	BOTH(128, Y4)
	BOTH(160, Y5)
	BOTH(192, Y6)
	BOTH(224, Y7)
	ADDQ $256, SI
	ADDQ $256, AX
	ADDQ $256, BX
	DECQ CX
	JNZ  both32

tailboth:
	MOVQ R13, CX
	ANDQ $31, CX
	JZ   prox
	MASK_START
	TAIL_BOTH(0, Y0)
	TAIL_BOTH(32, Y1)
	TAIL_BOTH(64, Y2)
	TAIL_BOTH(96, Y3)
	CMPQ CX, $16
	JLE  prox
	TAIL_BOTH(128, Y4)
	TAIL_BOTH(160, Y5)
	TAIL_BOTH(192, Y6)
	TAIL_BOTH(224, Y7)

prox:
	FOLD_SUMS
	VXORPD   X1, X1, X1
	VADDSD   X1, X0, X3
	PROX(DenseEpoch_Coef, DenseEpoch_Square, DenseEpoch_Inverse, DenseEpoch_Threshold, DenseEpoch_Grad, DenseEpoch_Ridge)
	VUCOMISD X4, X6
	JNE      update
	JPC      next       // equal, and neither is NaN

update:
	MOVQ         DenseEpoch_Coef(R8), R9
	VMOVSD       X6, (R9)(R10*8)
	VSUBSD       X6, X4, X10
	VBROADCASTSD X10, Y10
	INCQ         R12
	MOVQ         DenseEpoch_From(R8), R9
	MOVQ         (R9)(R10*8), AX
	MOVQ         DenseEpoch_Values(R8), DX
	LEAQ         (DX)(AX*8), DX

next:
	INCQ  R10
	CMPQ  R10, R11
	JLT   column
	TESTQ DX, DX
	JZ    done

	// The last update.
	MOVQ DX, BX
	MOVQ DI, AX
	MOVQ R13, CX
	SHRQ $5, CX
	JZ   lasttail

last32:
	UPDATE(0)
	UPDATE(32)
	UPDATE(64)
	UPDATE(96)
	UPDATE(128)
	UPDATE(160)
	UPDATE(192)
	UPDATE(224)
	ADDQ $256, AX
	ADDQ $256, BX
	DECQ CX
	JNZ  last32

lasttail:
	MOVQ R13, CX
	ANDQ $31, CX
	JZ   done
	MASK_START
	TAIL_UPDATE(0)
	TAIL_UPDATE(32)
	TAIL_UPDATE(64)
	TAIL_UPDATE(96)
	CMPQ CX, $16
	JLE  done
	TAIL_UPDATE(128)
	TAIL_UPDATE(160)
	TAIL_UPDATE(192)
	TAIL_UPDATE(224)

done:
	MOVQ R12, moved+24(FP)
	VZEROUPPER
	RET
