//go:build !purego

// dst_i = ln(1 + e^x_i), with the bits of kernels.Log1pExp.
//
// max(x, 0) + ln(1+f) with f = e^−|x|; ln(1+f) = f − s·(f − z·P(z)), where
// s = f/(2+f), z = s². Four elements per iteration.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx2_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left

// LOG1PEXP turns x in Y8 into ln(1 + e^x) in Y0. Clobbers Y1..Y10 and Y15.
#define LOG1PEXP \
	VBROADCASTSD SIGN, Y15     \
	VORPD        Y15, Y8, Y0   \ // −|x|
	EXP                        \ // f
	VBROADCASTSD TWO, Y15      \
	VADDPD       Y0, Y15, Y1   \
	VDIVPD       Y1, Y0, Y1    \ // s = f/(2 + f)
	VMULPD       Y1, Y1, Y2    \ // z
	VMULPD       Y2, Y2, Y9    \ // z2
	VMULPD       Y9, Y9, Y10   \ // z4
	VBROADCASTSD LOG1P1, Y3    \
	VBROADCASTSD LOG1P0, Y15   \
	VFMADD213PD  Y15, Y2, Y3   \ // p01
	VBROADCASTSD LOG1P3, Y4    \
	VBROADCASTSD LOG1P2, Y15   \
	VFMADD213PD  Y15, Y2, Y4   \ // p23
	VBROADCASTSD LOG1P5, Y5    \
	VBROADCASTSD LOG1P4, Y15   \
	VFMADD213PD  Y15, Y2, Y5   \ // p45
	VBROADCASTSD LOG1P7, Y6    \
	VBROADCASTSD LOG1P6, Y15   \
	VFMADD213PD  Y15, Y2, Y6   \ // p67
	VBROADCASTSD LOG1P9, Y7    \
	VBROADCASTSD LOG1P8, Y15   \
	VFMADD213PD  Y15, Y2, Y7   \ // p89
	VFMADD231PD  Y4, Y9, Y3    \ // p0
	VFMADD231PD  Y6, Y9, Y5    \ // p4
	VBROADCASTSD LOG1P10, Y15  \
	VFMADD231PD  Y15, Y9, Y7   \ // p8
	VFMADD231PD  Y7, Y10, Y5   \
	VFMADD231PD  Y5, Y10, Y3   \ // p
	VMOVAPD      Y0, Y4        \
	VFNMADD231PD Y3, Y2, Y4    \ // f − z·P(z)
	VFNMADD231PD Y4, Y1, Y0    \ // f − s·(f − z·P(z))
	VXORPD       Y15, Y15, Y15 \
	VMAXPD       Y8, Y15, Y8   \ // max(x, 0), or NaN
	VADDPD       Y8, Y0, Y0

// func Log1pExpAVX2(dst, x []float64)
TEXT ·Log1pExpAVX2(SB), 0, $128-48
	MOVQ    dst_base+0(FP), DI
	MOVQ    dst_len+8(FP), AX
	MOVQ    x_base+24(FP), SI
	MOVQ    x_len+32(FP), CX
	CMPQ    AX, CX
	CMOVQLT AX, CX             // the shorter length
	SUBQ    $4, CX
	JLT     tail

loop4:
	VMOVUPD (SI), Y8
	LOG1PEXP
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX
	JGE     loop4

tail:
	ADDQ       $4, CX
	JZ         done
	MASK
	VMASKMOVPD (SI), Y13, Y8
	LOG1PEXP
	VMASKMOVPD Y0, Y13, (DI)

done:
	VZEROUPPER
	RET
