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
#include "log1pexp_avx512_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left
//   DX  offset within the 64    R8  f of the 64, aligned

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
