//go:build !purego

// Sparse columns times 8 interleaved dense vectors: out[8c+l] += Σ values[k]·y[8·(rows[k]−first)+l] over the
// entries from[c] ≤ k < to[c], l = 0 … 7.
//
// Each column is done as in DotLanesAVX2, with the same bits. Columns that are cut into blocks of rows are short,
// and a call for each would cost as much as their entries. It stops where DotSpansAVX2 does.
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y, less 8·first
//   CX  entries left            AX  offset of a row       R9  out of the column
//   R8  from                    R11  to                   R13  all values
//   R10  column                 R12  entries so far
//   Y0, Y1  sum 0 of lanes 0–3, 4–7     Y2, Y3  sum 1
//   Y4, Y5  sum 2                       Y6, Y7  sum 3
//   Y8  the value, in every lane

#include "textflag.h"

// One entry into a pair of registers.
#define ENTRY(values, rows, low, high) \
	MOVL         rows(DX), AX           \
	SHLQ         $6, AX                 \
	VBROADCASTSD values(SI), Y8         \
	VFMADD231PD  (DI)(AX*1), Y8, low    \
	VFMADD231PD  32(DI)(AX*1), Y8, high

// func AddLanesAVX2(from, to []int64, rows []int32, values, y []float64, first int, out []float64) (done int)
TEXT ·AddLanesAVX2(SB), 0, $128-160
	MOVQ from_base+0(FP), R8
	MOVQ to_base+24(FP), R11
	MOVQ values_base+72(FP), R13
	MOVQ y_base+96(FP), DI
	MOVQ first+120(FP), AX
	MOVQ out_base+128(FP), R9
	SHLQ $6, AX
	SUBQ AX, DI
	XORQ R10, R10
	XORQ R12, R12

column:
	CMPQ R10, from_len+8(FP)
	JGE  done
	MOVQ (R8)(R10*8), AX
	MOVQ (R11)(R10*8), CX
	CMPQ CX, rows_len+56(FP)
	JHI  done                 // unsigned: also if it is negative
	CMPQ AX, CX
	JHI  done
	LEAQ (R13)(AX*8), SI
	MOVQ rows_base+48(FP), DX
	LEAQ (DX)(AX*4), DX
	SUBQ AX, CX               // entries of this column
	ADDQ CX, R12
	CMPQ R12, $8192
	JGT  done

#include "lanes_avx2_amd64.h"
	VADDPD  (R9), Y0, Y0
	VADDPD  32(R9), Y1, Y1
	VMOVUPD Y0, (R9)
	VMOVUPD Y1, 32(R9)
	ADDQ    $64, R9
	INCQ    R10
	JMP     column

done:
	MOVQ R10, done+152(FP)
	VZEROUPPER
	RET
