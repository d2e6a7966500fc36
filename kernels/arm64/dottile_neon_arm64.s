//go:build !purego

// The 4 dot products of 2 vectors and 2 others, each in the 32 partial sums of
// DotNEON, with the same bits.
//
// Four passes, each with a quarter of the partial sums: pass q has the elements 8q
// to 8q+7 of every 32, four registers for each of the 4 products. So 4 loads of 64
// bytes feed 16 multiply–adds, against 8 in dot products by themselves. A tail of
// fewer than 32 elements is copied to the frame and completed with zeros.

#include "textflag.h"
#include "dense_arm64.h"

// Registers
//   R0, R1  x                   R2, R3  y                  R4  n
//   R5, R6, R7, R8  them, next  R10  blocks of 32 left     R11  next block
//   R12  the first byte of the pass: 0, 128, 64, 192       R9, R13, R19  scratch
//   V0..V15  sums, four registers to a product             V16..V27  operands
//
// The frame holds two quarters, of 256 bytes, and four tails.

// BLOCK adds 8 elements of every vector and moves to the next block.
#define BLOCK \
	VLD1  (R5), [V16.D2, V17.D2, V18.D2, V19.D2] \
	VLD1  (R6), [V20.D2, V21.D2, V22.D2, V23.D2] \
	VLD1  (R7), [V24.D2, V25.D2, V26.D2, V27.D2] \
	VFMLA V24.D2, V16.D2, V0.D2                  \
	VFMLA V25.D2, V17.D2, V1.D2                  \
	VFMLA V26.D2, V18.D2, V2.D2                  \
	VFMLA V27.D2, V19.D2, V3.D2                  \
	VFMLA V24.D2, V20.D2, V8.D2                  \
	VFMLA V25.D2, V21.D2, V9.D2                  \
	VFMLA V26.D2, V22.D2, V10.D2                 \
	VFMLA V27.D2, V23.D2, V11.D2                 \
	VLD1  (R8), [V24.D2, V25.D2, V26.D2, V27.D2] \
	VFMLA V24.D2, V16.D2, V4.D2                  \
	VFMLA V25.D2, V17.D2, V5.D2                  \
	VFMLA V26.D2, V18.D2, V6.D2                  \
	VFMLA V27.D2, V19.D2, V7.D2                  \
	VFMLA V24.D2, V20.D2, V12.D2                 \
	VFMLA V25.D2, V21.D2, V13.D2                 \
	VFMLA V26.D2, V22.D2, V14.D2                 \
	VFMLA V27.D2, V23.D2, V15.D2                 \
	ADD   $256, R5                               \
	ADD   $256, R6                               \
	ADD   $256, R7                               \
	ADD   $256, R8

// KEEP moves the sums to the frame at R13, PLUS adds what is there. Both leave R13
// behind it.
#define KEEP \
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R13)     \
	VST1.P [V4.D2, V5.D2, V6.D2, V7.D2], 64(R13)     \
	VST1.P [V8.D2, V9.D2, V10.D2, V11.D2], 64(R13)   \
	VST1.P [V12.D2, V13.D2, V14.D2, V15.D2], 64(R13)

#define PLUS4(a, b, c, d) \
	VLD1.P 64(R13), [V16.D2, V17.D2, V18.D2, V19.D2] \
	INTO(V16, a)                                     \
	INTO(V17, b)                                     \
	INTO(V18, c)                                     \
	INTO(V19, d)

#define PLUS \
	PLUS4(V0, V1, V2, V3)     \
	PLUS4(V4, V5, V6, V7)     \
	PLUS4(V8, V9, V10, V11)   \
	PLUS4(V12, V13, V14, V15)

// FOLD is the rest of the fixed tree, 8 → 4 → 2 → 1.
#define FOLD(a, b, c, d, f, offset) \
	INTO(c, a)           \
	INTO(d, b)           \
	INTO(b, a)           \
	VDUP  a.D[1], V16.D2 \
	FADDD F16, f, f      \
	FMOVD f, offset(R13)

// func DotTileNEON(x, y *[2][]float64, at, n int, out *[6]float64)
TEXT ·DotTileNEON(SB), 0, $1544-40
	MOVD x+0(FP), R9
	MOVD (R9), R0
	MOVD 24(R9), R1
	MOVD y+8(FP), R9
	MOVD (R9), R2
	MOVD 24(R9), R3
	MOVD at+16(FP), R9
	MOVD n+24(FP), R4
	ADD  R9<<3, R0, R0
	ADD  R9<<3, R1, R1
	ADD  R9<<3, R2, R2
	ADD  R9<<3, R3, R3
	AND  $31, R4, R10
	CBZ  R10, passes

	// The tails: four of 256 bytes.
	MOVD $tails-1024(SP), R13
	CLEAR_BUFFER(R13)
	ADD  $256, R13
	CLEAR_BUFFER(R13)
	ADD  $256, R13
	CLEAR_BUFFER(R13)
	ADD  $256, R13
	CLEAR_BUFFER(R13)
	MOVD $tails-1024(SP), R13
	SUB  R10, R4, R9
	ADD  R9<<3, R0, R5
	ADD  R9<<3, R1, R6
	ADD  R9<<3, R2, R7
	ADD  R9<<3, R3, R8

copy1:
	MOVD.P 8(R5), R19
	MOVD   R19, (R13)
	MOVD.P 8(R6), R19
	MOVD   R19, 256(R13)
	MOVD.P 8(R7), R19
	MOVD   R19, 512(R13)
	MOVD.P 8(R8), R19
	MOVD   R19, 768(R13)
	ADD    $8, R13
	SUBS   $1, R10
	BNE    copy1

passes:
	ONES
	MOVD ZR, R12

pass:
	CLEAR_SUMS
	ADD R12, R0, R5
	ADD R12, R1, R6
	ADD R12, R2, R7
	ADD R12, R3, R8
	LSR $5, R4, R10
	CBZ R10, tail

loop32:
	BLOCK
	SUBS $1, R10
	BNE  loop32

tail:
	AND  $31, R4, R10
	CBZ  R10, combine
	MOVD $tails-1024(SP), R5
	ADD  R12, R5, R5
	ADD  $256, R5, R6
	ADD  $512, R5, R7
	ADD  $768, R5, R8
	BLOCK

combine:
	MOVD $sums-1536(SP), R13
	CBZ  R12, first
	CMP  $128, R12
	BLT  second
	BEQ  third
	B    last

first:
	KEEP
	MOVD $128, R12
	B    pass

third:
	PLUS                     // 32 → 16 of the even quarters
	MOVD $sums-1536(SP), R13
	KEEP
	MOVD $64, R12
	B    pass

second:
	ADD  $256, R13
	KEEP
	MOVD $192, R12
	B    pass

last:
	// The last pass: 32 → 16 of the odd quarters, 16 → 8.
	ADD  $256, R13
	PLUS
	MOVD $sums-1536(SP), R13
	PLUS
	MOVD out+32(FP), R13
	FOLD(V0, V1, V2, V3, F0, 0)
	FOLD(V4, V5, V6, V7, F4, 8)
	FOLD(V8, V9, V10, V11, F8, 32)
	FOLD(V12, V13, V14, V15, F12, 40)
	RET
