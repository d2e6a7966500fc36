//go:build !purego

// Largest absolute value: max |x_i|, or NaN if any x_i is NaN.
//
// Scalar: the assembler has no vector maximum. FMAXD returns NaN if either
// operand is NaN, as it should. 4 elements per iteration into four maxima; the
// maximum is exact, in any order.

#include "textflag.h"

// Registers
//   R0  x, next element         R2  elements left
//   F0..F3  maxima              F4..F7  operands

// func MaxAbsNEON(x []float64) float64
TEXT ·MaxAbsNEON(SB), 0, $136-32
	MOVD  x_base+0(FP), R0
	MOVD  x_len+8(FP), R2
	FMOVD ZR, F0
	FMOVD ZR, F1
	FMOVD ZR, F2
	FMOVD ZR, F3
	SUBS  $4, R2
	BLT   tail

loop4:
	FLDPD (R0), (F4, F5)
	FLDPD 16(R0), (F6, F7)
	ADD   $32, R0
	FABSD F4, F4
	FABSD F5, F5
	FABSD F6, F6
	FABSD F7, F7
	FMAXD F4, F0, F0
	FMAXD F5, F1, F1
	FMAXD F6, F2, F2
	FMAXD F7, F3, F3
	SUBS  $4, R2
	BGE   loop4

tail:
	ADDS $4, R2
	BEQ  fold

loop1:
	FMOVD.P 8(R0), F4
	FABSD   F4, F4
	FMAXD   F4, F0, F0
	SUBS    $1, R2
	BNE     loop1

fold:
	FMAXD F1, F0, F0
	FMAXD F3, F2, F2
	FMAXD F2, F0, F0
	FMOVD F0, ret+24(FP)
	RET
