//go:build !purego

// Sparse column times 8 interleaved dense vectors:
// out[l] = Σ values[k]·y[8·(rows[k]−first)+l], l = 0 … 7.
//
// A row is one register and one cache line. 4 entries per iteration, entry k
// into partial sum k mod 4.
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y, less 8·first
//   CX  entries left            AX  offset of a row       R8  out
//   Z0 … Z3  partial sums       Z4  the value, in every lane

#include "textflag.h"

// One entry into a partial sum.
#define ENTRY(values, rows, sum) \
	MOVL         rows(DX), AX        \
	SHLQ         $6, AX              \
	VBROADCASTSD values(SI), Z4      \
	VFMADD231PD  (DI)(AX*1), Z4, sum

// func DotLanesAVX512(values []float64, rows []int32, y []float64, first int, out *[8]float64)
TEXT ·DotLanesAVX512(SB), 0, $128-88
	MOVQ values_base+0(FP), SI
	MOVQ values_len+8(FP), CX
	MOVQ rows_base+24(FP), DX
	MOVQ y_base+48(FP), DI
	MOVQ first+72(FP), AX
	MOVQ out+80(FP), R8
	SHLQ $6, AX
	SUBQ AX, DI

#include "lanes_avx512_amd64.h"
	VPXORQ  Z4, Z4, Z4 // + 0
	VADDPD  Z4, Z0, Z0
	VMOVUPD Z0, (R8)
	VZEROUPPER
	RET
