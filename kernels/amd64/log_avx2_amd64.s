//go:build !purego

// Natural logarithm: dst_i = ln x_i, with the bits of kernels.Log.
//
// x = 2^k·(1+f) with √½ ≤ 1+f < √2, s = f/(2+f), and a polynomial of s². Four elements per
// iteration; iterations do not depend on one another.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx2_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left

// LN turns x in Y0 into ln x. Clobbers Y1..Y7 and Y15.
//   Y1  f, then the result                     Y3  k
//   Y2  54 for subnormal numbers, then f²/2    Y4  s      Y5  z      Y6  p
// k + 1024 is the upper 12 bits of (bits of x) − (bits of √½) + 1024<<52, which is never negative.
#define LN \
	VBROADCASTSD LEASTNORMAL, Y15  \
	VCMPPD       $1, Y15, Y0, Y7   \ // x < 2^−1022
	VBROADCASTSD RAISE, Y15        \
	VMULPD       Y15, Y0, Y1       \
	VBLENDVPD    Y7, Y1, Y0, Y1    \ // x, or x·2^54
	VBROADCASTSD RAISED, Y15       \
	VANDPD       Y15, Y7, Y2       \
	VPBROADCASTQ SPLIT, Y15        \
	VPADDQ       Y15, Y1, Y3       \
	VPSRLQ       $52, Y3, Y3       \ // k + 1024
	VPSLLQ       $52, Y3, Y4       \
	VPSUBQ       Y4, Y1, Y1        \
	VPBROADCASTQ SPLITTOP, Y15     \
	VPADDQ       Y15, Y1, Y1       \ // 1 + f
	VPBROADCASTQ EXPONENT, Y15     \
	VPOR         Y15, Y3, Y3       \
	VBROADCASTSD EXPONENTZERO, Y15 \
	VSUBPD       Y15, Y3, Y3       \
	VSUBPD       Y2, Y3, Y3        \ // k
	VBROADCASTSD ONE, Y15          \
	VSUBPD       Y15, Y1, Y1       \ // f
	VBROADCASTSD TWO, Y15          \
	VADDPD       Y1, Y15, Y4       \
	VDIVPD       Y4, Y1, Y4        \ // s
	VMULPD       Y4, Y4, Y5        \ // z
	VBROADCASTSD LOG6, Y6          \
	VBROADCASTSD LOG5, Y15         \
	VFMADD213PD  Y15, Y5, Y6       \
	VBROADCASTSD LOG4, Y15         \
	VFMADD213PD  Y15, Y5, Y6       \
	VBROADCASTSD LOG3, Y15         \
	VFMADD213PD  Y15, Y5, Y6       \
	VBROADCASTSD LOG2, Y15         \
	VFMADD213PD  Y15, Y5, Y6       \
	VBROADCASTSD LOG1, Y15         \
	VFMADD213PD  Y15, Y5, Y6       \
	VBROADCASTSD LOG0, Y15         \
	VFMADD213PD  Y15, Y5, Y6       \ // p
	VBROADCASTSD HALF, Y15         \
	VMULPD       Y15, Y1, Y2       \
	VMULPD       Y1, Y2, Y2        \ // half = f²/2
	VFMADD213PD  Y2, Y5, Y6        \ // p·z + half
	VBROADCASTSD LN2LO, Y15        \
	VMULPD       Y15, Y3, Y7       \
	VFMADD213PD  Y7, Y4, Y6        \ // tail
	VSUBPD       Y6, Y2, Y2        \
	VSUBPD       Y2, Y1, Y1        \ // f − (half − tail)
	VBROADCASTSD LN2HI, Y15        \
	VFMADD231PD  Y15, Y3, Y1       \
	VXORPD       Y2, Y2, Y2        \
	VCMPPD       $0, Y2, Y0, Y4    \ // x = 0
	VBROADCASTSD MINUSINF, Y15     \
	VBLENDVPD    Y4, Y15, Y1, Y1   \
	VCMPPD       $1, Y2, Y0, Y4    \ // x < 0
	VBROADCASTSD NAN, Y15          \
	VBLENDVPD    Y4, Y15, Y1, Y1   \
	VBROADCASTSD MOST, Y15         \
	VCMPPD       $6, Y15, Y0, Y4   \ // x > MOST, or NaN
	VBLENDVPD    Y4, Y0, Y1, Y0

// func LogAVX2(dst, x []float64)
TEXT ·LogAVX2(SB), 0, $128-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	SUBQ $4, CX
	JLT  tail

loop4:
	VMOVUPD (SI), Y0
	LN
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX
	JGE     loop4

tail:
	ADDQ       $4, CX
	JZ         done
	MASK
	VMASKMOVPD (SI), Y13, Y0
	LN
	VMASKMOVPD Y0, Y13, (DI)

done:
	VZEROUPPER
	RET
