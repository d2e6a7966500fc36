//go:build !purego

// The 4 dot products of 2 vectors and 2 others, each in the 32 partial sums of
// DotAVX2, with the same bits.
//
// Four passes, each with a quarter of the partial sums: pass q has the elements 8q
// to 8q+7 of every 32, two registers for each of the 4 products. So 8 loads feed 8
// multiply–adds, against 16 in dot products by themselves. Every element is read
// once.

#include "textflag.h"
#include "dense_avx2_amd64.h"

// Registers
//   SI, DI  x                   R8, R9  y
//   AX   element                CX   blocks of 32, elements of the tail
//   DX   the first element of the pass: 0, 16, 8, 24
//   Y0..Y7  sums, product (a, b) in Y(4a+2b), Y(4a+2b+1)
//   Y8..Y11 of x                Y12, Y13  of y
//   In the tail: Y12..Y15 masks, Y8, Y9, Y10 of x and y
//
// The frame holds the first two quarters.

#define TIMES(y, a0, a1, b0, b1) \
	VMOVUPD     (y)(AX*8), Y12   \
	VMOVUPD     32(y)(AX*8), Y13 \
	VFMADD231PD Y12, Y8, a0      \
	VFMADD231PD Y13, Y9, a1      \
	VFMADD231PD Y12, Y10, b0     \
	VFMADD231PD Y13, Y11, b1

#define TAIL(offset, a, b, c, d) \
	MASK_NEXT                              \
	VMASKMOVPD  offset(SI)(AX*8), Y13, Y8  \
	VMASKMOVPD  offset(DI)(AX*8), Y13, Y9  \
	VMASKMOVPD  offset(R8)(AX*8), Y13, Y10 \
	VMASKMOVPD  offset(R9)(AX*8), Y13, Y11 \
	VFMADD231PD Y10, Y8, a                 \
	VFMADD231PD Y11, Y8, b                 \
	VFMADD231PD Y10, Y9, c                 \
	VFMADD231PD Y11, Y9, d

// Moving the sums to a half of the frame, and adding what is there.
#define KEEP_EVEN \
	VMOVUPD Y0, sums-512(SP) \
	VMOVUPD Y1, sums-480(SP) \
	VMOVUPD Y2, sums-448(SP) \
	VMOVUPD Y3, sums-416(SP) \
	VMOVUPD Y4, sums-384(SP) \
	VMOVUPD Y5, sums-352(SP) \
	VMOVUPD Y6, sums-320(SP) \
	VMOVUPD Y7, sums-288(SP)

#define KEEP_ODD \
	VMOVUPD Y0, sums-256(SP) \
	VMOVUPD Y1, sums-224(SP) \
	VMOVUPD Y2, sums-192(SP) \
	VMOVUPD Y3, sums-160(SP) \
	VMOVUPD Y4, sums-128(SP) \
	VMOVUPD Y5, sums-96(SP)  \
	VMOVUPD Y6, sums-64(SP)  \
	VMOVUPD Y7, sums-32(SP)

#define ADD_EVEN \
	VADDPD sums-512(SP), Y0, Y0 \
	VADDPD sums-480(SP), Y1, Y1 \
	VADDPD sums-448(SP), Y2, Y2 \
	VADDPD sums-416(SP), Y3, Y3 \
	VADDPD sums-384(SP), Y4, Y4 \
	VADDPD sums-352(SP), Y5, Y5 \
	VADDPD sums-320(SP), Y6, Y6 \
	VADDPD sums-288(SP), Y7, Y7

#define ADD_ODD \
	VADDPD sums-256(SP), Y0, Y0 \
	VADDPD sums-224(SP), Y1, Y1 \
	VADDPD sums-192(SP), Y2, Y2 \
	VADDPD sums-160(SP), Y3, Y3 \
	VADDPD sums-128(SP), Y4, Y4 \
	VADDPD sums-96(SP), Y5, Y5  \
	VADDPD sums-64(SP), Y6, Y6  \
	VADDPD sums-32(SP), Y7, Y7

// FOLD is the rest of the fixed tree, 8 → 4 → 2 → 1.
#define FOLD(low, high, x, offset) \
	VADDPD       high, low, low \
	VEXTRACTF128 $1, low, X8    \
	VADDPD       X8, x, x       \
	VUNPCKHPD    x, x, X8       \
	VADDSD       X8, x, x       \
	VMOVSD       x, offset(AX)

// func DotTileAVX2(x, y *[2][]float64, at, n int, out *[6]float64)
TEXT ·DotTileAVX2(SB), 0, $512-40
	MOVQ x+0(FP), AX
	MOVQ (AX), SI
	MOVQ 24(AX), DI
	MOVQ y+8(FP), AX
	MOVQ (AX), R8
	MOVQ 24(AX), R9
	MOVQ at+16(FP), AX
	SHLQ $3, AX
	ADDQ AX, SI
	ADDQ AX, DI
	ADDQ AX, R8
	ADDQ AX, R9
	XORQ DX, DX

pass:
	CLEAR_SUMS
	MOVQ DX, AX
	MOVQ n+24(FP), CX
	SHRQ $5, CX
	JZ   tail

loop32:
	VMOVUPD (SI)(AX*8), Y8
	VMOVUPD 32(SI)(AX*8), Y9
	VMOVUPD (DI)(AX*8), Y10
	VMOVUPD 32(DI)(AX*8), Y11
	TIMES(R8, Y0, Y1, Y4, Y5)
	TIMES(R9, Y2, Y3, Y6, Y7)
	ADDQ    $32, AX
	DECQ    CX
	JNZ     loop32

tail:
	MOVQ n+24(FP), CX
	ANDQ $31, CX
	SUBQ DX, CX
	JLE  combine      // no element left for this pass
	MASK_START
	TAIL(0, Y0, Y2, Y4, Y6)
	TAIL(32, Y1, Y3, Y5, Y7)

combine:
	CMPQ DX, $8
	JLT  first
	JE   second
	CMPQ DX, $16
	JE   third
	JMP  last

first:
	KEEP_EVEN
	MOVQ $16, DX
	JMP  pass

third:
	ADD_EVEN    // 32 → 16 of the even quarters
	KEEP_EVEN
	MOVQ $8, DX
	JMP  pass

second:
	KEEP_ODD
	MOVQ $24, DX
	JMP  pass

last:
	// The last pass: 32 → 16 of the odd quarters, 16 → 8.
	ADD_ODD
	ADD_EVEN
	MOVQ out+32(FP), AX
	FOLD(Y0, Y1, X0, 0)
	FOLD(Y2, Y3, X2, 8)
	FOLD(Y4, Y5, X4, 32)
	FOLD(Y6, Y7, X6, 40)
	VZEROUPPER
	RET
