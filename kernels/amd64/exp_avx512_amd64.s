//go:build !purego

// Exponential: dst_i = e^x_i, with the bits of kernels.Exp.
//
// x = k·ln 2 + r with |r| ≤ ln 2 / 2, e^x = 2^k·e^r. Eight elements per iteration;
// iterations do not depend on one another, so that the processor overlaps the
// long chains of several.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx512_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left

// func ExpAVX512(dst, x []float64)
TEXT ·ExpAVX512(SB), 0, $128-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	SUBQ $8, CX
	JLT  tail

loop8:
	VMOVUPD (SI), Z0
	EXP
	VMOVUPD Z0, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JGE     loop8

tail:
	ADDQ      $8, CX
	JZ        done
	MASK
	VMOVUPD.Z (SI), K1, Z0
	EXP
	VMOVUPD   Z0, K1, (DI)

done:
	VZEROUPPER
	RET
