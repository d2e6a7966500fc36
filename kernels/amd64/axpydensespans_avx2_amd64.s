//go:build !purego

// Dense columns that lie anywhere, each times its coefficient, added to a vector.
//
// y_i ← fma(a[c], x_i, y_i) for the elements x_i of column c, column after column. All columns are added to 32 rows
// of y, which stay in registers, then to the next 32; at last to 16 rows and to the rest.

#include "textflag.h"
#include "dense_avx2_amd64.h"

// Registers
//   R12 from                    R9  a
//   R13 columns                 BX  column
//   R8  values, next row        SI  elements of a column
//   DI  y, next element         CX  rows left
//   Y0..Y7 elements of y        Y8  coefficient, and Y9 elements of a column in the tail
//   Y10, Y11 masks of the tail, with Y12 and Y13; Y14, Y15 as there

#define COLUMN \
	MOVQ         (R12)(BX*8), SI \
	LEAQ         (R8)(SI*8), SI  \
	VBROADCASTSD (R9)(BX*8), Y8

#define NEXT(column) \
	INCQ BX      \
	CMPQ BX, R13 \
	JLT  column

#define TAIL(offset, mask, y) \
	VMASKMOVPD  offset(SI), mask, Y9 \
	VFMADD231PD Y9, Y8, y

// func AxpyDenseSpansAVX2(a []float64, from []int64, values, y []float64)
TEXT ·AxpyDenseSpansAVX2(SB), 0, $128-96
	MOVQ a_base+0(FP), R9
	MOVQ from_base+24(FP), R12
	MOVQ from_len+32(FP), R13
	MOVQ values_base+48(FP), R8
	MOVQ y_base+72(FP), DI
	MOVQ y_len+80(FP), CX

rows32:
	CMPQ    CX, $32
	JLT     rows16
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	VMOVUPD 128(DI), Y4
	VMOVUPD 160(DI), Y5
	VMOVUPD 192(DI), Y6
	VMOVUPD 224(DI), Y7
	XORQ    BX, BX

column32:
	COLUMN
	VFMADD231PD (SI), Y8, Y0
	VFMADD231PD 32(SI), Y8, Y1
	VFMADD231PD 64(SI), Y8, Y2
	VFMADD231PD 96(SI), Y8, Y3
	VFMADD231PD 128(SI), Y8, Y4
	VFMADD231PD 160(SI), Y8, Y5
	VFMADD231PD 192(SI), Y8, Y6
	VFMADD231PD 224(SI), Y8, Y7
	NEXT(column32)
	VMOVUPD     Y0, (DI)
	VMOVUPD     Y1, 32(DI)
	VMOVUPD     Y2, 64(DI)
	VMOVUPD     Y3, 96(DI)
	VMOVUPD     Y4, 128(DI)
	VMOVUPD     Y5, 160(DI)
	VMOVUPD     Y6, 192(DI)
	VMOVUPD     Y7, 224(DI)
	ADDQ        $256, DI
	ADDQ        $256, R8
	SUBQ        $32, CX
	JMP         rows32

rows16:
	CMPQ    CX, $16
	JLT     tail
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	XORQ    BX, BX

column16:
	COLUMN
	VFMADD231PD (SI), Y8, Y0
	VFMADD231PD 32(SI), Y8, Y1
	VFMADD231PD 64(SI), Y8, Y2
	VFMADD231PD 96(SI), Y8, Y3
	NEXT(column16)
	VMOVUPD     Y0, (DI)
	VMOVUPD     Y1, 32(DI)
	VMOVUPD     Y2, 64(DI)
	VMOVUPD     Y3, 96(DI)
	ADDQ        $128, DI
	ADDQ        $128, R8
	SUBQ        $16, CX

tail:
	TESTQ      CX, CX
	JZ         end
	MASK_START
	VPCMPGTQ   Y14, Y15, Y10
	VPSUBQ     Y12, Y15, Y15
	VPCMPGTQ   Y14, Y15, Y11
	VPSUBQ     Y12, Y15, Y15
	VPCMPGTQ   Y14, Y15, Y13
	VPSUBQ     Y12, Y15, Y15
	VPCMPGTQ   Y14, Y15, Y12
	VMASKMOVPD (DI), Y10, Y0
	VMASKMOVPD 32(DI), Y11, Y1
	VMASKMOVPD 64(DI), Y13, Y2
	VMASKMOVPD 96(DI), Y12, Y3
	XORQ       BX, BX

column:
	COLUMN
	TAIL(0, Y10, Y0)
	TAIL(32, Y11, Y1)
	TAIL(64, Y13, Y2)
	TAIL(96, Y12, Y3)
	NEXT(column)
	VMASKMOVPD Y0, Y10, (DI)
	VMASKMOVPD Y1, Y11, 32(DI)
	VMASKMOVPD Y2, Y13, 64(DI)
	VMASKMOVPD Y3, Y12, 96(DI)

end:
	VZEROUPPER
	RET
