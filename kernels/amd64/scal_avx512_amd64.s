//go:build !purego

// Scaling: x_i ← a·x_i.
//
// 32 elements per iteration, as in the scaled update.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   Z0  a in every lane         BX  blocks of 32 left
//   Z1..Z4  products            K1..K4  masks of the tail

#define UPDATE(offset, v) \
	VMULPD  offset(SI), Z0, v \
	VMOVUPD v, offset(SI)

#define TAIL(offset, mask, v) \
	VMULPD.Z offset(SI), Z0, mask, v \
	VMOVUPD  v, mask, offset(SI)

// func ScalAVX512(a float64, x []float64)
TEXT ·ScalAVX512(SB), 0, $128-32
	VBROADCASTSD a+0(FP), Z0
	MOVQ         x_base+8(FP), SI
	MOVQ         x_len+16(FP), CX
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
