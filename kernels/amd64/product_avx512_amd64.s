//go:build !purego

// Products: dst_i = x_i·y_i.
//
// 32 elements per iteration, as in axpy: the limit is one store a cycle.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI, DX  x and y, next elements      CX  elements left after the loop
//   DI  dst, next element               BX  blocks of 32 left
//   Z1..Z4  products                    K1..K4  masks of the tail

#define MULTIPLY(offset, v) \
	VMOVUPD offset(SI), v    \
	VMULPD  offset(DX), v, v \
	VMOVUPD v, offset(DI)

#define TAIL(offset, mask, v) \
	VMOVUPD.Z offset(SI), mask, v    \
	VMULPD.Z  offset(DX), v, mask, v \
	VMOVUPD   v, mask, offset(DI)

// func ProductAVX512(dst, x, y []float64)
TEXT ·ProductAVX512(SB), 0, $128-72
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	MOVQ y_base+48(FP), DX
	MOVQ CX, BX
	ANDQ $31, CX
	SHRQ $5, BX
	JZ   tail

loop32:
	MULTIPLY(0, Z1)
	MULTIPLY(64, Z2)
	MULTIPLY(128, Z3)
	MULTIPLY(192, Z4)
	ADDQ $256, SI
	ADDQ $256, DX
	ADDQ $256, DI
	DECQ BX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    done
	MASKS
	TAIL(0, K1, Z1)
	TAIL(64, K2, Z2)
	TAIL(128, K3, Z3)
	TAIL(192, K4, Z4)

done:
	VZEROUPPER
	RET
