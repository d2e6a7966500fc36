//go:build !purego

// An epoch of cyclic coordinate descent over packed dense columns, with the
// proximal step in between: for each column
//
//	c    = Σ x·r
//	grad = c − ridge·β
//	b    = ST(square·β + c, threshold)·inverse
//
// and where b ≠ β: r ← r + (β − b)·x, β ← b. See kernels.DenseEpoch; the dot
// product as in DotAVX512, with the same bits.
//
// An update is put off until the dot product of the next column, and both are done in
// one pass over r.

#include "textflag.h"
#include "go_asm.h"
#include "dense_avx512_amd64.h"
#include "prox_avx2_amd64.h"

// Registers, beside those of the proximal step
//   R11  end                    R12  moved
//   DI   r                      R13  blocks of 32         CX  blocks left
//   SI   x, next                AX   r, next
//   DX   the column whose update waits, 0 if none         BX  it, next
//   Z0..Z3  partial sums        Z8   of r                 Z16  β − b of the update
//   K1..K4  masks of the tail

#define BLOCK(offset, sum) \
	VMOVUPD     offset(AX), Z8      \
	VFMADD231PD offset(SI), Z8, sum

#define BOTH(offset, sum) \
	VMOVUPD     offset(AX), Z8      \
	VFMADD231PD offset(BX), Z16, Z8 \
	VMOVUPD     Z8, offset(AX)      \
	VFMADD231PD offset(SI), Z8, sum

#define UPDATE(offset) \
	VMOVUPD     offset(AX), Z8      \
	VFMADD231PD offset(BX), Z16, Z8 \
	VMOVUPD     Z8, offset(AX)

#define TAIL(offset, mask, sum) \
	VMOVUPD.Z   offset(AX), mask, Z8      \
	VFMADD231PD offset(SI), Z8, mask, sum

#define TAIL_BOTH(offset, mask, sum) \
	VMOVUPD.Z   offset(AX), mask, Z8      \
	VFMADD231PD offset(BX), Z16, mask, Z8 \
	VMOVUPD     Z8, mask, offset(AX)      \
	VFMADD231PD offset(SI), Z8, mask, sum

#define TAIL_UPDATE(offset, mask) \
	VMOVUPD.Z   offset(AX), mask, Z8      \
	VFMADD231PD offset(BX), Z16, mask, Z8 \
	VMOVUPD     Z8, mask, offset(AX)

// func DenseEpochAVX512(e *DenseEpoch, from, to int) (moved int)
TEXT ·DenseEpochAVX512(SB), 0, $128-32
	MOVQ e+0(FP), R8
	MOVQ from+8(FP), R10
	MOVQ to+16(FP), R11
	MOVQ DenseEpoch_Residual(R8), DI
	MOVQ DenseEpoch_Residual+8(R8), R13
	MOVQ R13, CX
	ANDQ $31, CX
	MASKS
	SHRQ $5, R13
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
	CLEAR_SUMS
	MOVQ  DX, BX
	TESTQ DX, DX
	JNZ   both
	TESTQ CX, CX
	JZ    tail

loop32:
	BLOCK(0, Z0)
	BLOCK(64, Z1)
	BLOCK(128, Z2)
	BLOCK(192, Z3)
	ADDQ $256, SI
	ADDQ $256, AX
	DECQ CX
	JNZ  loop32

tail:
	TAIL(0, K1, Z0)
	TAIL(64, K2, Z1)
	TAIL(128, K3, Z2)
	TAIL(192, K4, Z3)
	JMP prox

both:
	TESTQ CX, CX
	JZ    tailboth

both32:
	BOTH(0, Z0)
	BOTH(64, Z1)
	BOTH(128, Z2)
	BOTH(192, Z3)
	ADDQ $256, SI
	ADDQ $256, AX
	ADDQ $256, BX
	DECQ CX
	JNZ  both32

tailboth:
	TAIL_BOTH(0, K1, Z0)
	TAIL_BOTH(64, K2, Z1)
	TAIL_BOTH(128, K3, Z2)
	TAIL_BOTH(192, K4, Z3)
	XORQ DX, DX

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
	VSUBSD       X6, X4, X0
	VBROADCASTSD X0, Z16
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
	MOVQ  DX, BX
	MOVQ  DI, AX
	MOVQ  R13, CX
	TESTQ CX, CX
	JZ    lasttail

last32:
	UPDATE(0)
	UPDATE(64)
	UPDATE(128)
	UPDATE(192)
	ADDQ $256, AX
	ADDQ $256, BX
	DECQ CX
	JNZ  last32

lasttail:
	TAIL_UPDATE(0, K1)
	TAIL_UPDATE(64, K2)
	TAIL_UPDATE(128, K3)
	TAIL_UPDATE(192, K4)

done:
	MOVQ R12, moved+24(FP)
	VZEROUPPER
	RET
