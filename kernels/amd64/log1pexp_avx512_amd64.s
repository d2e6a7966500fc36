//go:build !purego

// dst_i = ln(1 + e^x_i), with the bits of kernels.Log1pExp.
//
// max(x, 0) + ln(1+f) with f = e^−|x|; ln(1+f) = f − s·(f − z·P(z)), where
// s = f/(2+f), z = s². Eight elements per iteration. Z8 keeps x.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx512_amd64.h"

// func Log1pExpAVX512(dst, x []float64)
TEXT ·Log1pExpAVX512(SB), 0, $128-48
	ARGUMENTS
	LOOP_HEAD
	VMOVUPD.Z (SI), K1, Z8
	VPORQ.BCST        SIGN, Z8, Z0 // −|x|
	EXP                               // f
	VADDPD.BCST       TWO, Z0, Z1
	VDIVPD            Z1, Z0, Z1      // s = f/(2 + f)
	VMULPD            Z1, Z1, Z2      // z
	VBROADCASTSD      LOG1P10, Z3
	VFMADD213PD.BCST  LOG1P9, Z2, Z3
	VFMADD213PD.BCST  LOG1P8, Z2, Z3
	VFMADD213PD.BCST  LOG1P7, Z2, Z3
	VFMADD213PD.BCST  LOG1P6, Z2, Z3
	VFMADD213PD.BCST  LOG1P5, Z2, Z3
	VFMADD213PD.BCST  LOG1P4, Z2, Z3
	VFMADD213PD.BCST  LOG1P3, Z2, Z3
	VFMADD213PD.BCST  LOG1P2, Z2, Z3
	VFMADD213PD.BCST  LOG1P1, Z2, Z3
	VFMADD213PD.BCST  LOG1P0, Z2, Z3
	VMOVAPD           Z0, Z4
	VFNMADD231PD      Z3, Z2, Z4      // f − z·P(z)
	VFNMADD231PD      Z4, Z1, Z0      // f − s·(f − z·P(z))
	VPXORQ            Z5, Z5, Z5
	VMAXPD            Z8, Z5, Z8      // max(x, 0), or NaN
	VADDPD            Z8, Z0, Z0
	VMOVUPD Z0, K1, (DI)
	LOOP_END
