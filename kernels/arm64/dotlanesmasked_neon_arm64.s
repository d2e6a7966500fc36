//go:build !purego

// Sparse column times 8 interleaved dense vectors, with rows left out by lane:
// out[l] = Σ values[k]·y[8·rows[k]+l] over the k for which bit l of mask[rows[k]]
// is set, l = 0 … 7.
//
// Where it is not, both factors become +0, which changes no sum, not even by a NaN.
// 4 entries per iteration, entry k into partial sum k mod 4 of each lane: 16
// registers of two lanes.
//
// Registers
//   R0  values, next entry      R1  rows, next entry      R2  y
//   R3  entries left            R4  address of a row      R6  out
//   R7  mask                    R5  scratch
//   V0..V3  sum 0               V4..V7  sum 1
//   V8..V11  sum 2              V12..V15  sum 3
//   V16..V19  a row of y        V20  the value, in both lanes
//   V21  the row's mask         V22, V23  scratch
//   V24..V27  the bits of two lanes each

#include "textflag.h"

// Two lanes of an entry.
#define PAIR(bits, y, sum) \
	VCMTST V21.D2, bits.D2, V22.D2   \
	VAND   V22.B16, y.B16, y.B16     \
	VAND   V22.B16, V20.B16, V23.B16 \
	VFMLA  y.D2, V23.D2, sum.D2

// One entry into four registers. R5 is clobbered.
#define ENTRY(a, b, c, d) \
	MOVWU.P 4(R1), R4                              \
	MOVD.P  8(R0), R5                              \
	VDUP    R5, V20.D2                             \
	MOVBU   (R7)(R4), R5                           \
	VDUP    R5, V21.D2                             \
	ADD     R4<<6, R2, R4                          \
	VLD1    (R4), [V16.D2, V17.D2, V18.D2, V19.D2] \
	PAIR(V24, V16, a)                              \
	PAIR(V25, V17, b)                              \
	PAIR(V26, V18, c)                              \
	PAIR(V27, V19, d)

// BITS puts 1 << lane and 2 << lane into a register. Clobbers R4.
#define BITS(lane, v) \
	MOVD $(1<<lane), R4 \
	VMOV R4, v.D[0]     \
	MOVD $(2<<lane), R4 \
	VMOV R4, v.D[1]

// func DotLanesMaskedNEON(values []float64, rows []int32, mask []uint8, y []float64, out *[8]float64)
TEXT ·DotLanesMaskedNEON(SB), 0, $136-104
	MOVD values_base+0(FP), R0
	MOVD values_len+8(FP), R3
	MOVD rows_base+24(FP), R1
	MOVD mask_base+48(FP), R7
	MOVD y_base+72(FP), R2
	MOVD out+96(FP), R6
	BITS(0, V24)
	BITS(2, V25)
	BITS(4, V26)
	BITS(6, V27)

#include "lanes_arm64.h"
	RET
