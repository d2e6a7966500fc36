//go:build !purego

// Sparse scaled update: y[rows[k]] ← fma(a, values[k], y[rows[k]]).
//
// 4 entries per iteration, scalar: entries are read and written one by one
// anyway, and the limit is the load and store of y. Rows are distinct, so the
// order is immaterial. Only X registers are used.

#include "textflag.h"
#include "update_avx2_amd64.h"

// func AxpyIndexedAVX2(a float64, values []float64, rows []int32, y []float64)
TEXT ·AxpyIndexedAVX2(SB), 0, $128-80
	VMOVSD a+0(FP), X0
	MOVQ   values_base+8(FP), SI
	MOVQ   values_len+16(FP), CX
	MOVQ   rows_base+32(FP), DX
	MOVQ   y_base+56(FP), DI
	SUBQ   $4, CX
	JLT    tail

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
	JZ    done
	UPDATE_LAST

done:
	RET
