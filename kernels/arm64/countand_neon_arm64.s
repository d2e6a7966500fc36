//go:build !purego

// The number of bits that are set in both: Σ popcount(x_i & y_i).
//
// 8 words per iteration. A byte of a sum is at most 32 before the bytes are added up.

#include "textflag.h"

// Registers
//   R0, R1  x and y, next words         R2  words left
//   R3      the sum                     R4  what is added to it
//   V0..V3, V4..V7  words of x and y, and what is set in both

// func CountAndNEON(x, y []uint64) int
TEXT ·CountAndNEON(SB), 0, $136-56
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R2
	MOVD y_base+24(FP), R1
	MOVD ZR, R3
	SUBS $8, R2
	BLT  tail

loop8:
	VLD1.P  64(R0), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P  64(R1), [V4.B16, V5.B16, V6.B16, V7.B16]
	VAND    V4.B16, V0.B16, V0.B16
	VAND    V5.B16, V1.B16, V1.B16
	VAND    V6.B16, V2.B16, V2.B16
	VAND    V7.B16, V3.B16, V3.B16
	VCNT    V0.B16, V0.B16
	VCNT    V1.B16, V1.B16
	VCNT    V2.B16, V2.B16
	VCNT    V3.B16, V3.B16
	VADD    V1.B16, V0.B16, V0.B16
	VADD    V3.B16, V2.B16, V2.B16
	VADD    V2.B16, V0.B16, V0.B16
	VUADDLV V0.B16, V0
	VMOV    V0.H[0], R4
	ADD     R4, R3, R3
	SUBS    $8, R2
	BGE     loop8

tail:
	ADDS $8, R2
	BEQ  done

loop1:
	MOVD.P  8(R0), R4
	MOVD.P  8(R1), R5
	AND     R5, R4, R4
	FMOVD   R4, F0
	VCNT    V0.B8, V0.B8
	VUADDLV V0.B8, V0
	VMOV    V0.H[0], R4
	ADD     R4, R3, R3
	SUBS    $1, R2
	BNE     loop1

done:
	MOVD R3, ret+48(FP)
	RET
