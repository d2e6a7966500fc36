//go:build !purego

// Sparse column times 16 interleaved 32-bit vectors:
// out[l] = Σ values[k]·y[16·rows[k]+l], l = 0 … 15.
//
// The 16 elements of a row fill one cache line, and are widened to four
// registers. 2 entries per iteration, entry k into partial sum k mod 2 of each
// lane: 8 chains hide the latency.
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y
//   CX  entries left            AX  offset of a row       R8  out
//   Y0..Y3  sum 0 of lanes 0–3, 4–7, 8–11, 12–15          Y4..Y7  sum 1
//   Y8  the value, in every lane                          Y9..Y12 a row of y

#include "textflag.h"

// One entry into four registers.
#define ENTRY(values, rows, a, b, c, d) \
	MOVL         rows(DX), AX         \
	SHLQ         $6, AX               \
	VBROADCASTSD values(SI), Y8       \
	VCVTPS2PD    (DI)(AX*1), Y9       \
	VCVTPS2PD    16(DI)(AX*1), Y10    \
	VCVTPS2PD    32(DI)(AX*1), Y11    \
	VCVTPS2PD    48(DI)(AX*1), Y12    \
	VFMADD231PD  Y9, Y8, a            \
	VFMADD231PD  Y10, Y8, b           \
	VFMADD231PD  Y11, Y8, c           \
	VFMADD231PD  Y12, Y8, d

// func DotSingleLanesAVX2(values []float64, rows []int32, y []float32, out *[16]float64)
TEXT ·DotSingleLanesAVX2(SB), 0, $128-80
	MOVQ    values_base+0(FP), SI
	MOVQ    values_len+8(FP), CX
	MOVQ    rows_base+24(FP), DX
	MOVQ    rows_len+32(FP), AX
	CMPQ    AX, CX
	CMOVQLT AX, CX              // the shorter length
	MOVQ    y_base+48(FP), DI
	MOVQ    out+72(FP), R8
	VXORPD  Y0, Y0, Y0
	VXORPD  Y1, Y1, Y1
	VXORPD  Y2, Y2, Y2
	VXORPD  Y3, Y3, Y3
	VXORPD  Y4, Y4, Y4
	VXORPD  Y5, Y5, Y5
	VXORPD  Y6, Y6, Y6
	VXORPD  Y7, Y7, Y7
	SUBQ    $2, CX
	JLT     tail

loop2:
	ENTRY(0, 0, Y0, Y1, Y2, Y3)
	ENTRY(8, 4, Y4, Y5, Y6, Y7)
	ADDQ $16, SI
	ADDQ $8, DX
	SUBQ $2, CX
	JGE  loop2

tail:
	TESTQ $1, CX // the low bit of CX − 2 is that of CX
	JZ    fold
	ENTRY(0, 0, Y0, Y1, Y2, Y3)

fold:
	VADDPD  Y4, Y0, Y0
	VADDPD  Y5, Y1, Y1
	VADDPD  Y6, Y2, Y2
	VADDPD  Y7, Y3, Y3
	VMOVUPD Y0, (R8)
	VMOVUPD Y1, 32(R8)
	VMOVUPD Y2, 64(R8)
	VMOVUPD Y3, 96(R8)
	VZEROUPPER
	RET
