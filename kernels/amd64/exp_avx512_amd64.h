// The exponential of the AVX-512 set, step by step as kernels.Exp.

// EXP turns x in Z0 into e^x. Clobbers Z1..Z7, Z9 and Z10.
//   Z1  k                             Z2  k·ln2Lo, then r2
//   Z3  r                             Z4  q, then 1 + r          Z9  r4
// The bounds of x leave room for e^x to be Inf and 0, and keep NaN: VMINPD and
// VMAXPD return their second source, x, where there is one.
#define EXP \
	VBROADCASTSD      HIGHEST, Z5   \
	VMINPD            Z0, Z5, Z0    \
	VBROADCASTSD      LOWEST, Z5    \
	VMAXPD            Z0, Z5, Z0    \
	VBROADCASTSD      SHIFT, Z6     \
	VMOVAPD           Z6, Z1        \
	VFMADD231PD.BCST  LOG2E, Z0, Z1 \ // shifted = x·log2e + shift
	VSUBPD            Z6, Z1, Z1    \ // k
	VFNMADD231PD.BCST LN2HI, Z1, Z0 \ // hi = x − k·ln2Hi
	VMULPD.BCST       LN2LO, Z1, Z2 \ // lo = k·ln2Lo
	VSUBPD            Z2, Z0, Z3    \ // r = hi − lo
	VSUBPD            Z3, Z0, Z0    \
	VSUBPD            Z2, Z0, Z0    \ // rest = (hi − r) − lo
	VMULPD            Z3, Z3, Z2    \ // r2
	VMULPD            Z2, Z2, Z9    \ // r4
	VBROADCASTSD      EXP0, Z4      \
	VFMADD213PD.BCST  HALF, Z3, Z4  \ // q01
	VBROADCASTSD      EXP2, Z5      \
	VFMADD213PD.BCST  EXP1, Z3, Z5  \ // q23
	VBROADCASTSD      EXP4, Z6      \
	VFMADD213PD.BCST  EXP3, Z3, Z6  \ // q45
	VBROADCASTSD      EXP6, Z7      \
	VFMADD213PD.BCST  EXP5, Z3, Z7  \ // q67
	VBROADCASTSD      EXP8, Z10     \
	VFMADD213PD.BCST  EXP7, Z3, Z10 \ // q89
	VFMADD231PD       Z5, Z2, Z4    \ // q0
	VFMADD231PD       Z7, Z2, Z6    \ // q4
	VFMADD231PD.BCST  EXP9, Z2, Z10 \ // q8
	VFMADD231PD       Z10, Z9, Z6   \
	VFMADD231PD       Z6, Z9, Z4    \ // q
	VFMADD231PD       Z4, Z2, Z0    \ // r2·q + rest
	VBROADCASTSD      ONE, Z6       \
	VADDPD            Z3, Z6, Z4    \ // a = 1 + r
	VSUBPD            Z4, Z6, Z5    \
	VADDPD            Z3, Z5, Z5    \ // b = (1 − a) + r
	VADDPD            Z5, Z0, Z0    \
	VADDPD            Z4, Z0, Z0    \ // y = a + (r2·q + rest + b)
	VSCALEFPD         Z1, Z0, Z0    // y·2^k, rounded once

// MASK sets K1 to the mask of the first CX < 8 lanes. Clobbers BX.
#define MASK \
	MOVL  $1, BX \
	SHLL  CX, BX \
	DECL  BX     \
	KMOVB BX, K1
