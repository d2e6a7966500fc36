//go:build !purego

// Natural logarithm: dst_i = ln x_i, with the bits of kernels.Log.
//
// x = 2^k·(1+f) with √½ ≤ 1+f < √2, s = f/(2+f), and a polynomial of s². Eight elements per
// iteration; iterations do not depend on one another.

#include "textflag.h"
#include "numbers_amd64.h"
#include "exp_avx512_amd64.h"

// Registers, beside those of the macros
//   SI  x, next element         DI  dst, next element      CX  elements left

// LN takes x in Z0 and leaves ln x in Z1. Clobbers Z2..Z7 and K2.
//   Z2  54 for subnormal numbers, then f²/2    Z3  k
//   Z4  s                                      Z5  z      Z6  p
// k + 1024 is the upper 12 bits of (bits of x) − (bits of √½) + 1024<<52, which is never negative.
#define LN \
	VBROADCASTSD      LEASTNORMAL, Z7             \
	VCMPPD            $1, Z7, Z0, K2              \ // x < 2^−1022
	VMOVAPD           Z0, Z1                      \
	VMULPD.BCST       RAISE, Z0, K2, Z1           \ // x·2^54
	VBROADCASTSD.Z    RAISED, K2, Z2              \
	VPADDQ.BCST       SPLIT, Z1, Z3               \
	VPSRLQ            $52, Z3, Z3                 \ // k + 1024
	VPSLLQ            $52, Z3, Z4                 \
	VPSUBQ            Z4, Z1, Z1                  \
	VPADDQ.BCST       SPLITTOP, Z1, Z1            \ // 1 + f
	VPORQ.BCST        EXPONENT, Z3, Z3            \
	VSUBPD.BCST       EXPONENTZERO, Z3, Z3        \
	VSUBPD            Z2, Z3, Z3                  \ // k
	VSUBPD.BCST       ONE, Z1, Z1                 \ // f
	VADDPD.BCST       TWO, Z1, Z4                 \
	VDIVPD            Z4, Z1, Z4                  \ // s
	VMULPD            Z4, Z4, Z5                  \ // z
	VBROADCASTSD      LOG6, Z6                    \
	VFMADD213PD.BCST  LOG5, Z5, Z6                \
	VFMADD213PD.BCST  LOG4, Z5, Z6                \
	VFMADD213PD.BCST  LOG3, Z5, Z6                \
	VFMADD213PD.BCST  LOG2, Z5, Z6                \
	VFMADD213PD.BCST  LOG1, Z5, Z6                \
	VFMADD213PD.BCST  LOG0, Z5, Z6                \ // p
	VMULPD.BCST       HALF, Z1, Z2                \
	VMULPD            Z1, Z2, Z2                  \ // half = f²/2
	VFMADD213PD       Z2, Z5, Z6                  \ // p·z + half
	VMULPD.BCST       LN2LO, Z3, Z7               \
	VFMADD213PD       Z7, Z4, Z6                  \ // tail
	VSUBPD            Z6, Z2, Z2                  \
	VSUBPD            Z2, Z1, Z1                  \ // f − (half − tail)
	VFMADD231PD.BCST  LN2HI, Z3, Z1               \
	VFIXUPIMMPD.BCST  $0, unusual<>(SB), Z0, Z1

// What VFIXUPIMMPD returns for each kind of x, in 4 bits each: from the lowest, 2 for the two
// kinds of NaN, x itself; 4 for 0, −Inf; 0 for 1 and positive numbers (the last), ln x as it is; 3 for
// −Inf (the fifth) and negative numbers, NaN; 5 for +Inf, itself.
DATA unusual<>+0(SB)/8, $0x03530422
GLOBL unusual<>(SB), RODATA|NOPTR, $8

// func LogAVX512(dst, x []float64)
TEXT ·LogAVX512(SB), 0, $128-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	SUBQ $8, CX
	JLT  tail

loop8:
	VMOVUPD (SI), Z0
	LN
	VMOVUPD Z1, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JGE     loop8

tail:
	ADDQ      $8, CX
	JZ        done
	MASK
	VMOVUPD.Z (SI), K1, Z0
	LN
	VMOVUPD   Z1, K1, (DI)

done:
	VZEROUPPER
	RET
