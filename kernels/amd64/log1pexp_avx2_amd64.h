// ln(1 + e^x) of the AVX2 set, from e^−|x|, step by step as Log1pExp in package kernels.

// LOGARITHM takes f in Y0, x in Y8 and leaves max(x, 0) + ln(1+f) in Y0. Clobbers Y1..Y9, Y15 and
// what DECAY does.
//   Y1  j in its low bits, then −ln c      Y2  c, then r2
//   Y3  r                                  Y4  r4
#define LOGARITHM \
	VBROADCASTSD SHIFT, Y1             \
	VBROADCASTSD FIFTEEN, Y15          \
	VFMADD231PD  Y15, Y0, Y1           \ // f·15 to the nearest
	LOOKUP(LOGARITHMS, Y1, Y2, X1, Y1) \ // c, −ln c
	VBROADCASTSD MINUSONE, Y15         \
	VADDPD       Y15, Y2, Y3           \
	VFMADD231PD  Y2, Y0, Y3            \ // r = f·c + (c − 1)
	VBROADCASTSD NEGLIGIBLE, Y15       \
	VCMPPD       $13, Y15, Y0, Y15     \
	VANDPD       Y15, Y3, Y2           \
	VMULPD       Y3, Y2, Y2            \ // r2, or 0 where it could be subnormal
	VMULPD       Y2, Y2, Y4            \ // r4
	VBROADCASTSD LOG1P1, Y5            \
	VBROADCASTSD MINUSHALF, Y15        \
	VFMADD213PD  Y15, Y3, Y5           \ // p01
	VBROADCASTSD LOG1P3, Y6            \
	VBROADCASTSD LOG1P2, Y15           \
	VFMADD213PD  Y15, Y3, Y6           \ // p23
	VBROADCASTSD LOG1P5, Y7            \
	VBROADCASTSD LOG1P4, Y15           \
	VFMADD213PD  Y15, Y3, Y7           \ // p45
	VBROADCASTSD LOG1P7, Y9            \
	VBROADCASTSD LOG1P6, Y15           \
	VFMADD213PD  Y15, Y3, Y9           \ // p67
	VFMADD231PD  Y6, Y2, Y5            \ // p0
	VFMADD231PD  Y9, Y2, Y7            \
	VBROADCASTSD LOG1P8, Y15           \
	VFMADD231PD  Y15, Y4, Y7           \ // p4
	VFMADD231PD  Y7, Y4, Y5            \ // p
	VFMADD231PD  Y5, Y2, Y3            \ // r + r2·p
	VADDPD       Y1, Y3, Y0            \ // ln(1 + f)
	VXORPD       Y15, Y15, Y15         \
	VMAXPD       Y8, Y15, Y8           \ // max(x, 0), or NaN
	VADDPD       Y8, Y0, Y0
