//go:build !purego

// Sparse scaled update of 8 interleaved dense vectors:
// y[8·rows[k]+l] ← fma(a[l], values[k], y[8·rows[k]+l]), l = 0 … 7.
//
// A row is one register and one cache line. 2 entries per iteration; rows are
// distinct, so the order is immaterial.
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y
//   CX  entries left            AX, BX  offsets of rows
//   Z0  a                       Z3, Z4  of y

#include "textflag.h"

// func AxpyLanesAVX512(a *[8]float64, values []float64, rows []int32, y []float64)
TEXT ·AxpyLanesAVX512(SB), 0, $128-80
	MOVQ    a+0(FP), AX
	VMOVUPD (AX), Z0
	MOVQ    values_base+8(FP), SI
	MOVQ    values_len+16(FP), CX
	MOVQ    rows_base+32(FP), DX
	MOVQ    y_base+56(FP), DI
	SUBQ    $2, CX
	JLT     tail

loop2:
	MOVL             (DX), AX
	MOVL             4(DX), BX
	SHLQ             $6, AX
	SHLQ             $6, BX
	VMOVUPD          (DI)(AX*1), Z3
	VMOVUPD          (DI)(BX*1), Z4
	VFMADD231PD.BCST (SI), Z0, Z3
	VFMADD231PD.BCST 8(SI), Z0, Z4
	VMOVUPD          Z3, (DI)(AX*1)
	VMOVUPD          Z4, (DI)(BX*1)
	ADDQ             $16, SI
	ADDQ             $8, DX
	SUBQ             $2, CX
	JGE              loop2

tail:
	TESTQ            $1, CX         // the low bit of CX − 2 is that of CX
	JZ               done
	MOVL             (DX), AX
	SHLQ             $6, AX
	VMOVUPD          (DI)(AX*1), Z3
	VFMADD231PD.BCST (SI), Z0, Z3
	VMOVUPD          Z3, (DI)(AX*1)

done:
	VZEROUPPER
	RET
