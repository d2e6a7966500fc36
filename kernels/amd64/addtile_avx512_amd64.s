//go:build !purego

// The products of 8 vectors with 8 interleaved vectors, added to a tile:
//
//	t[c, l] ← t[c, l] + Σ x[c][k]·y[8k+l]
//
// A row of y is one register and serves eight multiply–adds, whose other operand is
// an element of each x, in every lane. Eight accumulators of a latency of four keep
// two pipes busy.
//
// Registers
//   SI, DI, R8 … R13  x         AX  element               CX  the last, and one
//   BX  y, next row             DX  t                     R8 … R11  rows of t, before and after
//   Z0..Z7  the tile            Z8  a row of y

#include "textflag.h"

// ROWS sets R8 to the stride in bytes, R9 to three times that, and R10 to row 4 of t.
#define ROWS \
	MOVQ t_base+56(FP), DX \
	MOVQ stride+48(FP), R8 \
	SHLQ $3, R8            \
	LEAQ (R8)(R8*2), R9    \
	LEAQ (DX)(R8*4), R10

// func AddTileAVX512(x *[8][]float64, y []float64, at, m, stride int, t []float64)
TEXT ·AddTileAVX512(SB), 0, $128-80
	ROWS
	VMOVUPD (DX), Z0
	VMOVUPD (DX)(R8*1), Z1
	VMOVUPD (DX)(R8*2), Z2
	VMOVUPD (DX)(R9*1), Z3
	VMOVUPD (R10), Z4
	VMOVUPD (R10)(R8*1), Z5
	VMOVUPD (R10)(R8*2), Z6
	VMOVUPD (R10)(R9*1), Z7

	MOVQ x+0(FP), AX
	MOVQ (AX), SI
	MOVQ 24(AX), DI
	MOVQ 48(AX), R8
	MOVQ 72(AX), R9
	MOVQ 96(AX), R10
	MOVQ 120(AX), R11
	MOVQ 144(AX), R12
	MOVQ 168(AX), R13
	MOVQ at+32(FP), AX
	MOVQ y_base+8(FP), BX
	MOVQ AX, CX
	SHLQ $6, CX
	ADDQ CX, BX
	MOVQ m+40(FP), CX
	ADDQ AX, CX

loop1:
	VMOVUPD          (BX), Z8
	VFMADD231PD.BCST (SI)(AX*8), Z8, Z0
	VFMADD231PD.BCST (DI)(AX*8), Z8, Z1
	VFMADD231PD.BCST (R8)(AX*8), Z8, Z2
	VFMADD231PD.BCST (R9)(AX*8), Z8, Z3
	VFMADD231PD.BCST (R10)(AX*8), Z8, Z4
	VFMADD231PD.BCST (R11)(AX*8), Z8, Z5
	VFMADD231PD.BCST (R12)(AX*8), Z8, Z6
	VFMADD231PD.BCST (R13)(AX*8), Z8, Z7
	ADDQ             $64, BX
	INCQ             AX
	CMPQ             AX, CX
	JLT              loop1

	ROWS
	VMOVUPD Z0, (DX)
	VMOVUPD Z1, (DX)(R8*1)
	VMOVUPD Z2, (DX)(R8*2)
	VMOVUPD Z3, (DX)(R9*1)
	VMOVUPD Z4, (R10)
	VMOVUPD Z5, (R10)(R8*1)
	VMOVUPD Z6, (R10)(R8*2)
	VMOVUPD Z7, (R10)(R9*1)
	VZEROUPPER
	RET
