//go:build !purego

// Sigmoid: dst_i = 1/(1 + e^−x_i), with the bits of kernels.Sigmoid.
//
// 1/(1+f) or f/(1+f) with f = e^−|x|, and one step of refinement. Four
// elements per iteration. Y8 keeps x.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx2_amd64.h"

// func SigmoidAVX2(dst, x []float64)
TEXT ·SigmoidAVX2(SB), 0, $128-48
	ARGUMENTS
	LOOP_HEAD
	VMOVUPD      (SI), Y8
	VBROADCASTSD SIGN, Y15
	VORPD        Y15, Y8, Y0     // −|x|
	EXP                          // f
	VBROADCASTSD ONE, Y15
	VBLENDVPD    Y8, Y0, Y15, Y1 // numerator: f where x < 0, else 1
	VADDPD       Y0, Y15, Y2     // sum = 1 + f
	VSUBPD       Y2, Y15, Y3
	VADDPD       Y0, Y3, Y3      // rest = (1 − sum) + f
	VDIVPD       Y2, Y15, Y4     // inverse
	VMULPD       Y4, Y1, Y0      // s
	VFNMADD231PD Y2, Y0, Y1      // numerator − s·sum
	VFNMADD231PD Y3, Y0, Y1      // … − s·rest
	VFMADD231PD  Y4, Y1, Y0
	VMOVUPD      Y0, (DI)
	LOOP_END
