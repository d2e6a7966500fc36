//go:build !purego

// Sigmoid: dst_i = 1/(1 + e^−x_i), with the bits of kernels.Sigmoid.
//
// 1/(1+f) or f/(1+f) with f = e^−|x|, and one step of refinement. Eight elements
// per iteration, the division of one vector while e^−|x| of the next is computed:
// the divider is busy for 16 cycles a vector, the other ports for 15.

#include "textflag.h"
#include "numbers_amd64.h"
#include "tables_amd64.h"
#include "exp_avx512_amd64.h"
#include "decay_avx512_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left
//   Z10  f                      Z11  inverse, then the result
//   Z12  numerator, then its remainder         Z13  s         Z14  1         Z15  negligible

// DIVIDE takes f in Z10.
#define DIVIDE \
	VADDPD Z10, Z14, Z11 \ // 1 + f
	VDIVPD Z11, Z14, Z11

// FINISH takes what DIVIDE leaves, x in Z8, and leaves 1/(1 + e^−x) in Z11.
#define FINISH \
	VMOVAPD          Z10, Z12                      \
	VFIXUPIMMPD.BCST $0, numerators<>(SB), Z8, Z12 \ // numerator
	VMULPD           Z11, Z12, Z13                 \ // s
	VSUBPD           Z13, Z12, Z12                 \ // numerator − s, exact
	VCMPPD           $13, Z15, Z10, K3              \
	VFNMADD231PD     Z10, Z13, K3, Z12             \ // … − s·f, but where that could be subnormal
	VFMADD213PD      Z13, Z12, Z11

// What VFIXUPIMMPD returns for each kind of x, in 4 bits each: from the lowest, 2 for the two
// kinds of NaN, x itself; 10 for 0, 1, +Inf and positive numbers, 1; 0 for −Inf (the fifth) and
// negative numbers, f as it is.
DATA numerators<>+0(SB)/8, $0xA0A0AA22
GLOBL numerators<>(SB), RODATA|NOPTR, $8

// func SigmoidAVX512(dst, x []float64)
TEXT ·SigmoidAVX512(SB), 0, $128-48
	MOVQ         dst_base+0(FP), DI
	MOVQ         x_base+24(FP), SI
	MOVQ         x_len+32(FP), CX
	TABLES
	VBROADCASTSD ONE, Z14
	VBROADCASTSD NEGLIGIBLE, Z15
	SUBQ         $8, CX
	JLT          tail
	VMOVUPD      (SI), Z8
	DECAY
	SCALE(Z10)
	SUBQ         $8, CX
	JLT          last

loop8:
	DIVIDE
	VMOVUPD 64(SI), Z8
	DECAY
	VMOVUPD (SI), Z8
	FINISH
	VMOVUPD Z11, (DI)
	SCALE(Z10)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JGE     loop8

last:
	DIVIDE
	VMOVUPD (SI), Z8
	FINISH
	VMOVUPD Z11, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI

tail:
	ADDQ      $8, CX
	JZ        done
	MASK
	VMOVUPD.Z (SI), K1, Z8
	DECAY
	SCALE(Z10)
	DIVIDE
	FINISH
	VMOVUPD   Z11, K1, (DI)

done:
	VZEROUPPER
	RET
