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
#include "log1pexp_avx2_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left
//   DX  offset within the 32

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
