//go:build !purego

// Exponential: dst_i = e^x_i, with the bits of kernels.Exp.
//
// x = k·ln 2 + r with |r| ≤ ln 2 / 2, e^x = 2^k·e^r. Four elements per iteration;
// iterations do not depend on one another, so that the processor overlaps the
// long chains of several.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx2_amd64.h"

// func ExpAVX2(dst, x []float64)
TEXT ·ExpAVX2(SB), 0, $128-48
	ARGUMENTS
	LOOP_HEAD
	VMOVUPD (SI), Y0
	EXP
	VMOVUPD Y0, (DI)
	LOOP_END
