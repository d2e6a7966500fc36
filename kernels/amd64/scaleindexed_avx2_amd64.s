//go:build !purego

// A sparse column under weights: out[k] ← u = values[k]·scale[rows[k]], Σ scale[rows[k]]·u and Σ u².
//
// 4 entries per iteration, in pairs; each sum has the partial sums of DotIndexedAVX2. Only X registers are used. An
// entry is written after it is read, so that out may be values.

#include "textflag.h"
#include "indexed_avx2_amd64.h"

// Registers
//   SI  values, next entry      DX  rows, next entry      DI  scale, which is y to the header
//   R8  out, next entry         CX  entries left          AX, BX  two row numbers
//   X0, X1  partial sums of scale·u   X4, X5  those of u²

// Two entries into pairs of partial sums. Clobbers AX, BX, X2, X3.
#define SCALE_PAIR(values, rows, sum, square) \
	ELEMENTS(rows)                 \
	VMULPD      values(SI), X2, X3 \
	VMOVUPD     X3, values(R8)     \
	VFMADD231PD X3, X2, sum        \
	VFMADD231PD X3, X3, square

// One entry into the lower partial sums of pairs. Clobbers AX, X2, X3.
#define SCALE_SINGLE(values, rows, sum, square) \
	MOVL        rows(DX), AX       \
	VMOVSD      (DI)(AX*8), X2     \
	VMULSD      values(SI), X2, X3 \
	VMOVSD      X3, values(R8)     \
	VFMADD231SD X3, X2, sum        \
	VFMADD231SD X3, X3, square

// func ScaleIndexedAVX2(values []float64, rows []int32, scale, out []float64) (sum, square float64)
TEXT ·ScaleIndexedAVX2(SB), 0, $128-112
	MOVQ   values_base+0(FP), SI
	MOVQ   values_len+8(FP), CX
	MOVQ   rows_base+24(FP), DX
	MOVQ   scale_base+48(FP), DI
	MOVQ   out_base+72(FP), R8
	VXORPD X0, X0, X0
	VXORPD X1, X1, X1
	VXORPD X4, X4, X4
	VXORPD X5, X5, X5
	SUBQ   $4, CX
	JLT    tail

loop4:
	SCALE_PAIR(0, 0, X0, X4)
	SCALE_PAIR(16, 8, X1, X5)
	ADDQ $32, SI
	ADDQ $32, R8
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  loop4

tail:
	TESTQ $2, CX // the low bits of CX − 4 are those of CX
	JZ    tail1
	SCALE_PAIR(0, 0, X0, X4)
	TESTQ $1, CX
	JZ    fold
	SCALE_SINGLE(16, 8, X1, X5)
	JMP   fold

tail1:
	TESTQ $1, CX
	JZ    fold
	SCALE_SINGLE(0, 0, X0, X4)

fold:
	// The fixed tree of both: (s0+s2) + (s1+s3), then + 0.
	VADDPD    X1, X0, X0
	VADDPD    X5, X4, X4
	VUNPCKLPD X4, X0, X1
	VUNPCKHPD X4, X0, X0
	VADDPD    X0, X1, X0
	VXORPD    X1, X1, X1
	VADDPD    X1, X0, X0
	VMOVSD    X0, sum+96(FP)
	VMOVHPD   X0, square+104(FP)
	RET
