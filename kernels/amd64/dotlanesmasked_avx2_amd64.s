//go:build !purego

// Sparse column times 8 interleaved dense vectors, rows left out by lane:
// out[l] = Σ values[k]·y[8·rows[k]+l] over the k whose row has bit l in its mask.
//
// As DotLanesAVX2. The byte of a row is spread over the lanes: each tests its own
// bit. In lanes left out, value and element become 0, and adding 0·0 changes no
// sum (except the sign of a zero, which the fold removes).
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y
//   CX  entries left            AX  a row, then its offset
//   R9  mask                    R8  out
//   Y0, Y1  sum 0 of lanes 0–3, 4–7     Y2, Y3  sum 1
//   Y4, Y5  sum 2                       Y6, Y7  sum 3
//   Y8  the value               Y9 … Y12  masks and operands
//   Y13, Y14  1, 2, 4, 8 and 16, 32, 64, 128

#include "textflag.h"

// One entry into a pair of registers.
#define ENTRY(values, rows, low, high) \
	MOVL         rows(DX), AX          \
	VPBROADCASTB (R9)(AX*1), Y9        \
	SHLQ         $6, AX                \
	VBROADCASTSD values(SI), Y8        \
	VPAND        Y13, Y9, Y10          \
	VPAND        Y14, Y9, Y9           \
	VPCMPEQQ     Y13, Y10, Y10         \ // all ones where the bit is set
	VPCMPEQQ     Y14, Y9, Y9           \
	VANDPD       (DI)(AX*1), Y10, Y11  \
	VANDPD       32(DI)(AX*1), Y9, Y12 \
	VANDPD       Y8, Y10, Y10          \
	VANDPD       Y8, Y9, Y9            \
	VFMADD231PD  Y11, Y10, low         \
	VFMADD231PD  Y12, Y9, high

DATA bits<>+0(SB)/8, $1
DATA bits<>+8(SB)/8, $2
DATA bits<>+16(SB)/8, $4
DATA bits<>+24(SB)/8, $8
DATA bits<>+32(SB)/8, $16
DATA bits<>+40(SB)/8, $32
DATA bits<>+48(SB)/8, $64
DATA bits<>+56(SB)/8, $128
GLOBL bits<>(SB), RODATA|NOPTR, $64

// func DotLanesMaskedAVX2(values []float64, rows []int32, mask []uint8, y []float64, out *[8]float64)
TEXT ·DotLanesMaskedAVX2(SB), 0, $128-104
	MOVQ    values_base+0(FP), SI
	MOVQ    values_len+8(FP), CX
	MOVQ    rows_base+24(FP), DX
	MOVQ    mask_base+48(FP), R9
	MOVQ    y_base+72(FP), DI
	MOVQ    out+96(FP), R8
	VMOVDQU bits<>+0(SB), Y13
	VMOVDQU bits<>+32(SB), Y14

#include "lanes_avx2_amd64.h"
	VXORPD  Y8, Y8, Y8 // + 0
	VADDPD  Y8, Y0, Y0
	VADDPD  Y8, Y1, Y1
	VMOVUPD Y0, (R8)
	VMOVUPD Y1, 32(R8)
	VZEROUPPER
	RET
