//go:build !purego

// Dot product of a vector of 32-bit elements and one of 64-bit elements: Σ x_i·y_i.
//
// As DotNEON, with elements of x widened as they are loaded.

#include "textflag.h"
#include "dense_arm64.h"

// Registers
//   R0  x, next element         R2  elements left after the loop
//   R1  y, next element         R3  blocks of 32 left
//   V0..V15  partial sums       V16..V24 operands
//   R5, R6   where the tail is copied to

// WIDEN loads two elements into v, one at a time: the assembler lacks FCVTL, which converts both.
#define WIDEN(offset, f, v) \
	FMOVS  offset(R0), f        \
	FMOVS  (offset+4)(R0), F24  \
	FCVTSD f, f                 \
	FCVTSD F24, F24             \
	VMOV   V24.D[0], v.D[1]

#define BLOCK(s0, s1, s2, s3) \
	WIDEN(0, F16, V16)                              \
	WIDEN(8, F17, V17)                              \
	WIDEN(16, F18, V18)                             \
	WIDEN(24, F19, V19)                             \
	VLD1.P 64(R1), [V20.D2, V21.D2, V22.D2, V23.D2] \
	ADD    $32, R0                                  \
	VFMLA  V20.D2, V16.D2, s0.D2                    \
	VFMLA  V21.D2, V17.D2, s1.D2                    \
	VFMLA  V22.D2, V18.D2, s2.D2                    \
	VFMLA  V23.D2, V19.D2, s3.D2

#define COPY_ONE \
	MOVWU.P 4(R0), R7 \
	MOVD.P  8(R1), R8 \
	MOVW.P  R7, 4(R5) \
	MOVD.P  R8, 8(R6)

// func DotSingleNEON(x []float32, y []float64) float64
TEXT ·DotSingleNEON(SB), 0, $520-56

#include "dot_arm64.h"
