//go:build !purego

// Bell: dst_i = σ(x_i)σ(−x_i), with the bits of kernels.Bell.
//
// p(1 − p), p = f/(1+f) with f = e^−|x|, and one step of refinement: sigmoid without the sign of x.

#include "textflag.h"
#include "numbers_amd64.h"
#include "tables_amd64.h"
#include "exp_avx512_amd64.h"
#include "decay_avx512_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left
//   Z10  f                      Z11  inverse, then p and the result
//   Z12  the remainder of f     Z13  s, then 1 − p         Z14  1         Z15  negligible

// DIVIDE takes f in Z10.
#define DIVIDE \
	VADDPD Z10, Z14, Z11 \ // 1 + f
	VDIVPD Z11, Z14, Z11

// FINISH takes what DIVIDE leaves, and leaves p(1 − p) in Z11.
#define FINISH \
	VMULPD       Z11, Z10, Z13     \ // s
	VSUBPD       Z13, Z10, Z12     \ // f − s, exact
	VCMPPD       $13, Z15, Z10, K3 \
	VFNMADD231PD Z10, Z13, K3, Z12 \ // … − s·f, but where that could be subnormal
	VFMADD213PD  Z13, Z12, Z11     \ // p
	VSUBPD       Z11, Z14, Z13     \
	VMULPD       Z13, Z11, Z11

// func BellAVX512(dst, x []float64)
TEXT ·BellAVX512(SB), 0, $128-48
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
	FINISH
	VMOVUPD Z11, (DI)
	SCALE(Z10)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JGE     loop8

last:
	DIVIDE
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
