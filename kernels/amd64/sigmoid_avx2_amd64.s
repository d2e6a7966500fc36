//go:build !purego

// Sigmoid: dst_i = 1/(1 + e^−x_i), with the bits of kernels.Sigmoid.
//
// 1/(1+f) or f/(1+f) with f = e^−|x|, and one step of refinement. Four
// elements per iteration.

#include "textflag.h"
#include "numbers_amd64.h"
#include "pairs_amd64.h"
#include "exp_avx2_amd64.h"
#include "decay_avx2_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left

// SIGMOID takes x in Y8 and leaves 1/(1 + e^−x) in Y0. Clobbers Y1..Y7 and Y15.
#define SIGMOID \
	DECAY                        \ // f
	VBROADCASTSD ONE, Y15        \
	VBLENDVPD    Y8, Y0, Y15, Y1 \ // numerator: f where x < 0, else 1
	VADDPD       Y0, Y15, Y2     \ // sum = 1 + f
	VSUBPD       Y2, Y15, Y3     \
	VADDPD       Y0, Y3, Y3      \ // rest = (1 − sum) + f
	VDIVPD       Y2, Y15, Y4     \ // inverse
	VMULPD       Y4, Y1, Y0      \ // s
	VFNMADD231PD Y2, Y0, Y1      \ // numerator − s·sum
	VFNMADD231PD Y3, Y0, Y1      \ // … − s·rest
	VFMADD231PD  Y4, Y1, Y0

// func SigmoidAVX2(dst, x []float64)
TEXT ·SigmoidAVX2(SB), 0, $128-48
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
	SIGMOID
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
	SIGMOID
	VMASKMOVPD Y0, Y13, (DI)

done:
	VZEROUPPER
	RET
