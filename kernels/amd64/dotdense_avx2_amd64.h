// Dot products of dense columns on AVX2: short columns four at a time, longer columns one after another. The file that includes this,
// within a function, defines SIZE, BLOCK, TAIL, FOUR, FOUR_TAIL and MASKS_FOUR, the masks of the tail of four columns.

// The length of the longest columns that go four at a time, which are read in strides of 32 elements.
#define SHORT 128

	MOVQ values_base+0(FP), SI
	MOVQ y_base+24(FP), R8
	MOVQ y_len+32(FP), CX
	MOVQ out_base+48(FP), R9
	MOVQ out_len+56(FP), R13
	CMPQ CX, $SHORT
	JGT  long
	CMPQ R13, $4
	JLT  long
	LEAQ (CX*SIZE), R12
	MASKS_FOUR

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
