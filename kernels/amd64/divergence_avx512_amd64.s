//go:build !purego

// Divergence: dst_i = (1 − c)·ln(1 + e^(rest − y_i·m_i)) + c·whole, c = |scale·t_i|, with the bits of
// kernels.Divergence.
//
// 64 elements at a time, first exponents and exponentials of all, then the rest, as in log1pexp.

#include "textflag.h"
#include "numbers_amd64.h"
#include "tables_amd64.h"
#include "exp_avx512_amd64.h"
#include "decay_avx512_amd64.h"
#include "log1pexp_avx512_amd64.h"

// Registers, beside those of the macros
//   SI, R9, R10  y, m, t, next elements      DI  dst, next element      CX  elements left
//   DX  offset within the 64                 R8  e^−|x| of the 64, aligned, and x behind them
//   Z10  y, then whole    Z11  c    Z12  1 − c     K4  where y < 0
//   Z16, Z17  rest    Z18, Z19  whole    Z20  scale    Z21  1    Z22  sign

// SIDE takes y in Z10 and selects into to, of two numbers, the one for the sign of y.
#define SIDE(positive, negative, to) \
	VPMOVQ2M Z10, K4          \
	VMOVAPD  positive, to     \
	VMOVAPD  negative, K4, to

// TERM takes y in Z10, scale·t in Z11, ln(1 + e^x) in Z0 and leaves the divergence there.
#define TERM \
	VANDNPD     Z11, Z22, Z11 \ // c
	VSUBPD      Z11, Z21, Z12 \
	VMULPD      Z12, Z0, Z0   \
	SIDE(Z18, Z19, Z10)       \
	VFMADD231PD Z10, Z11, Z0

// func DivergenceAVX512(dst, y, m, t []float64, scale float64, rest, whole [2]float64)
TEXT ·DivergenceAVX512(SB), 0, $1152-136
	MOVQ         dst_base+0(FP), DI
	MOVQ         y_base+24(FP), SI
	MOVQ         y_len+32(FP), CX
	MOVQ         m_base+48(FP), R9
	MOVQ         t_base+72(FP), R10
	VBROADCASTSD scale+96(FP), Z20
	VBROADCASTSD rest_0+104(FP), Z16
	VBROADCASTSD rest_1+112(FP), Z17
	VBROADCASTSD whole_0+120(FP), Z18
	VBROADCASTSD whole_1+128(FP), Z19
	TABLES
	VBROADCASTSD ONE, Z21
	VBROADCASTSD SIGN, Z22
	LEAQ         f-1088(SP), R8
	ADDQ         $63, R8
	ANDQ         $~63, R8
	SUBQ         $64, CX
	JLT          tail8

loop64:
	XORQ DX, DX

decay8:
	VMOVUPD      (SI)(DX*1), Z10
	SIDE(Z16, Z17, Z8)
	VFNMADD231PD (R9)(DX*1), Z10, Z8
	VMOVUPD      Z8, 512(R8)(DX*1)
	DECAY
	SCALE(Z0)
	VMOVUPD      Z0, (R8)(DX*1)
	ADDQ         $64, DX
	CMPQ         DX, $512
	JLT          decay8
	XORQ         DX, DX

logarithm8:
	VMOVUPD 512(R8)(DX*1), Z8
	VMOVUPD (R8)(DX*1), Z0
	LOGARITHM
	VMOVUPD (SI)(DX*1), Z10
	VMULPD  (R10)(DX*1), Z20, Z11
	TERM
	VMOVUPD Z0, (DI)(DX*1)
	ADDQ    $64, DX
	CMPQ    DX, $512
	JLT     logarithm8
	ADDQ    $512, SI
	ADDQ    $512, R9
	ADDQ    $512, R10
	ADDQ    $512, DI
	SUBQ    $64, CX
	JGE     loop64

tail8:
	ADDQ $56, CX // elements left, less 8
	JLT  tail

loop8:
	VMOVUPD      (SI), Z10
	SIDE(Z16, Z17, Z8)
	VFNMADD231PD (R9), Z10, Z8
	DECAY
	SCALE(Z0)
	LOGARITHM
	VMULPD       (R10), Z20, Z11
	TERM
	VMOVUPD      Z0, (DI)
	ADDQ         $64, SI
	ADDQ         $64, R9
	ADDQ         $64, R10
	ADDQ         $64, DI
	SUBQ         $8, CX
	JGE          loop8

tail:
	ADDQ         $8, CX
	JZ           done
	MASK
	VMOVUPD.Z    (SI), K1, Z10
	SIDE(Z16, Z17, Z8)
	VMOVUPD.Z    (R9), K1, Z11
	VFNMADD231PD Z11, Z10, Z8
	DECAY
	SCALE(Z0)
	LOGARITHM
	VMULPD.Z     (R10), Z20, K1, Z11
	TERM
	VMOVUPD      Z0, K1, (DI)

done:
	VZEROUPPER
	RET
