//go:build !purego

// The number of bits that are set in both: Σ popcount(x_i & y_i), for CPUs that count in vectors
// (AVX512_VPOPCNTDQ).
//
// 32 words per iteration into four sums of eight words each.

#include "textflag.h"
#include "dense_avx512_amd64.h"

// Registers
//   SI, DI  x and y, next words         CX  words left after the loop
//   Z0..Z3  sums                        DX  blocks of 32 left
//   Z4..Z7  words, and what is set in them    K1..K4  masks of the tail

#define COUNT(offset, v, sum) \
	VMOVUPD  offset(SI), v    \
	VPANDQ   offset(DI), v, v \
	VPOPCNTQ v, v             \
	VPADDQ   v, sum, sum

#define TAIL(offset, mask, v, sum) \
	VMOVUPD.Z offset(SI), mask, v    \
	VPANDQ.Z  offset(DI), v, mask, v \
	VPOPCNTQ  v, v                   \
	VPADDQ    v, sum, sum

// func CountAndAVX512(x, y []uint64) int
TEXT ·CountAndAVX512(SB), 0, $128-56
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ y_base+24(FP), DI
	CLEAR_SUMS
	MOVQ CX, DX
	ANDQ $31, CX
	SHRQ $5, DX
	JZ   tail

loop32:
	COUNT(0, Z4, Z0)
	COUNT(64, Z5, Z1)
	COUNT(128, Z6, Z2)
	COUNT(192, Z7, Z3)
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ DX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    fold
	MASKS
	TAIL(0, K1, Z4, Z0)
	TAIL(64, K2, Z5, Z1)
	TAIL(128, K3, Z6, Z2)
	TAIL(192, K4, Z7, Z3)

fold:
	VPADDQ        Z2, Z0, Z0
	VPADDQ        Z3, Z1, Z1
	VPADDQ        Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VPADDQ        Y1, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VPADDQ        X1, X0, X0
	VUNPCKHPD     X0, X0, X1
	VPADDQ        X1, X0, X0
	VMOVQ         X0, AX
	MOVQ          AX, ret+48(FP)
	VZEROUPPER
	RET
