//go:build !purego

// Products: dst_i = x_i·y_i.
//
// 16 elements per iteration, as in axpy: the limit is one store a cycle.

#include "textflag.h"

// Registers
//   SI, DX  x and y, next elements      CX  elements left
//   DI  dst, next element               Y1..Y4  products

#define MULTIPLY(offset, v) \
	VMOVUPD offset(SI), v    \
	VMULPD  offset(DX), v, v \
	VMOVUPD v, offset(DI)

// func ProductAVX2(dst, x, y []float64)
TEXT ·ProductAVX2(SB), 0, $128-72
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	MOVQ y_base+48(FP), DX
	SUBQ $16, CX
	JLT  tail4

loop16:
	MULTIPLY(0, Y1)
	MULTIPLY(32, Y2)
	MULTIPLY(64, Y3)
	MULTIPLY(96, Y4)
	ADDQ $128, SI
	ADDQ $128, DX
	ADDQ $128, DI
	SUBQ $16, CX
	JGE  loop16

tail4:
	ADDQ $12, CX // elements left, less 4
	JLT  tail1

loop4:
	MULTIPLY(0, Y1)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $4, CX
	JGE  loop4

tail1:
	ADDQ $4, CX
	JZ   done

loop1:
	VMOVSD (SI), X1
	VMULSD (DX), X1, X1
	VMOVSD X1, (DI)
	ADDQ   $8, SI
	ADDQ   $8, DX
	ADDQ   $8, DI
	DECQ   CX
	JNZ    loop1

done:
	VZEROUPPER
	RET
