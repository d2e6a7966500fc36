//go:build !purego

// Sums of squares of dense columns, which follow one another, weighted by one vector.
//
// Each is DotAVX2 of the column and its elementwise product with the vector, in the same order.

#include "textflag.h"
#include "dense_avx2_amd64.h"

#define SIZE 8

#define BLOCK(offset, sum) \
	VMOVUPD     offset(SI), Y8     \
	VMULPD      offset(DI), Y8, Y9 \
	VFMADD231PD Y9, Y8, sum

#define TAIL(offset, sum) \
	MASK_NEXT                       \
	VMASKMOVPD  offset(SI), Y13, Y8 \
	VMASKMOVPD  offset(DI), Y13, Y9 \
	VMULPD      Y9, Y8, Y9          \
	VFMADD231PD Y9, Y8, sum

// func SquaresDenseAVX2(values, y, out []float64)
TEXT ·SquaresDenseAVX2(SB), 0, $128-72
	MOVQ values_base+0(FP), SI
	MOVQ y_base+24(FP), R8
	MOVQ y_len+32(FP), CX
	MOVQ out_base+48(FP), R9
	MOVQ out_len+56(FP), R10

#include "densecolumns_avx2_amd64.h"
	VZEROUPPER
	RET
