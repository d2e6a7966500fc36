//go:build !purego

// Sparse column times 16 interleaved 32-bit vectors:
// out[l] = Σ values[k]·y[16·rows[k]+l], l = 0 … 15.
//
// The 16 elements of a row fill one cache line, and are widened to two
// registers. 2 entries per iteration, entry k into partial sum k mod 2 of each
// lane: widening and multiply–add share two ports, which keeps both busy.
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y
//   CX  entries left            AX  offset of a row       R8  out
//   Z0, Z1  sum 0 of lanes 0–7, 8–15     Z2, Z3  sum 1
//   Z4  the value, in every lane         Z5, Z6  a row of y

#include "textflag.h"

// One entry into a pair of registers.
#define ENTRY(values, rows, low, high) \
	MOVL         rows(DX), AX        \
	SHLQ         $6, AX              \
	VBROADCASTSD values(SI), Z4      \
	VCVTPS2PD    (DI)(AX*1), Z5      \
	VCVTPS2PD    32(DI)(AX*1), Z6    \
	VFMADD231PD  Z5, Z4, low         \
	VFMADD231PD  Z6, Z4, high

// func DotSingleLanesAVX512(values []float64, rows []int32, y []float32, out *[16]float64)
TEXT ·DotSingleLanesAVX512(SB), 0, $128-80
	MOVQ    values_base+0(FP), SI
	MOVQ    values_len+8(FP), CX
	MOVQ    rows_base+24(FP), DX
	MOVQ    rows_len+32(FP), AX
	CMPQ    AX, CX
	CMOVQLT AX, CX              // the shorter length
	MOVQ    y_base+48(FP), DI
	MOVQ    out+72(FP), R8
	VPXORQ  Z0, Z0, Z0
	VPXORQ  Z1, Z1, Z1
	VPXORQ  Z2, Z2, Z2
	VPXORQ  Z3, Z3, Z3
	SUBQ    $2, CX
	JLT     tail

loop2:
	ENTRY(0, 0, Z0, Z1)
	ENTRY(8, 4, Z2, Z3)
	ADDQ $16, SI
	ADDQ $8, DX
	SUBQ $2, CX
	JGE  loop2

tail:
	TESTQ $1, CX // the low bit of CX − 2 is that of CX
	JZ    fold
	ENTRY(0, 0, Z0, Z1)

fold:
	VADDPD  Z2, Z0, Z0
	VADDPD  Z3, Z1, Z1
	VMOVUPD Z0, (R8)
	VMOVUPD Z1, 64(R8)
	VZEROUPPER
	RET
