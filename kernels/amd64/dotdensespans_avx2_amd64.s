//go:build !purego

// Dot products of dense columns that lie anywhere with one vector.
//
// Each has the order of DotAVX2, four columns at a time. The last step takes the last four columns, of which
// some may have been done before.

#include "textflag.h"
#include "dense_avx2_amd64.h"
#include "fourcolumns_avx2_amd64.h"
#include "fourdoubles_avx2_amd64.h"

#define SIZE 8

// Registers, beside those of four columns
//   R12 from, next column       R13 columns left
//   R9  out, next element

#define START(c, column) \
	MOVQ c*8(R12), column       \
	LEAQ (AX)(column*8), column

// func DotDenseSpansAVX2(from []int64, values, y, out []float64)
TEXT ·DotDenseSpansAVX2(SB), 0, $128-96
	MOVQ from_base+0(FP), R12
	MOVQ from_len+8(FP), R13
	MOVQ y_base+48(FP), R8
	MOVQ y_len+56(FP), CX
	MOVQ out_base+72(FP), R9
	FOUR_START

four:
	MOVQ    values_base+24(FP), AX
	START(0, SI)
	START(1, DI)
	START(2, R10)
	START(3, R11)
	FOUR_COLUMNS
	VMOVUPD Y4, (R9)
	ADDQ    $32, R9
	ADDQ    $32, R12
	SUBQ    $4, R13
	JZ      end
	CMPQ    R13, $4
	JGE     four
	LEAQ    -32(R12)(R13*8), R12
	LEAQ    -32(R9)(R13*8), R9
	MOVQ    $4, R13
	JMP     four

end:
	VZEROUPPER
	RET
