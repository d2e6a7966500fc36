//go:build !purego

// Scaled update: y_i ← fma(a, x_i, y_i).
//
// 16 elements per iteration. Elements do not depend on one another: the unroll
// only spreads the cost of the loop, and the limit is one store a cycle.

#include "textflag.h"

// Registers
//   SI  x, next element         CX  elements left
//   DI  y, next element         Y0  a in every lane
//   Y1..Y4  operands and results

#define UPDATE(offset, v) \
	VMOVUPD     offset(DI), v     \
	VFMADD231PD offset(SI), Y0, v \
	VMOVUPD     v, offset(DI)

// func AxpyAVX2(a float64, x, y []float64)
TEXT ·AxpyAVX2(SB), 0, $128-56
	VBROADCASTSD a+0(FP), Y0
	MOVQ         x_base+8(FP), SI
	MOVQ         x_len+16(FP), CX
	MOVQ         y_base+32(FP), DI
	SUBQ         $16, CX
	JLT          tail4

loop16:
	UPDATE(0, Y1)
	UPDATE(32, Y2)
	UPDATE(64, Y3)
	UPDATE(96, Y4)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JGE  loop16

tail4:
	ADDQ $12, CX // elements left, less 4
	JLT  tail1

loop4:
	UPDATE(0, Y1)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JGE  loop4

tail1:
	ADDQ $4, CX
	JZ   done

loop1:
	VMOVSD      (DI), X1
	VFMADD231SD (SI), X0, X1
	VMOVSD      X1, (DI)
	ADDQ        $8, SI
	ADDQ        $8, DI
	DECQ        CX
	JNZ         loop1

done:
	VZEROUPPER
	RET
