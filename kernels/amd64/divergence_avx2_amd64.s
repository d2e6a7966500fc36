//go:build !purego

// Divergence: dst_i = (1 − c)·ln(1 + e^(rest − y_i·m_i)) + c·whole, c = |scale·t_i|, with the bits of
// kernels.Divergence.
//
// 32 elements at a time, first exponents and exponentials of all, then the rest, as in log1pexp.

#include "textflag.h"
#include "numbers_amd64.h"
#include "pairs_amd64.h"
#include "exp_avx2_amd64.h"
#include "decay_avx2_amd64.h"
#include "log1pexp_avx2_amd64.h"

// Registers, beside those of the macros
//   SI, R12, R13  y, m, t, next elements      DI  dst, next element      CX  elements left
//   DX  offset within the 32                  R11 has x of the 32 before what it has for the macros

// ARGUMENT takes y in Y0, m in Y3 and leaves x = rest − y·m in Y8. Clobbers Y1 and Y2.
#define ARGUMENT \
	VBROADCASTSD rest_0+104(FP), Y1 \
	VBROADCASTSD rest_1+112(FP), Y2 \
	VBLENDVPD    Y0, Y2, Y1, Y8     \
	VFNMADD231PD Y3, Y0, Y8

// TERM takes y in Y1, t in Y3, ln(1 + e^x) in Y0 and leaves the divergence there. Clobbers Y2..Y4 and Y15.
#define TERM \
	VBROADCASTSD whole_0+120(FP), Y2 \
	VBROADCASTSD whole_1+128(FP), Y4 \
	VBLENDVPD    Y1, Y4, Y2, Y2      \
	VBROADCASTSD scale+96(FP), Y4    \
	VMULPD       Y3, Y4, Y3          \
	VBROADCASTSD SIGN, Y15           \
	VANDNPD      Y3, Y15, Y3         \ // c
	VBROADCASTSD ONE, Y15            \
	VSUBPD       Y3, Y15, Y15        \
	VMULPD       Y15, Y0, Y0         \
	VFMADD231PD  Y2, Y3, Y0

// func DivergenceAVX2(dst, y, m, t []float64, scale float64, rest, whole [2]float64)
TEXT ·DivergenceAVX2(SB), 0, $640-136
	MOVQ dst_base+0(FP), DI
	MOVQ y_base+24(FP), SI
	MOVQ y_len+32(FP), CX
	MOVQ m_base+48(FP), R12
	MOVQ t_base+72(FP), R13
	CONSTANTS
	SUBQ $32, CX
	JLT  tail4

loop32:
	XORQ DX, DX

decay4:
	VMOVUPD (SI)(DX*1), Y0
	VMOVUPD (R12)(DX*1), Y3
	ARGUMENT
	VMOVUPD Y8, -256(R11)(DX*1)
	DECAY
	VMOVUPD Y0, 32(R11)(DX*1)
	ADDQ    $32, DX
	CMPQ    DX, $256
	JLT     decay4
	XORQ    DX, DX

logarithm4:
	VMOVUPD -256(R11)(DX*1), Y8
	VMOVUPD 32(R11)(DX*1), Y0
	LOGARITHM
	VMOVUPD (SI)(DX*1), Y1
	VMOVUPD (R13)(DX*1), Y3
	TERM
	VMOVUPD Y0, (DI)(DX*1)
	ADDQ    $32, DX
	CMPQ    DX, $256
	JLT     logarithm4
	ADDQ    $256, SI
	ADDQ    $256, R12
	ADDQ    $256, R13
	ADDQ    $256, DI
	SUBQ    $32, CX
	JGE     loop32

tail4:
	ADDQ $28, CX // elements left, less 4
	JLT  tail

loop4:
	VMOVUPD (SI), Y0
	VMOVUPD (R12), Y3
	ARGUMENT
	DECAY
	LOGARITHM
	VMOVUPD (SI), Y1
	VMOVUPD (R13), Y3
	TERM
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, R12
	ADDQ    $32, R13
	ADDQ    $32, DI
	SUBQ    $4, CX
	JGE     loop4

tail:
	ADDQ       $4, CX
	JZ         done
	MASK
	VMASKMOVPD (SI), Y13, Y0
	VMASKMOVPD (R12), Y13, Y3
	ARGUMENT
	DECAY
	LOGARITHM
	VMASKMOVPD (SI), Y13, Y1
	VMASKMOVPD (R13), Y13, Y3
	TERM
	VMASKMOVPD Y0, Y13, (DI)

done:
	VZEROUPPER
	RET
