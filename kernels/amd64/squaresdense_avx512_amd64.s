//go:build !purego

// Sums of squares of dense columns, which follow one another, weighted by one vector.
//
// Each is DotAVX512 of the column and its elementwise product with the vector, in the same order.

#include "textflag.h"
#include "dense_avx512_amd64.h"

#define SIZE 8

#define BLOCK(offset, sum) \
	VMOVUPD     offset(SI), Z8      \
	VMULPD      offset(DI), Z8, Z10 \
	VFMADD231PD Z10, Z8, sum

#define TAIL(offset, mask, sum) \
	VMOVUPD.Z   offset(SI), mask, Z8      \
	VMULPD.Z    offset(DI), Z8, mask, Z10 \
	VFMADD231PD Z10, Z8, mask, sum

// func SquaresDenseAVX512(values, y, out []float64)
TEXT ·SquaresDenseAVX512(SB), 0, $128-72
	MOVQ values_base+0(FP), SI
	MOVQ y_base+24(FP), R8
	MOVQ y_len+32(FP), CX
	MOVQ out_base+48(FP), R9
	MOVQ out_len+56(FP), R10

#include "densecolumns_avx512_amd64.h"
	VZEROUPPER
	RET
