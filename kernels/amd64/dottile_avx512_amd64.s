//go:build !purego

// The 16 dot products of 4 vectors and 4 others, each in the 32 partial sums of
// DotAVX512, with the same bits.
//
// Four passes, each with a quarter of the partial sums: pass q has the elements 8q
// to 8q+7 of every 32, one register for each of the 16 products. So 8 loads feed 16
// multiply–adds, against 2 for each in a dot product by itself. Every element is
// read once.
//
// Registers
//   SI, DI, R8, R9  x           R10, R11, R12, R13  y
//   AX   element                CX   blocks of 32 left     BX, K1  the tail
//   DX   the first element of the pass: 0, 16, 8, 24
//   Z0..Z15  sums, product (a, b) in Z(4a+b)
//   Z16..Z19 of x               Z20  of y
//
// The frame holds the first two quarters.

#include "textflag.h"

#define LOAD_X \
	VMOVUPD (SI)(AX*8), Z16 \
	VMOVUPD (DI)(AX*8), Z17 \
	VMOVUPD (R8)(AX*8), Z18 \
	VMOVUPD (R9)(AX*8), Z19

#define TIMES(y, a, b, c, d) \
	VMOVUPD     (y)(AX*8), Z20 \
	VFMADD231PD Z20, Z16, a    \
	VFMADD231PD Z20, Z17, b    \
	VFMADD231PD Z20, Z18, c    \
	VFMADD231PD Z20, Z19, d

#define LOAD_X_MASKED \
	VMOVUPD.Z (SI)(AX*8), K1, Z16 \
	VMOVUPD.Z (DI)(AX*8), K1, Z17 \
	VMOVUPD.Z (R8)(AX*8), K1, Z18 \
	VMOVUPD.Z (R9)(AX*8), K1, Z19

#define TIMES_MASKED(y, a, b, c, d) \
	VMOVUPD.Z   (y)(AX*8), K1, Z20 \
	VFMADD231PD Z20, Z16, a        \
	VFMADD231PD Z20, Z17, b        \
	VFMADD231PD Z20, Z18, c        \
	VFMADD231PD Z20, Z19, d

// Moving the sums to a half of the frame, and adding what is there.
#define KEEP_EVEN \
	VMOVUPD Z0, sums-2048(SP)  \
	VMOVUPD Z1, sums-1984(SP)  \
	VMOVUPD Z2, sums-1920(SP)  \
	VMOVUPD Z3, sums-1856(SP)  \
	VMOVUPD Z4, sums-1792(SP)  \
	VMOVUPD Z5, sums-1728(SP)  \
	VMOVUPD Z6, sums-1664(SP)  \
	VMOVUPD Z7, sums-1600(SP)  \
	VMOVUPD Z8, sums-1536(SP)  \
	VMOVUPD Z9, sums-1472(SP)  \
	VMOVUPD Z10, sums-1408(SP) \
	VMOVUPD Z11, sums-1344(SP) \
	VMOVUPD Z12, sums-1280(SP) \
	VMOVUPD Z13, sums-1216(SP) \
	VMOVUPD Z14, sums-1152(SP) \
	VMOVUPD Z15, sums-1088(SP)

#define KEEP_ODD \
	VMOVUPD Z0, sums-1024(SP) \
	VMOVUPD Z1, sums-960(SP)  \
	VMOVUPD Z2, sums-896(SP)  \
	VMOVUPD Z3, sums-832(SP)  \
	VMOVUPD Z4, sums-768(SP)  \
	VMOVUPD Z5, sums-704(SP)  \
	VMOVUPD Z6, sums-640(SP)  \
	VMOVUPD Z7, sums-576(SP)  \
	VMOVUPD Z8, sums-512(SP)  \
	VMOVUPD Z9, sums-448(SP)  \
	VMOVUPD Z10, sums-384(SP) \
	VMOVUPD Z11, sums-320(SP) \
	VMOVUPD Z12, sums-256(SP) \
	VMOVUPD Z13, sums-192(SP) \
	VMOVUPD Z14, sums-128(SP) \
	VMOVUPD Z15, sums-64(SP)

#define ADD_EVEN \
	VADDPD sums-2048(SP), Z0, Z0   \
	VADDPD sums-1984(SP), Z1, Z1   \
	VADDPD sums-1920(SP), Z2, Z2   \
	VADDPD sums-1856(SP), Z3, Z3   \
	VADDPD sums-1792(SP), Z4, Z4   \
	VADDPD sums-1728(SP), Z5, Z5   \
	VADDPD sums-1664(SP), Z6, Z6   \
	VADDPD sums-1600(SP), Z7, Z7   \
	VADDPD sums-1536(SP), Z8, Z8   \
	VADDPD sums-1472(SP), Z9, Z9   \
	VADDPD sums-1408(SP), Z10, Z10 \
	VADDPD sums-1344(SP), Z11, Z11 \
	VADDPD sums-1280(SP), Z12, Z12 \
	VADDPD sums-1216(SP), Z13, Z13 \
	VADDPD sums-1152(SP), Z14, Z14 \
	VADDPD sums-1088(SP), Z15, Z15

