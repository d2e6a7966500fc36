//go:build !purego

// Sparse columns times dense vector: out[c] = Σ values[k]·y[rows[k]] over the
// entries from[c] ≤ k < to[c].
//
// Each column is done as in DotIndexedAVX2, with the same bits. For short columns,
// a call per column would be a good part of the time. The cost that remains is
// mispredicted branches, which a caller avoids by sorting columns by length: the
// branches below then go the same way many times in a row.
//
// It stops before a column that is not within rows, or with which it would exceed
// 8,192 entries in all, and returns the number of columns done.

#include "textflag.h"
#include "indexed_avx2_amd64.h"

// Registers, beside those of the shared macros
//   R8   from                   R11  to                   R9   out
//   R10  column                 R12  entries so far
//   R13  all values

// func DotSpansAVX2(from, to []int64, rows []int32, values, y, out []float64) (done int)
TEXT ·DotSpansAVX2(SB), 0, $128-152
	MOVQ from_base+0(FP), R8
	MOVQ to_base+24(FP), R11
	MOVQ values_base+72(FP), R13
	MOVQ y_base+96(FP), DI
	MOVQ out_base+120(FP), R9
	XORQ R10, R10
	XORQ R12, R12

column:
	CMPQ   R10, out_len+128(FP)
	JGE    done
	MOVQ   (R8)(R10*8), AX
	MOVQ   (R11)(R10*8), CX
	CMPQ   CX, rows_len+56(FP)
	JHI    done                 // unsigned: also if it is negative
	CMPQ   AX, CX
	JHI    done
	LEAQ   (R13)(AX*8), SI
	MOVQ   rows_base+48(FP), DX
	LEAQ   (DX)(AX*4), DX
	SUBQ   AX, CX               // entries of this column
	ADDQ   CX, R12
	CMPQ   R12, $8192
	JGT    done
	VXORPD X0, X0, X0
	VXORPD X1, X1, X1
	SUBQ   $4, CX
	JLT    tail

loop4:
	PREFETCHT0 2048(SI) // never faults, whatever is there
	PREFETCHT0 1024(DX)
	PAIR(0, 0, X0)
	PAIR(16, 8, X1)
	ADDQ       $32, SI
	ADDQ       $16, DX
	SUBQ       $4, CX
	JGE        loop4

tail:
	TESTQ $2, CX // the low bits of CX − 4 are those of CX
	JZ    tail1
	PAIR(0, 0, X0)
	TESTQ $1, CX
	JZ    fold
	SINGLE(16, 8, X1)
	JMP   fold

tail1:
	TESTQ $1, CX
	JZ    fold
	SINGLE(0, 0, X0)

fold:
	FOLD_SUMS
	VMOVSD X0, (R9)(R10*8)
	INCQ   R10
	JMP    column

done:
	MOVQ R10, done+144(FP)
	RET
