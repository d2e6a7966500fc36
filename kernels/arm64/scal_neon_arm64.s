//go:build !purego

// Scaling: x_i ← a·x_i.
//
// 8 elements per iteration. The product is fma(a, x_i, −0): adding −0 changes
// no number, and leaves the sign of a zero as it is.

#include "textflag.h"

// Registers
//   R0  x, next element         R2  elements left
//   V30 a in both lanes         V31 −0 in both lanes
//   V0..V3  products            V4..V7  x

// func ScalNEON(a float64, x []float64)
TEXT ·ScalNEON(SB), 0, $136-32
	FMOVD a+0(FP), F30
	VDUP  V30.D[0], V30.D2
	MOVD  $0x8000000000000000, R3
	VDUP  R3, V31.D2
	MOVD  x_base+8(FP), R0
	MOVD  x_len+16(FP), R2
	SUBS  $8, R2
	BLT   tail

loop8:
	VLD1   (R0), [V4.D2, V5.D2, V6.D2, V7.D2]
	VMOV   V31.B16, V0.B16
	VMOV   V31.B16, V1.B16
	VMOV   V31.B16, V2.B16
	VMOV   V31.B16, V3.B16
	VFMLA  V30.D2, V4.D2, V0.D2
	VFMLA  V30.D2, V5.D2, V1.D2
	VFMLA  V30.D2, V6.D2, V2.D2
	VFMLA  V30.D2, V7.D2, V3.D2
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R0)
	SUBS   $8, R2
	BGE    loop8

tail:
	ADDS $8, R2
	BEQ  done

loop1:
	FMOVD   (R0), F4
	FMULD   F30, F4, F4
	FMOVD.P F4, 8(R0)
	SUBS    $1, R2
	BNE     loop1

done:
	RET
