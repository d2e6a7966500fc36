//go:build !purego

// Scaled update of a 64-bit vector by a 32-bit one: y_i ← fma(a, x_i, y_i).
//
// As AxpyAVX2, x widened on the way.

#include "textflag.h"

// Registers
//   SI  x, next element         CX  elements left
//   DI  y, next element         Y0  a in every lane
//   Y1..Y4  y                   Y5..Y8  x

#define UPDATE(single, double, u, v) \
	VCVTPS2PD   single(SI), u \
	VMOVUPD     double(DI), v \
	VFMADD231PD u, Y0, v      \
	VMOVUPD     v, double(DI)

// func AxpySingleAVX2(a float64, x []float32, y []float64)
TEXT ·AxpySingleAVX2(SB), 0, $128-56
	VBROADCASTSD a+0(FP), Y0
	MOVQ         x_base+8(FP), SI
	MOVQ         x_len+16(FP), CX
	MOVQ         y_base+32(FP), DI
	SUBQ         $16, CX
	JLT          tail4

loop16:
	UPDATE(0, 0, Y5, Y1)
	UPDATE(16, 32, Y6, Y2)
	UPDATE(32, 64, Y7, Y3)
	UPDATE(48, 96, Y8, Y4)
	ADDQ $64, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JGE  loop16

tail4:
	ADDQ $12, CX // elements left, less 4
	JLT  tail1

loop4:
	UPDATE(0, 0, Y5, Y1)
	ADDQ $16, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JGE  loop4

tail1:
	ADDQ $4, CX
	JZ   done

loop1:
	VMOVSS      (SI), X5
	VCVTSS2SD   X5, X5, X5
	VMOVSD      (DI), X1
	VFMADD231SD X5, X0, X1
	VMOVSD      X1, (DI)
	ADDQ        $4, SI
	ADDQ        $8, DI
	DECQ        CX
	JNZ         loop1

done:
	VZEROUPPER
	RET
