// e^−|x| of the AVX-512 set, step by step as decay in package kernels.

// TABLES loads the tables, two registers each. Clobbers AX.
//   Z24, Z25  powers   Z26, Z27  remnants   Z28, Z29  inverses   Z30, Z31  logs
#define TABLES \
	LEAQ    tables<>(SB), AX     \
	VMOVUPD POWERS(AX), Z24      \
	VMOVUPD POWERS+64(AX), Z25   \
	VMOVUPD REMNANTS(AX), Z26    \
	VMOVUPD REMNANTS+64(AX), Z27 \
	VMOVUPD INVERSES(AX), Z28    \
	VMOVUPD INVERSES+64(AX), Z29 \
	VMOVUPD LOGS(AX), Z30        \
	VMOVUPD LOGS+64(AX), Z31

// DECAY takes x in Z8 and leaves 2^−⌊k⌋·e^−|x| in Z3, k in Z2 and in K2 where e^−|x| is no
// smaller than the least normal number, or NaN, for SCALE. Clobbers Z0..Z6.
//   Z1  shifted: 16·k in its low bits, then power     Z4  r2
//   Z3  r, then p
// VPERMI2PD looks up the low 4 bits of each element in the table.
#define DECAY \
	VPORQ.BCST        SIGN, Z8, Z0       \ // −|x|
	VCMPPD.BCST       $5, LEAST, Z0, K2  \
	VBROADCASTSD      LOG2E, Z1          \
	VFMADD213PD.BCST  DECAYSHIFT, Z0, Z1 \ // shifted
	VSUBPD.BCST       DECAYSHIFT, Z1, Z2 \ // k
	VFNMADD231PD.BCST LN2HI, Z2, Z0      \ // x − k·ln2Hi
	VMOVAPD           Z1, Z3             \
	VPERMI2PD         Z27, Z26, Z3       \
	VFNMADD231PD.BCST LN2LO, Z2, Z3      \ // remnant − k·ln2Lo
	VADDPD            Z3, Z0, Z3         \ // r
	VPERMI2PD         Z25, Z24, Z1       \ // power
	VMULPD            Z3, Z3, Z4         \ // r2
	VBROADCASTSD      DECAY1, Z0         \
	VFMADD213PD.BCST  HALF, Z3, Z0       \ // q01
	VBROADCASTSD      DECAY3, Z5         \
	VFMADD213PD.BCST  DECAY2, Z3, Z5     \ // q23
	VBROADCASTSD      DECAY5, Z6         \
	VFMADD213PD.BCST  DECAY4, Z3, Z6     \ // q45
	VFMADD231PD       Z6, Z4, Z5         \
	VFMADD231PD       Z5, Z4, Z0         \ // q
	VFMADD231PD       Z0, Z4, Z3         \ // p = r + r2·q
	VFMADD213PD       Z1, Z1, Z3         // power·p + power

// SCALE completes e^−|x| from what DECAY leaves. VSCALEFPD takes ⌊k⌋ of k.
#define SCALE(f) \
	VSCALEFPD.Z Z2, Z3, K2, f
