//go:build !purego

// Exponential: dst_i = e^x_i, with the bits of kernels.Exp.
//
// x = k·ln 2 + r with |r| ≤ ln 2 / 2, e^x = 2^k·e^r. Eight elements per iteration;
// iterations do not depend on one another, so that the processor overlaps the
// long chains of several.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx512_amd64.h"

// func ExpAVX512(dst, x []float64)
TEXT ·ExpAVX512(SB), 0, $128-48
	ARGUMENTS
	LOOP_HEAD
	VMOVUPD.Z (SI), K1, Z0
	EXP
	VMOVUPD   Z0, K1, (DI)
	LOOP_END
