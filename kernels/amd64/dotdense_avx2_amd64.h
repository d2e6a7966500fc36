// What the kernels of dot products of dense columns share on AVX2, within a function: short columns four at a time, longer ones one behind
// another. SIZE, BLOCK, TAIL, FOUR, FOUR_TAIL and MASKS_FOUR, the masks of the tail of four columns, are those of the file that includes this.

// The longest columns that go four at a time, which are met in strides of 32 elements.
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
