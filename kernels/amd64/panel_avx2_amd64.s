//go:build !purego

// The operations of a factorisation by tiles of 8 × 8.
//
//	SubPanel   t ← t − Σ x[k]·(row k of y)
//	SubTile    row c of t ← row c of t − Σ x[c, k]·(row k of y), c = 0 … 7
//	SolveTile  L·X = T for 8 right-hand sides side by side
//
// A row of 8 neighbouring elements is two registers. SubTile takes four rows of t
// at a time: eight accumulators, with two loads of y and four broadcasts to eight
// multiply–adds. SolveTile takes four right-hand sides at a time.

#include "textflag.h"

// Registers
//   SI  x, or l, at row 0       DX  at row 4
//   R8  stride in bytes         R9  three times that
//   DI  y, next row             CX  rows of y left          R10  t
//   Y0..Y7  the tile, or partial sums         Y8, Y9  a row of y
//   Y10..Y13 x                  BX  passes left

// STRIDES sets R8 and R9, from the stride in R8.
#define STRIDES \
	SHLQ $3, R8         \
	LEAQ (R8)(R8*2), R9

// ENTRY adds x[k] times a row of y to a pair of partial sums.
#define ENTRY(value, low, high, y0, y1) \
	VBROADCASTSD value, Y10    \
	VFMADD231PD  y0, Y10, low  \
	VFMADD231PD  y1, Y10, high

// func SubPanelAVX2(x, y []float64, stride int, t []float64)
TEXT ·SubPanelAVX2(SB), 0, $128-80
	MOVQ   x_base+0(FP), SI
	MOVQ   x_len+8(FP), CX
	MOVQ   y_base+24(FP), DI
	MOVQ   stride+48(FP), R8
	MOVQ   t_base+56(FP), R10
	STRIDES
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	SUBQ   $4, CX
	JLT    tail

loop4:
	ENTRY((SI), Y0, Y1, (DI), 32(DI))
	ENTRY(8(SI), Y2, Y3, (DI)(R8*1), 32(DI)(R8*1))
	ENTRY(16(SI), Y4, Y5, (DI)(R8*2), 32(DI)(R8*2))
	ENTRY(24(SI), Y6, Y7, (DI)(R9*1), 32(DI)(R9*1))
	ADDQ $32, SI
	LEAQ (DI)(R8*4), DI
	SUBQ $4, CX
	JGE  loop4

tail:
	ADDQ $4, CX
	JZ   fold
	ENTRY((SI), Y0, Y1, (DI), 32(DI))
	DECQ CX
	JZ   fold
	ENTRY(8(SI), Y2, Y3, (DI)(R8*1), 32(DI)(R8*1))
	DECQ CX
	JZ   fold
	ENTRY(16(SI), Y4, Y5, (DI)(R8*2), 32(DI)(R8*2))

fold:
	// t − ((s0+s2) + (s1+s3)), in every lane.
	VADDPD  Y4, Y0, Y0
	VADDPD  Y5, Y1, Y1
	VADDPD  Y6, Y2, Y2
	VADDPD  Y7, Y3, Y3
	VADDPD  Y2, Y0, Y0
	VADDPD  Y3, Y1, Y1
	VMOVUPD (R10), Y8
	VMOVUPD 32(R10), Y9
	VSUBPD  Y0, Y8, Y8
	VSUBPD  Y1, Y9, Y9
	VMOVUPD Y8, (R10)
	VMOVUPD Y9, 32(R10)
	VZEROUPPER
	RET

// func SubTileAVX2(x, y []float64, stride, m int, t []float64)
TEXT ·SubTileAVX2(SB), 0, $128-88
	MOVQ x_base+0(FP), SI
	MOVQ stride+48(FP), R8
	MOVQ t_base+64(FP), R10
	STRIDES
	MOVQ $2, BX

pass:
	MOVQ    y_base+24(FP), DI
	MOVQ    m+56(FP), CX
	MOVQ    SI, DX
	VMOVUPD (R10), Y0
	VMOVUPD 32(R10), Y1
	VMOVUPD (R10)(R8*1), Y2
	VMOVUPD 32(R10)(R8*1), Y3
	VMOVUPD (R10)(R8*2), Y4
	VMOVUPD 32(R10)(R8*2), Y5
	VMOVUPD (R10)(R9*1), Y6
	VMOVUPD 32(R10)(R9*1), Y7
	TESTQ   CX, CX
	JZ      store

loop1:
	VMOVUPD      (DI), Y8
	VMOVUPD      32(DI), Y9
	VBROADCASTSD (DX), Y10
	VBROADCASTSD (DX)(R8*1), Y11
	VBROADCASTSD (DX)(R8*2), Y12
	VBROADCASTSD (DX)(R9*1), Y13
	VFNMADD231PD Y8, Y10, Y0
	VFNMADD231PD Y9, Y10, Y1
	VFNMADD231PD Y8, Y11, Y2
	VFNMADD231PD Y9, Y11, Y3
	VFNMADD231PD Y8, Y12, Y4
	VFNMADD231PD Y9, Y12, Y5
	VFNMADD231PD Y8, Y13, Y6
	VFNMADD231PD Y9, Y13, Y7
	ADDQ         $8, DX
	ADDQ         R8, DI
	DECQ         CX
	JNZ          loop1

store:
	VMOVUPD Y0, (R10)
	VMOVUPD Y1, 32(R10)
	VMOVUPD Y2, (R10)(R8*1)
	VMOVUPD Y3, 32(R10)(R8*1)
	VMOVUPD Y4, (R10)(R8*2)
	VMOVUPD Y5, 32(R10)(R8*2)
	VMOVUPD Y6, (R10)(R9*1)
	VMOVUPD Y7, 32(R10)(R9*1)
	LEAQ    (SI)(R8*4), SI    // rows 4 to 7
	LEAQ    (R10)(R8*4), R10
	DECQ    BX
	JNZ     pass
	VZEROUPPER
	RET

// SCALE multiplies row c of the tile by 1/L_cc. X9 is 1.
#define SCALE(diagonal, row) \
	VDIVSD       diagonal, X9, X10 \
	VBROADCASTSD X10, Y10          \
	VMULPD       Y10, row, row

// TAKE subtracts L_dc times row c from row d.
#define TAKE(entry, solved, row) \
	VBROADCASTSD entry, Y10       \
	VFNMADD231PD Y10, solved, row

// func SolveTileAVX2(l []float64, stride int, t []float64)
TEXT ·SolveTileAVX2(SB), 0, $128-56
	MOVQ  l_base+0(FP), SI
	MOVQ  stride+24(FP), R8
	MOVQ  t_base+32(FP), R10
	STRIDES
	LEAQ  (SI)(R8*4), DX
	MOVQ  $0x3ff0000000000000, AX // 1
	VMOVQ AX, X9
	MOVQ  $2, BX

pass:
	LEAQ    (R10)(R8*4), R11
	VMOVUPD (R10), Y0
	VMOVUPD (R10)(R8*1), Y1
	VMOVUPD (R10)(R8*2), Y2
	VMOVUPD (R10)(R9*1), Y3
	VMOVUPD (R11), Y4
	VMOVUPD (R11)(R8*1), Y5
	VMOVUPD (R11)(R8*2), Y6
	VMOVUPD (R11)(R9*1), Y7

	SCALE((SI), Y0)
	TAKE((SI)(R8*1), Y0, Y1)
	TAKE((SI)(R8*2), Y0, Y2)
	TAKE((SI)(R9*1), Y0, Y3)
	TAKE((DX), Y0, Y4)
	TAKE((DX)(R8*1), Y0, Y5)
	TAKE((DX)(R8*2), Y0, Y6)
	TAKE((DX)(R9*1), Y0, Y7)

	SCALE(8(SI)(R8*1), Y1)
	TAKE(8(SI)(R8*2), Y1, Y2)
	TAKE(8(SI)(R9*1), Y1, Y3)
	TAKE(8(DX), Y1, Y4)
	TAKE(8(DX)(R8*1), Y1, Y5)
	TAKE(8(DX)(R8*2), Y1, Y6)
	TAKE(8(DX)(R9*1), Y1, Y7)

	SCALE(16(SI)(R8*2), Y2)
	TAKE(16(SI)(R9*1), Y2, Y3)
	TAKE(16(DX), Y2, Y4)
	TAKE(16(DX)(R8*1), Y2, Y5)
	TAKE(16(DX)(R8*2), Y2, Y6)
	TAKE(16(DX)(R9*1), Y2, Y7)

	SCALE(24(SI)(R9*1), Y3)
	TAKE(24(DX), Y3, Y4)
	TAKE(24(DX)(R8*1), Y3, Y5)
	TAKE(24(DX)(R8*2), Y3, Y6)
	TAKE(24(DX)(R9*1), Y3, Y7)

	SCALE(32(DX), Y4)
	TAKE(32(DX)(R8*1), Y4, Y5)
	TAKE(32(DX)(R8*2), Y4, Y6)
	TAKE(32(DX)(R9*1), Y4, Y7)

	SCALE(40(DX)(R8*1), Y5)
	TAKE(40(DX)(R8*2), Y5, Y6)
	TAKE(40(DX)(R9*1), Y5, Y7)

	SCALE(48(DX)(R8*2), Y6)
	TAKE(48(DX)(R9*1), Y6, Y7)

	SCALE(56(DX)(R9*1), Y7)
	VMOVUPD Y0, (R10)
	VMOVUPD Y1, (R10)(R8*1)
	VMOVUPD Y2, (R10)(R8*2)
	VMOVUPD Y3, (R10)(R9*1)
	VMOVUPD Y4, (R11)
	VMOVUPD Y5, (R11)(R8*1)
	VMOVUPD Y6, (R11)(R8*2)
	VMOVUPD Y7, (R11)(R9*1)
	ADDQ    $32, R10        // the other four right-hand sides
	DECQ    BX
	JNZ     pass
	VZEROUPPER
	RET
