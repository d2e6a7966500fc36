//go:build !purego

// Dot products of dense columns of 32-bit elements, which follow one another, with one vector.
//
// As DotDenseAVX512, with elements widened as they are loaded.

#include "textflag.h"
#include "dense_avx512_amd64.h"

#define SIZE 4

#define BLOCK(offset, sum) \
	VCVTPS2PD   (offset/2)(SI), Z8  \
	VFMADD231PD offset(DI), Z8, sum

#define TAIL(offset, mask, sum) \
	VCVTPS2PD.Z (offset/2)(SI), mask, Z8  \
	VFMADD231PD offset(DI), Z8, mask, sum

// func DotDenseSingleAVX512(values []float32, y, out []float64)
TEXT ·DotDenseSingleAVX512(SB), 0, $128-72
	MOVQ values_base+0(FP), SI
	MOVQ y_base+24(FP), R8
	MOVQ y_len+32(FP), CX
	MOVQ out_base+48(FP), R9
	MOVQ out_len+56(FP), R10

#include "densecolumns_avx512_amd64.h"
	VZEROUPPER
	RET
