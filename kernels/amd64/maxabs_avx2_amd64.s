//go:build !purego

// Largest absolute value: max |x_i|, or NaN if any x_i is NaN.
//
// VMAXPD returns its second source when either is NaN, so a NaN would be lost
// at the next step, in either order of the operands. NaN is therefore detected
// separately: VCMPPD with predicate 3 (unordered) is true where either operand is
// NaN, and one comparison serves two vectors. The maximum is exact, in any order.

#include "textflag.h"
#include "dense_avx2_amd64.h"

// Registers
//   SI  x, next element         CX  elements left after the loop
//   Y0..Y3   maxima             BX  blocks of 16 left
//   Y4, Y5   where NaN was      Y11 all bits but the sign
//   Y6..Y10  operands           Y12..Y15 masks of the tail

#define BLOCK(offset, max0, max1, nan) \
	VANDPD offset(SI), Y11, Y6    \
	VANDPD offset+32(SI), Y11, Y7 \
	VCMPPD $3, Y6, Y7, Y8         \
	VMAXPD Y6, max0, max0         \
	VMAXPD Y7, max1, max1         \
	VORPD  Y8, nan, nan

#define TAIL(offset) \
	MASK_NEXT                      \
	VMASKMOVPD offset(SI), Y13, Y6 \
	VANDPD     Y6, Y11, Y6         \
	VCMPPD     $3, Y6, Y6, Y8      \
	VMAXPD     Y6, Y0, Y0          \
	VORPD      Y8, Y4, Y4

// func MaxAbsAVX2(x []float64) float64
TEXT ·MaxAbsAVX2(SB), 0, $128-32
	MOVQ     x_base+0(FP), SI
	MOVQ     x_len+8(FP), CX
	CLEAR_SUMS
	VPCMPEQQ Y11, Y11, Y11
	VPSRLQ   $1, Y11, Y11
	MOVQ     CX, BX
	ANDQ     $15, CX
	SHRQ     $4, BX
	JZ       tail

loop16:
	BLOCK(0, Y0, Y1, Y4)
	BLOCK(64, Y2, Y3, Y5)
	ADDQ $128, SI
	DECQ BX
	JNZ  loop16

tail:
	TESTQ CX, CX
	JZ    fold
	MASK_START
	TAIL(0)
	TAIL(32)
	TAIL(64)
	TAIL(96)

fold:
	VORPD        Y5, Y4, Y4
	VMOVMSKPD    Y4, AX
	TESTQ        AX, AX
	JNZ          nan
	VMAXPD       Y1, Y0, Y0
	VMAXPD       Y3, Y2, Y2
	VMAXPD       Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPD       X1, X0, X0
	VUNPCKHPD    X0, X0, X1
	VMAXSD       X1, X0, X0
	VMOVSD       X0, ret+24(FP)
	VZEROUPPER
	RET

nan:
	MOVQ $0x7FF8000000000001, AX
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET
