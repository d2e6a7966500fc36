//go:build !purego

// The operations of a factorisation by tiles of 8 × 8: a row of 8 neighbouring
// elements is one register.
//
//	SubPanel   t ← t − Σ x[k]·(row k of y)
//	SubTile    row c of t ← it − Σ x[c, k]·(row k of y), c = 0 … 7
//	SolveTile  L·X = T for 8 right-hand sides side by side
//
// Rows are a stride apart, up to a page or more, so that rows of y straddle cache
// lines; with eight multiply–adds to a row of y in SubTile that does not show.
// Eight accumulators of a latency of four keep two pipes busy.

#include "textflag.h"

// Registers
//   SI  x, or l, at row 0       DX  at row 4
//   R8  stride in bytes         R9  three times that
//   DI  y, next row             CX  rows of y left         R10  t
//   Z0..Z7  the tile, or partial sums         Z8  a row of y

// ROWS points DX at row 4 of SI and sets R8 and R9, from the stride in R8.
#define ROWS \
	SHLQ $3, R8         \
	LEAQ (R8)(R8*2), R9 \
	LEAQ (SI)(R8*4), DX

// LOAD_TILE and STORE_TILE move eight rows at R10. R11 is row 4 of them.
#define LOAD_TILE \
	LEAQ    (R10)(R8*4), R11 \
	VMOVUPD (R10), Z0        \
	VMOVUPD (R10)(R8*1), Z1  \
	VMOVUPD (R10)(R8*2), Z2  \
	VMOVUPD (R10)(R9*1), Z3  \
	VMOVUPD (R11), Z4        \
	VMOVUPD (R11)(R8*1), Z5  \
	VMOVUPD (R11)(R8*2), Z6  \
	VMOVUPD (R11)(R9*1), Z7

#define STORE_TILE \
	VMOVUPD Z0, (R10)       \
	VMOVUPD Z1, (R10)(R8*1) \
	VMOVUPD Z2, (R10)(R8*2) \
	VMOVUPD Z3, (R10)(R9*1) \
	VMOVUPD Z4, (R11)       \
	VMOVUPD Z5, (R11)(R8*1) \
	VMOVUPD Z6, (R11)(R8*2) \
	VMOVUPD Z7, (R11)(R9*1)

// func SubPanelAVX512(x, y []float64, stride int, t []float64)
TEXT ·SubPanelAVX512(SB), 0, $128-80
	MOVQ   x_base+0(FP), SI
	MOVQ   x_len+8(FP), CX
	MOVQ   y_base+24(FP), DI
	MOVQ   stride+48(FP), R8
	MOVQ   t_base+56(FP), R10
	SHLQ   $3, R8
	LEAQ   (R8)(R8*2), R9
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	SUBQ   $4, CX
	JLT    tail

loop4:
	VMOVUPD          (DI), Z4
	VMOVUPD          (DI)(R8*1), Z5
	VMOVUPD          (DI)(R8*2), Z6
	VMOVUPD          (DI)(R9*1), Z7
	VFMADD231PD.BCST (SI), Z4, Z0
	VFMADD231PD.BCST 8(SI), Z5, Z1
	VFMADD231PD.BCST 16(SI), Z6, Z2
	VFMADD231PD.BCST 24(SI), Z7, Z3
	ADDQ             $32, SI
	LEAQ             (DI)(R8*4), DI
	SUBQ             $4, CX
	JGE              loop4

tail:
	ADDQ             $4, CX
	JZ               fold
	VMOVUPD          (DI), Z4
	VFMADD231PD.BCST (SI), Z4, Z0
	DECQ             CX
	JZ               fold
	VMOVUPD          (DI)(R8*1), Z5
	VFMADD231PD.BCST 8(SI), Z5, Z1
	DECQ             CX
	JZ               fold
	VMOVUPD          (DI)(R8*2), Z6
	VFMADD231PD.BCST 16(SI), Z6, Z2

fold:
	// t − ((s0+s2) + (s1+s3)), in every lane.
	VADDPD  Z2, Z0, Z0
	VADDPD  Z3, Z1, Z1
	VADDPD  Z1, Z0, Z0
	VMOVUPD (R10), Z4
	VSUBPD  Z0, Z4, Z4
	VMOVUPD Z4, (R10)
	VZEROUPPER
	RET

// func SubTileAVX512(x, y []float64, stride, m int, t []float64)
TEXT ·SubTileAVX512(SB), 0, $128-88
	MOVQ  x_base+0(FP), SI
	MOVQ  y_base+24(FP), DI
	MOVQ  stride+48(FP), R8
	MOVQ  m+56(FP), CX
	MOVQ  t_base+64(FP), R10
	ROWS
	LOAD_TILE
	TESTQ CX, CX
	JZ    store

