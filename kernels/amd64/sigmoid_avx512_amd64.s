//go:build !purego

// Sigmoid: dst_i = 1/(1 + e^−x_i), with the bits of kernels.Sigmoid.
//
// 1/(1+f) or f/(1+f) with f = e^−|x|, and one step of refinement. Eight
// elements per iteration. Z8 keeps x.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx512_amd64.h"

// func SigmoidAVX512(dst, x []float64)
TEXT ·SigmoidAVX512(SB), 0, $128-48
	ARGUMENTS
	LOOP_HEAD
	VMOVUPD.Z    (SI), K1, Z8
	VPORQ.BCST   SIGN, Z8, Z0   // −|x|
	EXP                         // f
	VBROADCASTSD ONE, Z6
	VPMOVQ2M     Z8, K2
	VBLENDMPD    Z0, Z6, K2, Z1 // numerator: f where x < 0, else 1
	VADDPD       Z0, Z6, Z2     // sum = 1 + f
	VSUBPD       Z2, Z6, Z3
	VADDPD       Z0, Z3, Z3     // rest = (1 − sum) + f
	VDIVPD       Z2, Z6, Z4     // inverse
	VMULPD       Z4, Z1, Z0     // s
	VFNMADD231PD Z2, Z0, Z1     // numerator − s·sum
	VFNMADD231PD Z3, Z0, Z1     // … − s·rest
	VFMADD231PD  Z4, Z1, Z0
	VMOVUPD      Z0, K1, (DI)
	LOOP_END
