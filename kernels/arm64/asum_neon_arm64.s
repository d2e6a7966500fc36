//go:build !purego

// Sum of absolute values: Σ |x_i|.
//
// As the dot product: 32 elements per iteration into 32 partial sums, the tail
// completed with zeros on the stack. An addition is a multiply–add with 1.

#include "textflag.h"
#include "dense_arm64.h"

// Registers
//   R0  x, next element         R2  elements left after the loop
//   V0..V15  partial sums       R3  blocks of 32 left
//   V16..V19 operands           R5  where the tail is copied to
//   V30 all bits but the sign   V31 ones

#define BLOCK(s0, s1, s2, s3) \
	VLD1.P 64(R0), [V16.D2, V17.D2, V18.D2, V19.D2] \
	VAND   V30.B16, V16.B16, V16.B16                \
	VAND   V30.B16, V17.B16, V17.B16                \
	VAND   V30.B16, V18.B16, V18.B16                \
	VAND   V30.B16, V19.B16, V19.B16                \
	INTO(V16, s0)                                   \
	INTO(V17, s1)                                   \
	INTO(V18, s2)                                   \
	INTO(V19, s3)

// func AsumNEON(x []float64) float64
TEXT ·AsumNEON(SB), 0, $264-32
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R2
	CLEAR_SUMS
	ONES
	MOVD $0x7FFFFFFFFFFFFFFF, R4
	VDUP R4, V30.D2
	LSR  $5, R2, R3
	AND  $31, R2
	CBZ  R3, tail

loop32:
	BLOCK(V0, V1, V2, V3)
	BLOCK(V4, V5, V6, V7)
	BLOCK(V8, V9, V10, V11)
	BLOCK(V12, V13, V14, V15)
	SUBS $1, R3
	BNE  loop32

tail:
	CBZ  R2, fold
	MOVD $xtail-256(SP), R5
	CLEAR_BUFFER(R5)

copy1:
	MOVD.P 8(R0), R7
	MOVD.P R7, 8(R5)
	SUBS   $1, R2
	BNE    copy1

	MOVD $xtail-256(SP), R0
	MOVD $1, R3
	B    loop32             // R2 is 0 now

fold:
	FOLD_SUMS
	FMOVD F0, ret+24(FP)
	RET
