// The exponential of the AVX-512 set, step by step as kernels.Exp.

// REDUCE takes x, and leaves k, r and r2, the rounding error of r in x, and in normal the lanes where e^x is
// no smaller than the least normal number, or NaN. Clobbers Z12. The bound of x lets e^x become Inf, and keeps
// NaN: VMINPD returns its second source, x, if either is NaN.
#define REDUCE(x, k, r, r2, normal) \
	VBROADCASTSD      HIGHEST, Z12         \
	VMINPD            x, Z12, x            \
	VCMPPD.BCST       $5, LEAST, x, normal \
	VBROADCASTSD      LOG2E, k             \
	VFMADD213PD.BCST  SHIFT, x, k          \ // x·log2e + shift
	VSUBPD.BCST       SHIFT, k, k          \
	VFNMADD231PD.BCST LN2HI, k, x          \ // hi = x − k·ln2Hi
	VMULPD.BCST       LN2LO, k, Z12        \ // lo = k·ln2Lo
	VSUBPD            Z12, x, r            \ // r = hi − lo
	VSUBPD            r, x, x              \
	VSUBPD            Z12, x, x            \ // rest = (hi − r) − lo
	VMULPD            r, r, r2

// SERIES takes what REDUCE leaves, and turns x into e^x. Clobbers Z12..Z17.
#define SERIES(x, k, r, r2, normal) \
	VMULPD           r2, r2, Z12     \ // r4
	VBROADCASTSD     EXP0, Z13       \
	VFMADD213PD.BCST HALF, r, Z13    \ // q01
	VBROADCASTSD     EXP2, Z14       \
	VFMADD213PD.BCST EXP1, r, Z14    \ // q23
	VBROADCASTSD     EXP4, Z15       \
	VFMADD213PD.BCST EXP3, r, Z15    \ // q45
	VBROADCASTSD     EXP6, Z16       \
	VFMADD213PD.BCST EXP5, r, Z16    \ // q67
	VBROADCASTSD     EXP8, Z17       \
	VFMADD213PD.BCST EXP7, r, Z17    \ // q89
	VFMADD231PD      Z14, r2, Z13    \ // q0
	VFMADD231PD      Z16, r2, Z15    \ // q4
	VFMADD231PD.BCST EXP9, r2, Z17   \ // q8
	VFMADD231PD      Z17, Z12, Z15   \
	VFMADD231PD      Z15, Z12, Z13   \ // q
	VFMADD231PD      Z13, r2, x      \ // r2·q + rest
	VBROADCASTSD     ONE, Z15        \
	VADDPD           r, Z15, Z13     \ // a = 1 + r
	VSUBPD           Z13, Z15, Z14   \
	VADDPD           r, Z14, Z14     \ // b = (1 − a) + r
	VADDPD           Z14, x, x       \
	VADDPD           Z13, x, x       \ // y = a + (r2·q + rest + b)
	VSCALEFPD.Z      k, x, normal, x // y·2^k

// MASK sets K1 to the mask of the first CX < 8 lanes. Clobbers BX.
#define MASK \
	MOVL  $1, BX \
	SHLL  CX, BX \
	DECL  BX     \
	KMOVB BX, K1
