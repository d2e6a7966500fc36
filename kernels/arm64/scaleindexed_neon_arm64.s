//go:build !purego

// A sparse column under weights: out[k] ← u = values[k]·scale[rows[k]], Σ scale[rows[k]]·u and Σ u².
//
// 4 entries per iteration; each sum has the partial sums of DotIndexedNEON. An entry is written after it is read, so
// that out may be values.

#include "textflag.h"

// Registers
//   R0  values, next entry      R1  rows, next entry      R2  scale      R6  out, next entry
//   R3  entries left            R4, R5  row numbers
//   F0..F3  partial sums of scale·u   F8..F11  those of u²   F4, F5  values and u   F6, F7  of scale

// Two entries into two partial sums of each.
#define PAIR(s0, s1, q0, q1) \
	LDPW.P  8(R1), (R4, R5)  \
	FLDPD.P 16(R0), (F4, F5) \
	FMOVD   (R2)(R4<<3), F6  \
	FMOVD   (R2)(R5<<3), F7  \
	FMULD   F6, F4, F4       \
	FMULD   F7, F5, F5       \
	FSTPD.P (F4, F5), 16(R6) \
	FMADDD  F6, s0, F4, s0   \ // s0 ← s0 + F4·F6
	FMADDD  F7, s1, F5, s1   \
	FMADDD  F4, q0, F4, q0   \
	FMADDD  F5, q1, F5, q1

// One entry into one partial sum of each.
#define SINGLE(s, q) \
	MOVWU.P 4(R1), R4       \
	FMOVD.P 8(R0), F4       \
	FMOVD   (R2)(R4<<3), F6 \
	FMULD   F6, F4, F4      \
	FMOVD.P F4, 8(R6)       \
	FMADDD  F6, s, F4, s    \
	FMADDD  F4, q, F4, q

// func ScaleIndexedNEON(values []float64, rows []int32, scale, out []float64) (sum, square float64)
TEXT ·ScaleIndexedNEON(SB), 0, $136-112
	MOVD  values_base+0(FP), R0
	MOVD  values_len+8(FP), R3
	MOVD  rows_base+24(FP), R1
	MOVD  scale_base+48(FP), R2
	MOVD  out_base+72(FP), R6
	FMOVD ZR, F0
	FMOVD ZR, F1
	FMOVD ZR, F2
	FMOVD ZR, F3
	FMOVD ZR, F8
	FMOVD ZR, F9
	FMOVD ZR, F10
	FMOVD ZR, F11
	SUBS  $4, R3
	BLT   tail

loop4:
	PAIR(F0, F1, F8, F9)
	PAIR(F2, F3, F10, F11)
	SUBS $4, R3
	BGE  loop4

tail:
	TBZ $1, R3, one  // the low bits of R3 − 4 are those of R3
	PAIR(F0, F1, F8, F9)
	TBZ $0, R3, fold
	SINGLE(F2, F10)
	B   fold

one:
	TBZ $0, R3, fold
	SINGLE(F0, F8)

fold:
	// The fixed tree of both: (s0+s2) + (s1+s3), then + 0.
	FADDD F2, F0, F0
	FADDD F3, F1, F1
	FADDD F1, F0, F0
	FADDD F10, F8, F8
	FADDD F11, F9, F9
	FADDD F9, F8, F8
	FMOVD ZR, F1
	FADDD F1, F0, F0
	FADDD F1, F8, F8
	FMOVD F0, sum+96(FP)
	FMOVD F8, square+104(FP)
	RET