#define ADD_ODD \
	VADDPD sums-1024(SP), Z0, Z0  \
	VADDPD sums-960(SP), Z1, Z1   \
	VADDPD sums-896(SP), Z2, Z2   \
	VADDPD sums-832(SP), Z3, Z3   \
	VADDPD sums-768(SP), Z4, Z4   \
	VADDPD sums-704(SP), Z5, Z5   \
	VADDPD sums-640(SP), Z6, Z6   \
	VADDPD sums-576(SP), Z7, Z7   \
	VADDPD sums-512(SP), Z8, Z8   \
	VADDPD sums-448(SP), Z9, Z9   \
	VADDPD sums-384(SP), Z10, Z10 \
	VADDPD sums-320(SP), Z11, Z11 \
	VADDPD sums-256(SP), Z12, Z12 \
	VADDPD sums-192(SP), Z13, Z13 \
	VADDPD sums-128(SP), Z14, Z14 \
	VADDPD sums-64(SP), Z15, Z15

// FOLD is the rest of the fixed tree, 8 → 4 → 2 → 1.
#define FOLD(z, y, x, offset) \
	VEXTRACTF64X4 $1, z, Y16    \
	VADDPD        Y16, y, y     \
	VEXTRACTF64X2 $1, y, X16    \
	VADDPD        X16, x, x     \
	VUNPCKHPD     x, x, X16     \
	VADDSD        X16, x, x     \
	VMOVSD        x, offset(AX)

// func DotTileAVX512(x, y *[4][]float64, at, n int, out *[16]float64)
TEXT ·DotTileAVX512(SB), 0, $2048-40
	MOVQ x+0(FP), AX
	MOVQ (AX), SI
	MOVQ 24(AX), DI
	MOVQ 48(AX), R8
	MOVQ 72(AX), R9
	MOVQ y+8(FP), AX
	MOVQ (AX), R10
	MOVQ 24(AX), R11
	MOVQ 48(AX), R12
	MOVQ 72(AX), R13
	MOVQ at+16(FP), AX
	SHLQ $3, AX
	ADDQ AX, SI
	ADDQ AX, DI
	ADDQ AX, R8
	ADDQ AX, R9
	ADDQ AX, R10
	ADDQ AX, R11
	ADDQ AX, R12
	ADDQ AX, R13
	XORQ DX, DX

pass:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	MOVQ   DX, AX
	MOVQ   n+24(FP), CX
	SHRQ   $5, CX
	JZ     tail

loop32:
	LOAD_X
	TIMES(R10, Z0, Z4, Z8, Z12)
	TIMES(R11, Z1, Z5, Z9, Z13)
	TIMES(R12, Z2, Z6, Z10, Z14)
	TIMES(R13, Z3, Z7, Z11, Z15)
	ADDQ $32, AX
	DECQ CX
	JNZ  loop32

tail:
	MOVQ  n+24(FP), CX
	ANDQ  $31, CX
	SUBQ  DX, CX
	JLE   combine      // no element left for this pass
	MOVQ  $-1, BX
	SHLQ  CX, BX
	NOTQ  BX
	KMOVB BX, K1
	LOAD_X_MASKED
	TIMES_MASKED(R10, Z0, Z4, Z8, Z12)
	TIMES_MASKED(R11, Z1, Z5, Z9, Z13)
	TIMES_MASKED(R12, Z2, Z6, Z10, Z14)
	TIMES_MASKED(R13, Z3, Z7, Z11, Z15)

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
	FOLD(Z0, Y0, X0, 0)
	FOLD(Z1, Y1, X1, 8)
	FOLD(Z2, Y2, X2, 16)
	FOLD(Z3, Y3, X3, 24)
	FOLD(Z4, Y4, X4, 32)
	FOLD(Z5, Y5, X5, 40)
	FOLD(Z6, Y6, X6, 48)
	FOLD(Z7, Y7, X7, 56)
	FOLD(Z8, Y8, X8, 64)
	FOLD(Z9, Y9, X9, 72)
	FOLD(Z10, Y10, X10, 80)
	FOLD(Z11, Y11, X11, 88)
	FOLD(Z12, Y12, X12, 96)
	FOLD(Z13, Y13, X13, 104)
	FOLD(Z14, Y14, X14, 112)
	FOLD(Z15, Y15, X15, 120)
	VZEROUPPER
	RET
