//go:build !purego

// Scaling: x_i ← a·x_i.
//
// 16 elements per iteration, as in the scaled update.

#include "textflag.h"

// Registers
//   SI  x, next element         CX  elements left
//   Y0  a in every lane         Y1..Y4  products

#define UPDATE(offset, v) \
	VMULPD  offset(SI), Y0, v \
	VMOVUPD v, offset(SI)

// func ScalAVX2(a float64, x []float64)
TEXT ·ScalAVX2(SB), 0, $128-32
	VBROADCASTSD a+0(FP), Y0
	MOVQ         x_base+8(FP), SI
	MOVQ         x_len+16(FP), CX
	SUBQ         $16, CX
	JLT          tail4

loop16:
	UPDATE(0, Y1)
	UPDATE(32, Y2)
	UPDATE(64, Y3)
	UPDATE(96, Y4)
	ADDQ $128, SI
	SUBQ $16, CX
	JGE  loop16

tail4:
	ADDQ $12, CX // elements left, less 4
	JLT  tail1

loop4:
	UPDATE(0, Y1)
	ADDQ $32, SI
	SUBQ $4, CX
	JGE  loop4

tail1:
	ADDQ $4, CX
	JZ   done

loop1:
	VMULSD (SI), X0, X1
	VMOVSD X1, (SI)
	ADDQ   $8, SI
	DECQ   CX
	JNZ    loop1

done:
	VZEROUPPER
	RET