loop1:
	VMOVUPD           (DI), Z8
	VFNMADD231PD.BCST (SI), Z8, Z0
	VFNMADD231PD.BCST (SI)(R8*1), Z8, Z1
	VFNMADD231PD.BCST (SI)(R8*2), Z8, Z2
	VFNMADD231PD.BCST (SI)(R9*1), Z8, Z3
	VFNMADD231PD.BCST (DX), Z8, Z4
	VFNMADD231PD.BCST (DX)(R8*1), Z8, Z5
	VFNMADD231PD.BCST (DX)(R8*2), Z8, Z6
	VFNMADD231PD.BCST (DX)(R9*1), Z8, Z7
	ADDQ              $8, SI
	ADDQ              $8, DX
	ADDQ              R8, DI
	DECQ              CX
	JNZ               loop1

store:
	STORE_TILE
	VZEROUPPER
	RET

// SCALE multiplies row c of the tile by 1/L_cc. X9 is 1.
#define SCALE(diagonal, row) \
	VDIVSD       diagonal, X9, X10 \
	VBROADCASTSD X10, Z10          \
	VMULPD       Z10, row, row

// func SolveTileAVX512(l []float64, stride int, t []float64)
TEXT ·SolveTileAVX512(SB), 0, $128-56
	MOVQ  l_base+0(FP), SI
	MOVQ  stride+24(FP), R8
	MOVQ  t_base+32(FP), R10
	ROWS
	LOAD_TILE
	MOVQ  $0x3ff0000000000000, AX // 1
	VMOVQ AX, X9

	SCALE((SI), Z0)
	VFNMADD231PD.BCST (SI)(R8*1), Z0, Z1
	VFNMADD231PD.BCST (SI)(R8*2), Z0, Z2
	VFNMADD231PD.BCST (SI)(R9*1), Z0, Z3
	VFNMADD231PD.BCST (DX), Z0, Z4
	VFNMADD231PD.BCST (DX)(R8*1), Z0, Z5
	VFNMADD231PD.BCST (DX)(R8*2), Z0, Z6
	VFNMADD231PD.BCST (DX)(R9*1), Z0, Z7

	SCALE(8(SI)(R8*1), Z1)
	VFNMADD231PD.BCST 8(SI)(R8*2), Z1, Z2
	VFNMADD231PD.BCST 8(SI)(R9*1), Z1, Z3
	VFNMADD231PD.BCST 8(DX), Z1, Z4
	VFNMADD231PD.BCST 8(DX)(R8*1), Z1, Z5
	VFNMADD231PD.BCST 8(DX)(R8*2), Z1, Z6
	VFNMADD231PD.BCST 8(DX)(R9*1), Z1, Z7

	SCALE(16(SI)(R8*2), Z2)
	VFNMADD231PD.BCST 16(SI)(R9*1), Z2, Z3
	VFNMADD231PD.BCST 16(DX), Z2, Z4
	VFNMADD231PD.BCST 16(DX)(R8*1), Z2, Z5
	VFNMADD231PD.BCST 16(DX)(R8*2), Z2, Z6
	VFNMADD231PD.BCST 16(DX)(R9*1), Z2, Z7

	SCALE(24(SI)(R9*1), Z3)
	VFNMADD231PD.BCST 24(DX), Z3, Z4
	VFNMADD231PD.BCST 24(DX)(R8*1), Z3, Z5
	VFNMADD231PD.BCST 24(DX)(R8*2), Z3, Z6
	VFNMADD231PD.BCST 24(DX)(R9*1), Z3, Z7

	SCALE(32(DX), Z4)
	VFNMADD231PD.BCST 32(DX)(R8*1), Z4, Z5
	VFNMADD231PD.BCST 32(DX)(R8*2), Z4, Z6
	VFNMADD231PD.BCST 32(DX)(R9*1), Z4, Z7

	SCALE(40(DX)(R8*1), Z5)
	VFNMADD231PD.BCST 40(DX)(R8*2), Z5, Z6
	VFNMADD231PD.BCST 40(DX)(R9*1), Z5, Z7

	SCALE(48(DX)(R8*2), Z6)
	VFNMADD231PD.BCST 48(DX)(R9*1), Z6, Z7

	SCALE(56(DX)(R9*1), Z7)
	STORE_TILE
	VZEROUPPER
	RET
