//go:build !purego

// Scaled update of a 64-bit vector by a 32-bit one: y_i ← fma(a, x_i, y_i).
//
// As AxpyAVX512, x widened on the way.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   DI  y, next element         BX  blocks of 32 left
//   Z0  a in every lane         Z1..Z4  y       Z5..Z8  x
//   K1..K4  masks of the tail

#define UPDATE(single, double, u, v) \
	VCVTPS2PD   single(SI), u \
	VMOVUPD     double(DI), v \
	VFMADD231PD u, Z0, v      \
	VMOVUPD     v, double(DI)

#define TAIL(single, double, mask, u, v) \
	VCVTPS2PD.Z single(SI), mask, u \
	VMOVUPD.Z   double(DI), mask, v \
	VFMADD231PD u, Z0, v            \
	VMOVUPD     v, mask, double(DI)

// func AxpySingleAVX512(a float64, x []float32, y []float64)
TEXT ·AxpySingleAVX512(SB), 0, $128-56
	VBROADCASTSD a+0(FP), Z0
	MOVQ         x_base+8(FP), SI
	MOVQ         x_len+16(FP), CX
	MOVQ         y_base+32(FP), DI
	MOVQ         CX, BX
	ANDQ         $31, CX
	SHRQ         $5, BX
	JZ           tail

loop32:
	UPDATE(0, 0, Z5, Z1)
	UPDATE(32, 64, Z6, Z2)
	UPDATE(64, 128, Z7, Z3)
	UPDATE(96, 192, Z8, Z4)
	ADDQ $128, SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    done
	MASKS
	TAIL(0, 0, K1, Z5, Z1)
	TAIL(32, 64, K2, Z6, Z2)
	TAIL(64, 128, K3, Z7, Z3)
	TAIL(96, 192, K4, Z8, Z4)

done:
	VZEROUPPER
	RET
