//go:build !purego

// Dot product: Σ x_i·y_i.
//
// 32 elements per iteration, one fused multiply–add each, into 32 partial sums
// (element i into sum i mod 32): sixteen accumulators, enough for four vector
// pipes with a latency of four. A tail of fewer than 32 elements is copied to the
// stack, completed with zeros, and goes through the loop once more.

#include "textflag.h"
#include "dense_arm64.h"

// Registers
//   R0  x, next element         R2  elements left after the loop
//   R1  y, next element         R3  blocks of 32 left
//   V0..V15  partial sums       V16..V23 operands
//   R5, R6   where the tail is copied to

#define BLOCK(s0, s1, s2, s3) \
	VLD1.P 64(R0), [V16.D2, V17.D2, V18.D2, V19.D2] \
	VLD1.P 64(R1), [V20.D2, V21.D2, V22.D2, V23.D2] \
	VFMLA  V20.D2, V16.D2, s0.D2                    \
	VFMLA  V21.D2, V17.D2, s1.D2                    \
	VFMLA  V22.D2, V18.D2, s2.D2                    \
	VFMLA  V23.D2, V19.D2, s3.D2

#define COPY_ONE \
	MOVD.P 8(R0), R7 \
	MOVD.P 8(R1), R8 \
	MOVD.P R7, 8(R5) \
	MOVD.P R8, 8(R6)

// func DotNEON(x, y []float64) float64
TEXT ·DotNEON(SB), 0, $520-56

#include "dot_arm64.h"
