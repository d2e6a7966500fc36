// ln(1 + e^x) of the AVX-512 set, from e^−|x|, step by step as Log1pExp in package kernels.

// LOGARITHM takes f in Z0, x in Z8 and leaves max(x, 0) + ln(1+f) in Z0. Clobbers Z1..Z9.
//   Z1  j in its low bits, then −ln c      Z2  c, then r2
//   Z3  r                                  Z4  r4
#define LOGARITHM \
	VBROADCASTSD     SHIFT, Z1               \
	VFMADD231PD.BCST FIFTEEN, Z0, Z1         \ // f·15 to the nearest
	VMOVAPD          Z1, Z2                  \
	VPERMI2PD        Z29, Z28, Z2            \ // c
	VPERMI2PD        Z31, Z30, Z1            \ // −ln c
	VADDPD.BCST      MINUSONE, Z2, Z3        \
	VFMADD231PD      Z2, Z0, Z3              \ // r = f·c + (c − 1)
	VCMPPD.BCST      $13, NEGLIGIBLE, Z0, K3 \
	VMULPD.Z         Z3, Z3, K3, Z2          \ // r2, or 0 where it could be subnormal
	VMULPD           Z2, Z2, Z4              \ // r4
	VBROADCASTSD     LOG1P1, Z5              \
	VFMADD213PD.BCST MINUSHALF, Z3, Z5       \ // p01
	VBROADCASTSD     LOG1P3, Z6              \
	VFMADD213PD.BCST LOG1P2, Z3, Z6          \ // p23
	VBROADCASTSD     LOG1P5, Z7              \
	VFMADD213PD.BCST LOG1P4, Z3, Z7          \ // p45
	VBROADCASTSD     LOG1P7, Z9              \
	VFMADD213PD.BCST LOG1P6, Z3, Z9          \ // p67
	VFMADD231PD      Z6, Z2, Z5              \ // p0
	VFMADD231PD      Z9, Z2, Z7              \
	VFMADD231PD.BCST LOG1P8, Z4, Z7          \ // p4
	VFMADD231PD      Z7, Z4, Z5              \ // p
	VFMADD231PD      Z5, Z2, Z3              \ // r + r2·p
	VADDPD           Z1, Z3, Z0              \ // ln(1 + f)
	VPXORQ           Z5, Z5, Z5              \
	VMAXPD           Z8, Z5, Z8              \ // max(x, 0), or NaN
	VADDPD           Z8, Z0, Z0
