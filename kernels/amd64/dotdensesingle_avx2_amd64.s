//go:build !purego

// Dot products of dense columns of 32-bit elements, which follow one another, with one vector.
//
// As DotDenseAVX2, with elements widened as they are loaded.

#include "textflag.h"
#include "dense_avx2_amd64.h"
#include "fourcolumns_avx2_amd64.h"

#define SIZE 4

#define BLOCK(offset, sum) \
	VCVTPS2PD   ((offset)/2)(SI), Y8 \
	VFMADD231PD offset(DI), Y8, sum

// NARROW makes the mask of 64-bit lanes one of 32-bit lanes: every second word of it.
#define NARROW(wide, narrow, part) \
	VEXTRACTF128 $1, wide, narrow           \
	VSHUFPS      $136, narrow, part, narrow

#define TAIL(offset, sum) \
	MASK_NEXT                            \
	NARROW(Y13, X9, X13)                 \
	VMASKMOVPS  ((offset)/2)(SI), X9, X8 \
	VCVTPS2PD   X8, Y8                   \
	VMASKMOVPD  offset(DI), Y13, Y9      \
	VFMADD231PD Y9, Y8, sum

#define MASKS_FOUR \
	FOUR_START            \
	NARROW(Y13, X15, X13)

// AX is the offset of a block of a column, Y15 the mask of its tail.
#define FOUR(offset, s0, s1, s2, s3) \
	VMOVUPD     offset(R8)(AX*2), Y12        \
	VCVTPS2PD   ((offset)/2)(SI)(AX*1), Y14  \
	VFMADD231PD Y14, Y12, s0                 \
	VCVTPS2PD   ((offset)/2)(DI)(AX*1), Y14  \
	VFMADD231PD Y14, Y12, s1                 \
	VCVTPS2PD   ((offset)/2)(R10)(AX*1), Y14 \
	VFMADD231PD Y14, Y12, s2                 \
	VCVTPS2PD   ((offset)/2)(R11)(AX*1), Y14 \
	VFMADD231PD Y14, Y12, s3

#define FOUR_TAIL(offset, s0, s1, s2, s3) \
	VMASKMOVPD  offset(R8)(AX*2), Y13, Y12        \
	VMASKMOVPS  ((offset)/2)(SI)(AX*1), X15, X14  \
	VCVTPS2PD   X14, Y14                          \
	VFMADD231PD Y12, Y14, s0                      \
	VMASKMOVPS  ((offset)/2)(DI)(AX*1), X15, X14  \
	VCVTPS2PD   X14, Y14                          \
	VFMADD231PD Y12, Y14, s1                      \
	VMASKMOVPS  ((offset)/2)(R10)(AX*1), X15, X14 \
	VCVTPS2PD   X14, Y14                          \
	VFMADD231PD Y12, Y14, s2                      \
	VMASKMOVPS  ((offset)/2)(R11)(AX*1), X15, X14 \
	VCVTPS2PD   X14, Y14                          \
	VFMADD231PD Y12, Y14, s3

// func DotDenseSingleAVX2(values []float32, y, out []float64)
TEXT ·DotDenseSingleAVX2(SB), 0, $128-72

#include "dotdense_avx2_amd64.h"
