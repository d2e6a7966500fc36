//go:build !purego

// dst_i = ln(1 + e^x_i), with the bits of kernels.Log1pExp.
//
// max(x, 0) + ln(1+f) with f = e^−|x|; ln(1+f) = r + r²·P(r) − ln c, where
// r = c·(1+f) − 1 is small, c from a table.
//
// 32 elements at a time, first e^−|x| of all, then the logarithms: one chain of both for
// each vector would be so long that its waiting instructions fill the scheduler.

#include "textflag.h"
#include "numbers_amd64.h"
#include "pairs_amd64.h"
#include "exp_avx2_amd64.h"
#include "decay_avx2_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left
//   DX  offset within the 32

// LOGARITHM takes f in Y0, x in Y8 and leaves max(x, 0) + ln(1+f) in Y0. Clobbers Y1..Y9, Y15 and
// what DECAY does.
//   Y1  j in its low bits, then −ln c      Y2  c, then r2
//   Y3  r                                  Y4  r4
#define LOGARITHM \
	VBROADCASTSD SHIFT, Y1             \
	VBROADCASTSD FIFTEEN, Y15          \
	VFMADD231PD  Y15, Y0, Y1           \ // f·15 to the nearest
	LOOKUP(LOGARITHMS, Y1, Y2, X1, Y1) \ // c, −ln c
	VBROADCASTSD MINUSONE, Y15         \
	VADDPD       Y15, Y2, Y3           \
	VFMADD231PD  Y2, Y0, Y3            \ // r = f·c + (c − 1)
	VBROADCASTSD NEGLIGIBLE, Y15       \
	VCMPPD       $13, Y15, Y0, Y15     \
	VANDPD       Y15, Y3, Y2           \
	VMULPD       Y3, Y2, Y2            \ // r2, or 0 where it could be subnormal
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
TEXT ·Log1pExpAVX2(SB), 0, $384-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	CONSTANTS
	SUBQ $32, CX
	JLT  tail4

loop32:
	XORQ DX, DX

decay4:
	VMOVUPD (SI)(DX*1), Y8
	DECAY
	VMOVUPD Y0, 32(R11)(DX*1)
	ADDQ    $32, DX
	CMPQ    DX, $256
	JLT     decay4
	XORQ    DX, DX

logarithm4:
	VMOVUPD (SI)(DX*1), Y8
	VMOVUPD 32(R11)(DX*1), Y0
	LOGARITHM
	VMOVUPD Y0, (DI)(DX*1)
	ADDQ    $32, DX
	CMPQ    DX, $256
	JLT     logarithm4
	ADDQ    $256, SI
	ADDQ    $256, DI
	SUBQ    $32, CX
	JGE     loop32

tail4:
	ADDQ $28, CX // elements left, less 4
	JLT  tail

loop4:
	VMOVUPD (SI), Y8
	DECAY
	LOGARITHM
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
	DECAY
	LOGARITHM
	VMASKMOVPD Y0, Y13, (DI)

done:
	VZEROUPPER
	RET
