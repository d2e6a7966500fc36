//go:build !purego

// Scaled update: y_i ← fma(a, x_i, y_i).
//
// 8 elements per iteration; elements do not depend on one another, the unroll
// only spreads the cost of the loop.

#include "textflag.h"

// Registers
//   R0  x, next element         R2  elements left
//   R1  y, next element         V30 a in both lanes
//   V0..V3  y                   V4..V7  x

// func AxpyNEON(a float64, x, y []float64)
TEXT ·AxpyNEON(SB), 0, $136-56
	FMOVD a+0(FP), F30
	VDUP  V30.D[0], V30.D2
	MOVD  x_base+8(FP), R0
	MOVD  x_len+16(FP), R2
	MOVD  y_base+32(FP), R1
	SUBS  $8, R2
	BLT   tail

loop8:
	VLD1.P 64(R0), [V4.D2, V5.D2, V6.D2, V7.D2]
	VLD1   (R1), [V0.D2, V1.D2, V2.D2, V3.D2]
	VFMLA  V30.D2, V4.D2, V0.D2
	VFMLA  V30.D2, V5.D2, V1.D2
	VFMLA  V30.D2, V6.D2, V2.D2
	VFMLA  V30.D2, V7.D2, V3.D2
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R1)
	SUBS   $8, R2
	BGE    loop8

tail:
	ADDS $8, R2
	BEQ  done

loop1:
	FMOVD.P 8(R0), F4
	FMOVD   (R1), F0
	FMADDD  F30, F0, F4, F0 // F0 ← F0 + F4·F30
	FMOVD.P F0, 8(R1)
	SUBS    $1, R2
	BNE     loop1

done:
	RET
