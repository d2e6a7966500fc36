//go:build !purego

// Sigmoid: dst_i = 1/(1 + e^−x_i), with the bits of kernels.Sigmoid.
//
// 1/(1+f) or f/(1+f) with f = e^−|x|, and one step of refinement. Eight
// elements per iteration.

#include "textflag.h"
#include "numbers_amd64.h"
#include "tables_amd64.h"
#include "exp_avx512_amd64.h"
#include "decay_avx512_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left

// SIGMOID takes x in Z8 and leaves 1/(1 + e^−x) in Z0. Clobbers Z1..Z7, K2.
#define SIGMOID \
	DECAY                       \ // f
	VBROADCASTSD ONE, Z6        \
	VPMOVQ2M     Z8, K2         \
	VBLENDMPD    Z0, Z6, K2, Z1 \ // numerator: f where x < 0, else 1
	VADDPD       Z0, Z6, Z2     \ // sum = 1 + f
	VSUBPD       Z2, Z6, Z3     \
	VADDPD       Z0, Z3, Z3     \ // rest = (1 − sum) + f
	VDIVPD       Z2, Z6, Z4     \ // inverse
	VMULPD       Z4, Z1, Z0     \ // s
	VFNMADD231PD Z2, Z0, Z1     \ // numerator − s·sum
	VFNMADD231PD Z3, Z0, Z1     \ // … − s·rest
	VFMADD231PD  Z4, Z1, Z0

// func SigmoidAVX512(dst, x []float64)
TEXT ·SigmoidAVX512(SB), 0, $128-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	TABLES
	SUBQ $8, CX
	JLT  tail

loop8:
	VMOVUPD (SI), Z8
	SIGMOID
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
	SIGMOID
	VMOVUPD   Z0, K1, (DI)

done:
	VZEROUPPER
	RET
