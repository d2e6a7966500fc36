//go:build !purego

// Sparse columns times dense vector: out[c] = Σ values[k]·y[rows[k]] over the
// entries k from colPtr[c] to colPtr[c+1].
//
// Every column as in DotIndexedAVX2, with the same bits. What a call per column
// would cost is a good part of a short column's time; what remains of it are
// mispredicted branches, which a caller avoids by sorting columns by length:
// the tests below then go the same way many times in a row. Entries of
// consecutive columns are adjacent, so the pointers simply run on.

#include "textflag.h"
#include "indexed_avx2_amd64.h"

// Registers, beside those of the shared macros
//   R8   colPtr, next column    R9  out, next column      R10  columns left
//   R11  where the column ends

// func DotColumnsAVX2(colPtr []int64, rows []int32, values, y, out []float64)
TEXT ·DotColumnsAVX2(SB), 0, $128-120
	MOVQ  colPtr_base+0(FP), R8
	MOVQ  rows_base+24(FP), DX
	MOVQ  values_base+48(FP), SI
	MOVQ  y_base+72(FP), DI
	MOVQ  out_base+96(FP), R9
	MOVQ  out_len+104(FP), R10
	TESTQ R10, R10
	JZ    done
	MOVQ  (R8), R11
	LEAQ  (DX)(R11*4), DX
	LEAQ  (SI)(R11*8), SI

column:
	MOVQ   8(R8), CX
	SUBQ   R11, CX       // entries of this column
	ADDQ   CX, R11
	ADDQ   $8, R8
	VXORPD X0, X0, X0
	VXORPD X1, X1, X1
	SUBQ   $4, CX
	JLT    tail

loop4:
	PAIR(0, 0, X0)
	PAIR(16, 8, X1)
	ADDQ $32, SI
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  loop4

tail:
	TESTQ $2, CX // the low bits of CX − 4 are those of CX
	JZ    tail1
	PAIR(0, 0, X0)
	TESTQ $1, CX
	JZ    two
	SINGLE(16, 8, X1)
	ADDQ  $24, SI
	ADDQ  $12, DX
	JMP   fold

two:
	ADDQ $16, SI
	ADDQ $8, DX
	JMP  fold

tail1:
	TESTQ $1, CX
	JZ    fold
	SINGLE(0, 0, X0)
	ADDQ  $8, SI
	ADDQ  $4, DX

fold:
	FOLD_SUMS
	VMOVSD X0, (R9)
	ADDQ   $8, R9
	DECQ   R10
	JNZ    column

done:
	RET
