//go:build !purego

// Dot products of dense columns, one behind another, with one vector.
//
// Each is that of DotAVX2, in the same order. Short columns go four at a time, a quarter of the partial
// sums of each after another: a load of y serves four, and so do the last steps of the tree.

#include "textflag.h"
#include "dense_avx2_amd64.h"
#include "fourcolumns_avx2_amd64.h"
#include "fourdoubles_avx2_amd64.h"

#define SIZE 8

#define BLOCK(offset, sum) \
	VMOVUPD     offset(SI), Y8      \
	VFMADD231PD offset(DI), Y8, sum

#define TAIL(offset, sum) \
	MASK_NEXT                       \
	VMASKMOVPD  offset(SI), Y13, Y8 \
	VMASKMOVPD  offset(DI), Y13, Y9 \
	VFMADD231PD Y9, Y8, sum

// The longest columns that go four at a time, which are met in strides of 32 elements.
#define SHORT 128

// func DotDenseAVX2(values, y, out []float64)
TEXT ·DotDenseAVX2(SB), 0, $128-72
	MOVQ values_base+0(FP), SI
	MOVQ y_base+24(FP), R8
	MOVQ y_len+32(FP), CX
	MOVQ out_base+48(FP), R9
	MOVQ out_len+56(FP), R13
	CMPQ CX, $SHORT
	JGT  long
	CMPQ R13, $4
	JLT  long
	LEAQ (CX*8), R12
	FOUR_START

four:
	LEAQ    (SI)(R12*1), DI
	LEAQ    (SI)(R12*2), R10
	LEAQ    (DI)(R12*2), R11
	FOUR_COLUMNS
	VMOVUPD Y4, (R9)
	ADDQ    $32, R9
	LEAQ    (SI)(R12*4), SI
	SUBQ    $4, R13
	CMPQ    R13, $4
	JGE     four
	TESTQ   R13, R13
	JZ      end
	MOVQ    y_len+32(FP), CX

long:
	MOVQ R13, R10

#include "densecolumns_avx2_amd64.h"

end:
	VZEROUPPER
	RET
