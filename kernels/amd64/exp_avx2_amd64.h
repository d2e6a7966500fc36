// The exponential of the AVX2 set, step by step as kernels.Exp.

// EXP turns x in Y0 into e^x. Clobbers Y1..Y7, Y9..Y11 and Y15.
//   Y1  shifted: k in its low bits    Y2  k, k·ln2Lo, r2, then a factor of 2^k
//   Y3  r                             Y4  q, then 1 + r          Y9  r4
//   Y11  where x is too small
// The bounds of x let e^x become Inf, let nothing become subnormal, and keep NaN: VMINPD and
// VMAXPD return their second source, x, if either is NaN.
#define EXP \
	VBROADCASTSD HIGHEST, Y15     \
	VMINPD       Y0, Y15, Y0      \
	VBROADCASTSD LEAST, Y15       \
	VCMPPD       $1, Y15, Y0, Y11 \ // x < least
	VMAXPD       Y0, Y15, Y0      \
	VBROADCASTSD SHIFT, Y6        \
	VBROADCASTSD LOG2E, Y15       \
	VMOVAPD      Y6, Y1           \
	VFMADD231PD  Y15, Y0, Y1      \ // shifted = x·log2e + shift
	VSUBPD       Y6, Y1, Y2       \ // k
	VBROADCASTSD LN2HI, Y15       \
	VFNMADD231PD Y15, Y2, Y0      \ // hi = x − k·ln2Hi
	VBROADCASTSD LN2LO, Y15       \
	VMULPD       Y15, Y2, Y2      \ // lo = k·ln2Lo
	VSUBPD       Y2, Y0, Y3       \ // r = hi − lo
	VSUBPD       Y3, Y0, Y0       \
	VSUBPD       Y2, Y0, Y0       \ // rest = (hi − r) − lo
	VMULPD       Y3, Y3, Y2       \ // r2
	VMULPD       Y2, Y2, Y9       \ // r4
	VBROADCASTSD EXP0, Y4         \
	VBROADCASTSD HALF, Y15        \
	VFMADD213PD  Y15, Y3, Y4      \ // q01
	VBROADCASTSD EXP2, Y5         \
	VBROADCASTSD EXP1, Y15        \
	VFMADD213PD  Y15, Y3, Y5      \ // q23
	VBROADCASTSD EXP4, Y6         \
	VBROADCASTSD EXP3, Y15        \
	VFMADD213PD  Y15, Y3, Y6      \ // q45
	VBROADCASTSD EXP6, Y7         \
	VBROADCASTSD EXP5, Y15        \
	VFMADD213PD  Y15, Y3, Y7      \ // q67
	VBROADCASTSD EXP8, Y10        \
	VBROADCASTSD EXP7, Y15        \
	VFMADD213PD  Y15, Y3, Y10     \ // q89
	VFMADD231PD  Y5, Y2, Y4       \ // q0
	VFMADD231PD  Y7, Y2, Y6       \ // q4
	VBROADCASTSD EXP9, Y15        \
	VFMADD231PD  Y15, Y2, Y10     \ // q8
	VFMADD231PD  Y10, Y9, Y6      \
	VFMADD231PD  Y6, Y9, Y4       \ // q
	VFMADD231PD  Y4, Y2, Y0       \ // r2·q + rest
	VBROADCASTSD ONE, Y15         \
	VADDPD       Y3, Y15, Y4      \ // a = 1 + r
	VSUBPD       Y4, Y15, Y5      \
	VADDPD       Y3, Y5, Y5       \ // b = (1 − a) + r
	VADDPD       Y5, Y0, Y0       \
	VADDPD       Y4, Y0, Y0       \ // y = a + (r2·q + rest + b)
	VPBROADCASTQ BIAS, Y15        \
	VPSRLQ       $1, Y1, Y2       \ // half of k
	VPSUBQ       Y2, Y1, Y1       \ // the other half
	VPADDQ       Y15, Y2, Y2      \
	VPADDQ       Y15, Y1, Y1      \
	VPSLLQ       $52, Y2, Y2      \
	VPSLLQ       $52, Y1, Y1      \
	VMULPD       Y2, Y0, Y0       \
	VMULPD       Y1, Y0, Y0       \
	VANDNPD      Y0, Y11, Y0

// MASK sets Y13 to the mask of the first CX < 4 lanes.
#define MASK \
	VMOVQ        CX, X13         \
	VPBROADCASTQ X13, Y13        \
	VPCMPGTQ     LANES, Y13, Y13
