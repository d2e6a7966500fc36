//go:build !purego

// Sparse columns, each times its coefficient, added to a dense vector:
// y[rows[k]] ← fma(a[c], values[k], y[rows[k]]) over the entries from[c] ≤ k < to[c],
// column after column.
//
// Each column is done as in AxpyIndexedAVX2, with the same bits, without a call per column.
// Columns may lie anywhere, so the first cache line of each is prefetched, four columns ahead.
//
// It stops before a column that is not within rows, or with which it would exceed
// 8,192 entries in all, and returns the number of columns done.

#include "textflag.h"
#include "update_avx2_amd64.h"

// Registers, beside those of the shared macros
//   R8   from                   R11  to                   R9   a
//   R10  column                 R12  entries so far       R13  all values

// func AxpySpansAVX2(a []float64, from, to []int64, rows []int32, values, y []float64) (done int)
TEXT ·AxpySpansAVX2(SB), 0, $128-152
	MOVQ a_base+0(FP), R9
	MOVQ from_base+24(FP), R8
	MOVQ to_base+48(FP), R11
	MOVQ values_base+96(FP), R13
	MOVQ y_base+120(FP), DI
	XORQ R10, R10
	XORQ R12, R12

column:
	CMPQ       R10, a_len+8(FP)
	JGE        done
	MOVQ       (R8)(R10*8), AX
	MOVQ       (R11)(R10*8), CX
	CMPQ       CX, rows_len+80(FP)
	JHI        done                 // unsigned: also if it is negative
	CMPQ       AX, CX
	JHI        done
	LEAQ       (R13)(AX*8), SI
	MOVQ       rows_base+72(FP), DX
	LEAQ       (DX)(AX*4), DX
	SUBQ       AX, CX               // entries of this column
	ADDQ       CX, R12
	CMPQ       R12, $8192
	JGT        done
	VMOVSD     (R9)(R10*8), X0
	INCQ       R10
	LEAQ       3(R10), AX
	CMPQ       AX, a_len+8(FP)
	JGE        entries
	MOVQ       (R8)(AX*8), AX
	MOVQ       rows_base+72(FP), BX
	PREFETCHT0 (R13)(AX*8)          // never faults, whatever is there
	PREFETCHT0 (BX)(AX*4)

entries:
	SUBQ $4, CX
	JLT  tail

loop4:
	UPDATE(0, 0)
	UPDATE(16, 8)
	ADDQ $32, SI
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  loop4

tail:
	TESTQ $2, CX  // the low bits of CX − 4 are those of CX
	JZ    tail1
	UPDATE(0, 0)
	ADDQ  $16, SI
	ADDQ  $8, DX

tail1:
	TESTQ $1, CX
	JZ    column
	UPDATE_LAST
	JMP   column

done:
	MOVQ R10, done+144(FP)
	RET
