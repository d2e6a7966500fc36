//go:build !purego

// Exponential: dst_i = e^x_i, with the bits of kernels.Exp.
//
// x = k·ln 2 + r with |r| ≤ ln 2 / 2, e^x = 2^k·e^r. Four elements per iteration;
// iterations do not depend on one another, so that the processor overlaps the
// long chains of several.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx2_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left

// func ExpAVX2(dst, x []float64)
TEXT ·ExpAVX2(SB), 0, $128-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	SUBQ $4, CX
	JLT  tail

loop4:
	VMOVUPD (SI), Y0
	EXP
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX
	JGE     loop4

tail:
	ADDQ       $4, CX
	JZ         done
	MASK
	VMASKMOVPD (SI), Y13, Y0
	EXP
	VMASKMOVPD Y0, Y13, (DI)

done:
	VZEROUPPER
	RET
