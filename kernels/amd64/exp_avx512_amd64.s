//go:build !purego

// Exponential: dst_i = e^x_i, with the bits of kernels.Exp.
//
// x = k·ln 2 + r with |r| ≤ ln 2 / 2, e^x = 2^k·e^r. 16 elements per iteration, the
// reductions of both halves before their series: a single vector is one chain of
// dependent instructions, which would fill the scheduler while they wait.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx512_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left
//   Z0..Z3, Z4..Z7  x, k, r and r2 of the two halves      K2, K3  where e^x is normal

// func ExpAVX512(dst, x []float64)
TEXT ·ExpAVX512(SB), 0, $128-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	SUBQ $16, CX
	JLT  tail8

loop16:
	VMOVUPD (SI), Z0
	VMOVUPD 64(SI), Z4
	REDUCE(Z0, Z1, Z2, Z3, K2)
	REDUCE(Z4, Z5, Z6, Z7, K3)
	SERIES(Z0, Z1, Z2, Z3, K2)
	SERIES(Z4, Z5, Z6, Z7, K3)
	VMOVUPD Z0, (DI)
	VMOVUPD Z4, 64(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $16, CX
	JGE     loop16

tail8:
	ADDQ    $8, CX   // elements left, less 8
	JLT     tail
	VMOVUPD (SI), Z0
	REDUCE(Z0, Z1, Z2, Z3, K2)
	SERIES(Z0, Z1, Z2, Z3, K2)
	VMOVUPD Z0, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX

tail:
	ADDQ      $8, CX
	JZ        done
	MASK
	VMOVUPD.Z (SI), K1, Z0
	REDUCE(Z0, Z1, Z2, Z3, K2)
	SERIES(Z0, Z1, Z2, Z3, K2)
	VMOVUPD   Z0, K1, (DI)

done:
	VZEROUPPER
	RET
