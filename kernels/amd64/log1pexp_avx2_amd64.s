//go:build !purego

// dst_i = ln(1 + e^x_i), with the bits of kernels.Log1pExp.
//
// max(x, 0) + ln(1+f) with f = e^−|x|; ln(1+f) = r + r²·P(r) − ln c, where
// r = c·(1+f) − 1 is small, c from a table. Four elements per iteration.

#include "textflag.h"
#include "numbers_amd64.h"
#include "pairs_amd64.h"
#include "exp_avx2_amd64.h"
#include "decay_avx2_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left

// LOG1PEXP takes x in Y8 and leaves ln(1 + e^x) in Y0. Clobbers Y1..Y9, Y15 and
// what DECAY does.
//   Y1  j in its low bits, then −ln c      Y2  c, then r2
//   Y3  r                                  Y4  r4
#define LOG1PEXP \
	DECAY                              \ // f
	VBROADCASTSD SHIFT, Y1             \
	VBROADCASTSD FIFTEEN, Y15          \
	VFMADD231PD  Y15, Y0, Y1           \ // f·15 to the nearest
	LOOKUP(LOGARITHMS, Y1, Y2, X1, Y1) \ // c, −ln c
	VBROADCASTSD MINUSONE, Y15         \
	VADDPD       Y15, Y2, Y3           \
	VFMADD231PD  Y2, Y0, Y3            \ // r = f·c + (c − 1)
	VMULPD       Y3, Y3, Y2            \ // r2
	VMULPD       Y2, Y2, Y4            \ // r4
	VBROADCASTSD LOG1P1, Y5            \
	VBROADCASTSD MINUSHALF, Y15        \
	VFMADD213PD  Y15, Y3, Y5           \ // p01
	VBROADCASTSD LOG1P3, Y6            \
	VBROADCASTSD LOG1P2, Y15           \
	VFMADD213PD  Y15, Y3, Y6           \ // p23
	VBROADCASTSD LOG1P5, Y7            \
	VBROADCASTSD LOG1P4, Y15           \
	VFMADD213PD  Y15, Y3, Y7           \ // p45
	VBROADCASTSD LOG1P7, Y9            \
	VBROADCASTSD LOG1P6, Y15           \
	VFMADD213PD  Y15, Y3, Y9           \ // p67
	VFMADD231PD  Y6, Y2, Y5            \ // p0
	VFMADD231PD  Y9, Y2, Y7            \
	VBROADCASTSD LOG1P8, Y15           \
	VFMADD231PD  Y15, Y4, Y7           \ // p4
	VFMADD231PD  Y7, Y4, Y5            \ // p
	VFMADD231PD  Y5, Y2, Y3            \ // r + r2·p
	VADDPD       Y1, Y3, Y0            \ // ln(1 + f)
	VXORPD       Y15, Y15, Y15         \
	VMAXPD       Y8, Y15, Y8           \ // max(x, 0), or NaN
	VADDPD       Y8, Y0, Y0

// func Log1pExpAVX2(dst, x []float64)
TEXT ·Log1pExpAVX2(SB), 0, $128-48
	MOVQ    dst_base+0(FP), DI
	MOVQ    dst_len+8(FP), AX
	MOVQ    x_base+24(FP), SI
	MOVQ    x_len+32(FP), CX
	CMPQ    AX, CX
	CMOVQLT AX, CX             // the shorter length
	CONSTANTS
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
