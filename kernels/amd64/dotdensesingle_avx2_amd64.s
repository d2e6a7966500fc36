//go:build !purego

// Dot products of dense columns of 32-bit elements, one behind another, with one vector.
//
// As DotDenseAVX2 does long ones, columns widened on the way.

#include "textflag.h"
#include "dense_avx2_amd64.h"

#define SIZE 4

#define BLOCK(offset, sum) \
	VCVTPS2PD   (offset/2)(SI), Y8  \
	VFMADD231PD offset(DI), Y8, sum

// The mask of 64-bit lanes becomes one of 32-bit lanes: every second word of it.
#define TAIL(offset, sum) \
	MASK_NEXT                            \
	VEXTRACTF128 $1, Y13, X9             \
	VSHUFPS      $136, X9, X13, X9       \
	VMASKMOVPS   (offset/2)(SI), X9, X8  \
	VCVTPS2PD    X8, Y8                  \
	VMASKMOVPD   offset(DI), Y13, Y9     \
	VFMADD231PD  Y9, Y8, sum

// func DotDenseSingleAVX2(values []float32, y, out []float64)
TEXT ·DotDenseSingleAVX2(SB), 0, $128-72
	MOVQ values_base+0(FP), SI
	MOVQ y_base+24(FP), R8
	MOVQ y_len+32(FP), CX
	MOVQ out_base+48(FP), R9
	MOVQ out_len+56(FP), R10

#include "densecolumns_avx2_amd64.h"
	VZEROUPPER
	RET
