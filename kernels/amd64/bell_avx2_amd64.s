//go:build !purego

// Bell: dst_i = σ(x_i)σ(−x_i), with the bits of kernels.Bell.
//
// p(1 − p), p = f/(1+f) with f = e^−|x|, and one step of refinement: sigmoid without the sign of x.
// 32 elements at a time, first e^−|x| of all, as in sigmoid.

#include "textflag.h"
#include "numbers_amd64.h"
#include "pairs_amd64.h"
#include "exp_avx2_amd64.h"
#include "decay_avx2_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left
//   DX  offset within the 32

// QUOTIENT takes f in Y0 and leaves p(1 − p) in Y1. Clobbers Y0..Y4 and Y15.
#define QUOTIENT \
	VBROADCASTSD ONE, Y4           \
	VADDPD       Y0, Y4, Y2        \ // 1 + f
	VDIVPD       Y2, Y4, Y2        \ // inverse
	VMULPD       Y2, Y0, Y3        \ // s
	VSUBPD       Y3, Y0, Y1        \ // f − s, exact
	VBROADCASTSD NEGLIGIBLE, Y15   \
	VCMPPD       $13, Y15, Y0, Y15 \
	VANDPD       Y15, Y0, Y0       \ // f, or 0 where s·f could be subnormal
	VFNMADD231PD Y0, Y3, Y1        \ // … − s·f
	VFMADD213PD  Y3, Y2, Y1        \ // p = s + …·inverse
	VSUBPD       Y1, Y4, Y2        \
	VMULPD       Y2, Y1, Y1

// func BellAVX2(dst, x []float64)
TEXT ·BellAVX2(SB), 0, $384-48
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

quotient4:
	VMOVUPD 32(R11)(DX*1), Y0
	QUOTIENT
	VMOVUPD Y1, (DI)(DX*1)
	ADDQ    $32, DX
	CMPQ    DX, $256
	JLT     quotient4
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
	QUOTIENT
	VMOVUPD Y1, (DI)
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
	QUOTIENT
	VMASKMOVPD Y1, Y13, (DI)

done:
	VZEROUPPER
	RET
