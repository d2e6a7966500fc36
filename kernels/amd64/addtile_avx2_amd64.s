//go:build !purego

// The products of 8 vectors with 8 interleaved vectors, added to a tile:
//
//	t[c, l] ← t[c, l] + Σ x[c][k]·y[8k+l]
//
// A row of y is two registers. Four vectors at a time: eight accumulators, with two
// loads of y and four broadcasts to eight multiply–adds.
//
// Registers
//   SI, DI, R8, R9  x           AX  element               CX  the last, and one
//   BX  y, next row             DX  t, at a row of four   R10  x's headers     R11  passes left
//   R12  stride in bytes        R13  three times that
//   Y0..Y7  rows of t           Y8, Y9  a row of y        Y10..Y13  x

#include "textflag.h"

// func AddTileAVX2(x *[8][]float64, y []float64, at, m, stride int, t []float64)
TEXT ·AddTileAVX2(SB), 0, $128-80
	MOVQ x+0(FP), R10
	MOVQ stride+48(FP), R12
	MOVQ t_base+56(FP), DX
	SHLQ $3, R12
	LEAQ (R12)(R12*2), R13
	MOVQ $2, R11

pass:
	MOVQ    (R10), SI
	MOVQ    24(R10), DI
	MOVQ    48(R10), R8
	MOVQ    72(R10), R9
	MOVQ    at+32(FP), AX
	MOVQ    y_base+8(FP), BX
	MOVQ    AX, CX
	SHLQ    $6, CX
	ADDQ    CX, BX
	MOVQ    m+40(FP), CX
	ADDQ    AX, CX
	VMOVUPD (DX), Y0
	VMOVUPD 32(DX), Y1
	VMOVUPD (DX)(R12*1), Y2
	VMOVUPD 32(DX)(R12*1), Y3
	VMOVUPD (DX)(R12*2), Y4
	VMOVUPD 32(DX)(R12*2), Y5
	VMOVUPD (DX)(R13*1), Y6
	VMOVUPD 32(DX)(R13*1), Y7

loop1:
	VMOVUPD      (BX), Y8
	VMOVUPD      32(BX), Y9
	VBROADCASTSD (SI)(AX*8), Y10
	VBROADCASTSD (DI)(AX*8), Y11
	VBROADCASTSD (R8)(AX*8), Y12
	VBROADCASTSD (R9)(AX*8), Y13
	VFMADD231PD  Y8, Y10, Y0
	VFMADD231PD  Y9, Y10, Y1
	VFMADD231PD  Y8, Y11, Y2
	VFMADD231PD  Y9, Y11, Y3
	VFMADD231PD  Y8, Y12, Y4
	VFMADD231PD  Y9, Y12, Y5
	VFMADD231PD  Y8, Y13, Y6
	VFMADD231PD  Y9, Y13, Y7
	ADDQ         $64, BX
	INCQ         AX
	CMPQ         AX, CX
	JLT          loop1

	VMOVUPD Y0, (DX)
	VMOVUPD Y1, 32(DX)
	VMOVUPD Y2, (DX)(R12*1)
	VMOVUPD Y3, 32(DX)(R12*1)
	VMOVUPD Y4, (DX)(R12*2)
	VMOVUPD Y5, 32(DX)(R12*2)
	VMOVUPD Y6, (DX)(R13*1)
	VMOVUPD Y7, 32(DX)(R13*1)
	ADDQ    $96, R10          // vectors 4 to 7
	LEAQ    (DX)(R12*4), DX
	DECQ    R11
	JNZ     pass
	VZEROUPPER
	RET
