//go:build !purego

// Dot products of dense columns, which follow one another, with one vector.
//
// Each has the order of DotAVX512; the masks of the tail are made once.

#include "textflag.h"
#include "dense_avx512_amd64.h"

#define SIZE 8

#define BLOCK(offset, sum) \
	VMOVUPD     offset(SI), Z8      \
	VFMADD231PD offset(DI), Z8, sum

#define TAIL(offset, mask, sum) \
	VMOVUPD.Z   offset(SI), mask, Z8      \
	VFMADD231PD offset(DI), Z8, mask, sum

// func DotDenseAVX512(values, y, out []float64)
TEXT ·DotDenseAVX512(SB), 0, $128-72
	MOVQ values_base+0(FP), SI
	MOVQ y_base+24(FP), R8
	MOVQ y_len+32(FP), CX
	MOVQ out_base+48(FP), R9
	MOVQ out_len+56(FP), R10

#include "densecolumns_avx512_amd64.h"
	VZEROUPPER
	RET
