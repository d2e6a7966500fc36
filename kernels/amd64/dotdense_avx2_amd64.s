//go:build !purego

// Dot products of dense columns, which follow one another, with one vector.
//
// Each has the order of DotAVX2. Short columns go four at a time, with a quarter of the partial sums of each at
// a time: a load of y serves four columns, and so do the last steps of the tree.

#include "textflag.h"
#include "dense_avx2_amd64.h"
#include "fourcolumns_avx2_amd64.h"
#include "fourdoubles_avx2_amd64.h"

#define SIZE 8

#define MASKS_FOUR FOUR_START

#define BLOCK(offset, sum) \
	VMOVUPD     offset(SI), Y8      \
	VFMADD231PD offset(DI), Y8, sum

#define TAIL(offset, sum) \
	MASK_NEXT                       \
	VMASKMOVPD  offset(SI), Y13, Y8 \
	VMASKMOVPD  offset(DI), Y13, Y9 \
	VFMADD231PD Y9, Y8, sum

// func DotDenseAVX2(values, y, out []float64)
TEXT ·DotDenseAVX2(SB), 0, $128-72

#include "dotdense_avx2_amd64.h"
