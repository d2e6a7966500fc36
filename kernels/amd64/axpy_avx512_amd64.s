//go:build !purego

// Scaled update: y_i ← fma(a, x_i, y_i).
//
// 32 elements per iteration. Elements do not depend on one another: the unroll
// only spreads the cost of the loop, and the limit is one store a cycle.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   DI  y, next element         BX  blocks of 32 left
//   Z0  a in every lane         Z1..Z4  operands and results
//   K1..K4  masks of the tail

#define UPDATE(offset, v) \
	VMOVUPD     offset(DI), v     \
	VFMADD231PD offset(SI), Z0, v \
	VMOVUPD     v, offset(DI)

#define TAIL(offset, mask, v) \
	VMOVUPD.Z   offset(DI), mask, v     \
	VFMADD231PD offset(SI), Z0, mask, v \
	VMOVUPD     v, mask, offset(DI)

// func AxpyAVX512(a float64, x, y []float64)
TEXT ·AxpyAVX512(SB), 0, $128-56
	VBROADCASTSD a+0(FP), Z0
	MOVQ         x_base+8(FP), SI
	MOVQ         x_len+16(FP), CX
	MOVQ         y_base+32(FP), DI
	MOVQ         CX, BX
	ANDQ         $31, CX
	SHRQ         $5, BX
	JZ           tail

loop32:
	UPDATE(0, Z1)
	UPDATE(64, Z2)
	UPDATE(128, Z3)
	UPDATE(192, Z4)
	ADDQ $256, SI
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
