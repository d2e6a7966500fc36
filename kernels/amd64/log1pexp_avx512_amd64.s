//go:build !purego

// dst_i = ln(1 + e^x_i), with the bits of kernels.Log1pExp.
//
// max(x, 0) + ln(1+f) with f = e^−|x|; ln(1+f) = r + r²·P(r) − ln c, where
// r = c·(1+f) − 1 is small, c from a table.
//
// 64 elements at a time, first e^−|x| of all, then the logarithms: one chain of both for
// each vector would be so long that its waiting instructions fill the scheduler.

#include "textflag.h"
#include "numbers_amd64.h"
#include "tables_amd64.h"
#include "exp_avx512_amd64.h"
#include "decay_avx512_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left
//   DX  offset within the 64    R8  f of the 64, aligned

// LOGARITHM takes f in Z0, x in Z8 and leaves max(x, 0) + ln(1+f) in Z0. Clobbers Z1..Z9.
//   Z1  j in its low bits, then −ln c      Z2  c, then r2
//   Z3  r                                  Z4  r4
#define LOGARITHM \
	VBROADCASTSD     SHIFT, Z1               \
	VFMADD231PD.BCST FIFTEEN, Z0, Z1         \ // f·15 to the nearest
	VMOVAPD          Z1, Z2                  \
	VPERMI2PD        Z29, Z28, Z2            \ // c
	VPERMI2PD        Z31, Z30, Z1            \ // −ln c
	VADDPD.BCST      MINUSONE, Z2, Z3        \
	VFMADD231PD      Z2, Z0, Z3              \ // r = f·c + (c − 1)
	VCMPPD.BCST      $13, NEGLIGIBLE, Z0, K3 \
	VMULPD.Z         Z3, Z3, K3, Z2          \ // r2, or 0 where it could be subnormal
	VMULPD           Z2, Z2, Z4              \ // r4
	VBROADCASTSD     LOG1P1, Z5              \
	VFMADD213PD.BCST MINUSHALF, Z3, Z5       \ // p01
	VBROADCASTSD     LOG1P3, Z6              \
	VFMADD213PD.BCST LOG1P2, Z3, Z6          \ // p23
	VBROADCASTSD     LOG1P5, Z7              \
	VFMADD213PD.BCST LOG1P4, Z3, Z7          \ // p45
	VBROADCASTSD     LOG1P7, Z9              \
	VFMADD213PD.BCST LOG1P6, Z3, Z9          \ // p67
	VFMADD231PD      Z6, Z2, Z5              \ // p0
	VFMADD231PD      Z9, Z2, Z7              \
	VFMADD231PD.BCST LOG1P8, Z4, Z7          \ // p4
	VFMADD231PD      Z7, Z4, Z5              \ // p
	VFMADD231PD      Z5, Z2, Z3              \ // r + r2·p
	VADDPD           Z1, Z3, Z0              \ // ln(1 + f)
	VPXORQ           Z5, Z5, Z5              \
	VMAXPD           Z8, Z5, Z8              \ // max(x, 0), or NaN
	VADDPD           Z8, Z0, Z0

// func Log1pExpAVX512(dst, x []float64)
TEXT ·Log1pExpAVX512(SB), 0, $640-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	TABLES
	LEAQ f-576(SP), R8
	ADDQ $63, R8
	ANDQ $~63, R8
	SUBQ $64, CX
	JLT  tail8

loop64:
	XORQ DX, DX

decay8:
	VMOVUPD (SI)(DX*1), Z8
	DECAY
	SCALE(Z0)
	VMOVUPD Z0, (R8)(DX*1)
	ADDQ    $64, DX
	CMPQ    DX, $512
	JLT     decay8
	XORQ    DX, DX

logarithm8:
	VMOVUPD (SI)(DX*1), Z8
	VMOVUPD (R8)(DX*1), Z0
	LOGARITHM
	VMOVUPD Z0, (DI)(DX*1)
	ADDQ    $64, DX
	CMPQ    DX, $512
	JLT     logarithm8
	ADDQ    $512, SI
	ADDQ    $512, DI
	SUBQ    $64, CX
	JGE     loop64

tail8:
	ADDQ $56, CX // elements left, less 8
	JLT  tail

loop8:
	VMOVUPD (SI), Z8
	DECAY
	SCALE(Z0)
	LOGARITHM
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
	DECAY
	SCALE(Z0)
	LOGARITHM
	VMOVUPD   Z0, K1, (DI)

done:
	VZEROUPPER
	RET
