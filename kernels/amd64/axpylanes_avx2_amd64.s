//go:build !purego

// Sparse scaled update of 8 interleaved dense vectors:
// y[8·rows[k]+l] ← fma(a[l], values[k], y[8·rows[k]+l]), l = 0 … 7.
//
// A row is one cache line. One entry per iteration: its work is enough to hide
// the cost of the loop.
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y
//   CX  entries left            AX  offset of a row
//   Y0, Y1  a                   Y2  the value             Y3, Y4  of y

#include "textflag.h"

// func AxpyLanesAVX2(a *[8]float64, values []float64, rows []int32, y []float64)
TEXT ·AxpyLanesAVX2(SB), 0, $128-80
	MOVQ    a+0(FP), AX
	VMOVUPD (AX), Y0
	VMOVUPD 32(AX), Y1
	MOVQ    values_base+8(FP), SI
	MOVQ    values_len+16(FP), CX
	MOVQ    rows_base+32(FP), DX
	MOVQ    y_base+56(FP), DI
	TESTQ   CX, CX
	JZ      done

loop1:
	MOVL         (DX), AX
	SHLQ         $6, AX
	VBROADCASTSD (SI), Y2
	VMOVUPD      (DI)(AX*1), Y3
	VMOVUPD      32(DI)(AX*1), Y4
	VFMADD231PD  Y2, Y0, Y3
	VFMADD231PD  Y2, Y1, Y4
	VMOVUPD      Y3, (DI)(AX*1)
	VMOVUPD      Y4, 32(DI)(AX*1)
	ADDQ         $8, SI
	ADDQ         $4, DX
	DECQ         CX
	JNZ          loop1

done:
	VZEROUPPER
	RET
