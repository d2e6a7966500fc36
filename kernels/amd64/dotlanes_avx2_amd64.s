//go:build !purego

// Sparse column times 8 interleaved dense vectors:
// out[l] = Σ values[k]·y[8·(rows[k]−first)+l], l = 0 … 7.
//
// The 8 elements of a row fill one cache line, so an entry costs one line and
// two fused multiply–adds for 8 products. 4 entries per iteration, entry k into
// partial sum k mod 4 of each lane: 8 chains hide the latency of the adds.
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y, less 8·first
//   CX  entries left            AX  offset of a row       R8  out
//   Y0, Y1  sum 0 of lanes 0–3, 4–7     Y2, Y3  sum 1
//   Y4, Y5  sum 2                       Y6, Y7  sum 3
//   Y8  the value, in every lane

#include "textflag.h"

// One entry into a pair of registers.
#define ENTRY(values, rows, low, high) \
	MOVL         rows(DX), AX           \
	SHLQ         $6, AX                 \
	VBROADCASTSD values(SI), Y8         \
	VFMADD231PD  (DI)(AX*1), Y8, low    \
	VFMADD231PD  32(DI)(AX*1), Y8, high

// func DotLanesAVX2(values []float64, rows []int32, y []float64, first int, out *[8]float64)
TEXT ·DotLanesAVX2(SB), 0, $128-88
	MOVQ values_base+0(FP), SI
	MOVQ values_len+8(FP), CX
	MOVQ rows_base+24(FP), DX
	MOVQ y_base+48(FP), DI
	MOVQ first+72(FP), AX
	MOVQ out+80(FP), R8
	SHLQ $6, AX
	SUBQ AX, DI

#include "lanes_avx2_amd64.h"
	VXORPD  Y8, Y8, Y8 // + 0
	VADDPD  Y8, Y0, Y0
	VADDPD  Y8, Y1, Y1
	VMOVUPD Y0, (R8)
	VMOVUPD Y1, 32(R8)
	VZEROUPPER
	RET
