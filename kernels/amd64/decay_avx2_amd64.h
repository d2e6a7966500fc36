// e^−|x| of the AVX2 set, step by step as decay in package kernels.

// LOOKUP takes the low 4 bits of each element of from as an index into a table of pairs
// at R8, and fills first and second. The indices go through memory at R11 and general
// registers, since the ports of the vector units are the bottleneck. Clobbers AX, BX, R9
// and R10; Y14 is 15, X5 and Y5 scratch.
#define LOOKUP(table, from, first, xsecond, second) \
	VPAND       from, Y14, Y5                        \
	VPADDQ      Y5, Y5, Y5                           \
	VMOVUPD     Y5, (R11)                            \
	MOVQ        (R11), AX                            \
	MOVQ        8(R11), BX                           \
	MOVQ        16(R11), R9                          \
	MOVQ        24(R11), R10                         \
	VMOVUPD     table(R8)(AX*8), X5                  \
	VMOVUPD     table(R8)(BX*8), xsecond             \
	VINSERTF128 $1, table(R8)(R9*8), Y5, Y5          \
	VINSERTF128 $1, table(R8)(R10*8), second, second \
	VUNPCKLPD   second, Y5, first                    \
	VUNPCKHPD   second, Y5, second

// CONSTANTS loads the constants that stay in registers. R11 is scratch of 32 and 256 bytes, which it
// aligns: stores that straddle cache lines are not forwarded to loads, and Go aligns frames to 8 bytes.
#define CONSTANTS \
	LEAQ         scratch-320(SP), R11 \
	ADDQ         $31, R11             \
	ANDQ         $~31, R11            \
	LEAQ         pairs<>(SB), R8      \
	VPCMPEQQ     Y14, Y14, Y14        \
	VPSRLQ       $60, Y14, Y14        \
	VBROADCASTSD LOG2E, Y12           \
	VBROADCASTSD LN2HI, Y11           \
	VBROADCASTSD LN2LO, Y10

// DECAY takes x in Y8 and leaves e^−|x| in Y0, with CONSTANTS loaded. Clobbers
// Y1..Y7, Y9, Y15, AX, BX, R9 and R10.
//   Y1  shifted: 16·k in its low bits, then 2^⌊k⌋     Y2  k
//   Y3  r, then p                         Y4  r2            Y7  power
//   Y9  where |x| is too large
// VMAXPD returns its second source, x, where that is NaN.
#define DECAY \
	VBROADCASTSD SIGN, Y15         \
	VORPD        Y15, Y8, Y0       \ // −|x|
	VBROADCASTSD LEAST, Y15        \
	VCMPPD       $1, Y15, Y0, Y9   \ // −|x| < least
	VMAXPD       Y0, Y15, Y0       \
	VBROADCASTSD DECAYSHIFT, Y6    \
	VMOVAPD      Y6, Y1            \
	VFMADD231PD  Y12, Y0, Y1       \ // shifted
	VSUBPD       Y6, Y1, Y2        \ // k
	VFNMADD231PD Y11, Y2, Y0       \ // x − k·ln2Hi
	LOOKUP(DECAYS, Y1, Y7, X3, Y3) \ // power, remnant
	VFNMADD231PD Y10, Y2, Y3       \ // remnant − k·ln2Lo
	VADDPD       Y3, Y0, Y3        \ // r
	VMULPD       Y3, Y3, Y4        \ // r2
	VBROADCASTSD DECAY1, Y0        \
	VBROADCASTSD HALF, Y15         \
	VFMADD213PD  Y15, Y3, Y0       \ // q01
	VBROADCASTSD DECAY3, Y5        \
	VBROADCASTSD DECAY2, Y15       \
	VFMADD213PD  Y15, Y3, Y5       \ // q23
	VBROADCASTSD DECAY5, Y6        \
	VBROADCASTSD DECAY4, Y15       \
	VFMADD213PD  Y15, Y3, Y6       \ // q45
	VFMADD231PD  Y6, Y4, Y5        \
	VFMADD231PD  Y5, Y4, Y0        \ // q
	VFMADD231PD  Y0, Y4, Y3        \ // p = r + r2·q
	VFMADD213PD  Y7, Y7, Y3        \ // y = power·p + power
	VPBROADCASTQ BIAS, Y15         \
	VPSRLQ       $4, Y1, Y1        \ // ⌊k⌋
	VPADDQ       Y15, Y1, Y1       \
	VPSLLQ       $52, Y1, Y1       \
	VMULPD       Y1, Y3, Y0        \
	VANDNPD      Y0, Y9, Y0
