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
	MOVQ   values_base+0(FP), SI
	MOVQ   values_len+8(FP), CX
	MOVQ   rows_base+24(FP), DX
	MOVQ   y_base+48(FP), DI
	MOVQ   first+72(FP), AX
	MOVQ   out+80(FP), R8
	SHLQ   $6, AX
	SUBQ   AX, DI
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	SUBQ   $4, CX
	JLT    tail

loop4:
	ENTRY(0, 0, Y0, Y1)
	ENTRY(8, 4, Y2, Y3)
	ENTRY(16, 8, Y4, Y5)
	ENTRY(24, 12, Y6, Y7)
	ADDQ $32, SI
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  loop4

tail:
	TESTQ $2, CX // the low bits of CX − 4 are those of CX
	JZ    tail1
	ENTRY(0, 0, Y0, Y1)
	ENTRY(8, 4, Y2, Y3)
	TESTQ $1, CX
	JZ    fold
	ENTRY(16, 8, Y4, Y5)
	JMP   fold

tail1:
	TESTQ $1, CX
	JZ    fold
	ENTRY(0, 0, Y0, Y1)

fold:
	// (s0+s2) + (s1+s3), then + 0, in every lane.
	VADDPD  Y4, Y0, Y0
	VADDPD  Y5, Y1, Y1
	VADDPD  Y6, Y2, Y2
	VADDPD  Y7, Y3, Y3
	VADDPD  Y2, Y0, Y0
	VADDPD  Y3, Y1, Y1
	VXORPD  Y8, Y8, Y8
	VADDPD  Y8, Y0, Y0
	VADDPD  Y8, Y1, Y1
	VMOVUPD Y0, (R8)
	VMOVUPD Y1, 32(R8)
	VZEROUPPER
	RET
