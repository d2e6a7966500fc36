//go:build !purego

// dst_i = ln(1 + e^x_i), with the bits of kernels.Log1pExp.
//
// max(x, 0) + ln(1+f) with f = e^−|x|; ln(1+f) = f − s·(f − z·P(z)), where
// s = f/(2+f), z = s². Eight elements per iteration.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx512_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left

// LOG1PEXP turns x in Z8 into ln(1 + e^x) in Z0. Clobbers Z1..Z10.
#define LOG1PEXP \
	VPORQ.BCST       SIGN, Z8, Z0    \ // −|x|
	EXP                              \ // f
	VADDPD.BCST      TWO, Z0, Z1     \
	VDIVPD           Z1, Z0, Z1      \ // s = f/(2 + f)
	VMULPD           Z1, Z1, Z2      \ // z
	VMULPD           Z2, Z2, Z9      \ // z2
	VMULPD           Z9, Z9, Z10     \ // z4
	VBROADCASTSD     LOG1P1, Z3      \
	VFMADD213PD.BCST LOG1P0, Z2, Z3  \ // p01
	VBROADCASTSD     LOG1P3, Z4      \
	VFMADD213PD.BCST LOG1P2, Z2, Z4  \ // p23
	VBROADCASTSD     LOG1P5, Z5      \
	VFMADD213PD.BCST LOG1P4, Z2, Z5  \ // p45
	VBROADCASTSD     LOG1P7, Z6      \
	VFMADD213PD.BCST LOG1P6, Z2, Z6  \ // p67
	VBROADCASTSD     LOG1P9, Z7      \
	VFMADD213PD.BCST LOG1P8, Z2, Z7  \ // p89
	VFMADD231PD      Z4, Z9, Z3      \ // p0
	VFMADD231PD      Z6, Z9, Z5      \ // p4
	VFMADD231PD.BCST LOG1P10, Z9, Z7 \ // p8
	VFMADD231PD      Z7, Z10, Z5     \
	VFMADD231PD      Z5, Z10, Z3     \ // p
	VMOVAPD          Z0, Z4          \
	VFNMADD231PD     Z3, Z2, Z4      \ // f − z·P(z)
	VFNMADD231PD     Z4, Z1, Z0      \ // f − s·(f − z·P(z))
	VPXORQ           Z5, Z5, Z5      \
	VMAXPD           Z8, Z5, Z8      \ // max(x, 0), or NaN
	VADDPD           Z8, Z0, Z0

// func Log1pExpAVX512(dst, x []float64)
TEXT ·Log1pExpAVX512(SB), 0, $128-48
	MOVQ    dst_base+0(FP), DI
	MOVQ    dst_len+8(FP), AX
	MOVQ    x_base+24(FP), SI
	MOVQ    x_len+32(FP), CX
	CMPQ    AX, CX
	CMOVQLT AX, CX             // the shorter length
	SUBQ    $8, CX
	JLT     tail

loop8:
	VMOVUPD (SI), Z8
	LOG1PEXP
	VMOVUPD Z0, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JGE     loop8

tail:
	ADDQ      $8, CX
	JZ        done
	MASK
	VMOVUPD.Z (SI), K1, Z8
	LOG1PEXP
	VMOVUPD   Z0, K1, (DI)

done:
	VZEROUPPER
	RET
