//go:build !purego

// The entries of a column in rows that have a number: wherever number[rows_k] ≥ 0, it goes to
// index and values_k to out, one after another.
//
// 16 entries per iteration. Their numbers are gathered, since most of them are not used further,
// and the picked elements move to the front of their register. Whole registers are stored, as
// there is room for all.

#include "textflag.h"

// Registers
//   AX  number      SI  rows, next      DX  values, next      CX  entries left
//   DI  index, next      R8  out, next      R9  out      R10, R11  entries picked: of eight, of all
//   Z0  rows      Z1  numbers      Z2, Z3  values
//   K1  lanes to gather      K2  lanes picked      K3  of the upper eight      K4  lanes of the tail

// NUMBERS takes rows in Z0 and lanes in K1, which it clears. It leaves numbers in Z1 and, in K2, the
// lanes where they are not negative; K2 is 0 in all other lanes.
#define NUMBERS \
	VPTERNLOGD $0xFF, Z1, Z1, Z1  \
	VPGATHERDD (AX)(Z0*4), K1, Z1 \
	VPMOVD2M   Z1, K2             \
	KNOTW      K2, K2             \
	KSHIFTRW   $8, K2, K3         \
	KMOVW      K2, R11            \
	MOVBLZX    R11, R10           \
	POPCNTL    R10, R10           \
	POPCNTL    R11, R11

// func PickAVX512(number, rows []int32, values []float64, index []int32, out []float64) int
TEXT ·PickAVX512(SB), 0, $128-128
	MOVQ number_base+0(FP), AX
	MOVQ rows_base+24(FP), SI
	MOVQ rows_len+32(FP), CX
	MOVQ values_base+48(FP), DX
	MOVQ index_base+72(FP), DI
	MOVQ out_base+96(FP), R8
	MOVQ R8, R9
	SUBQ $16, CX
	JLT  tail

loop16:
	VMOVDQU32     (SI), Z0
	KXNORW        K1, K1, K1
	NUMBERS
	VMOVUPD       (DX), Z2
	VMOVUPD       64(DX), Z3
	VPCOMPRESSD.Z Z1, K2, Z1
	VCOMPRESSPD.Z Z2, K2, Z2
	VCOMPRESSPD.Z Z3, K3, Z3
	VMOVDQU32     Z1, (DI)
	VMOVUPD       Z2, (R8)
	VMOVUPD       Z3, (R8)(R10*8)
	LEAQ          (DI)(R11*4), DI
	LEAQ          (R8)(R11*8), R8
	ADDQ          $64, SI
	ADDQ          $128, DX
	SUBQ          $16, CX
	JGE           loop16

tail:
	ADDQ        $16, CX
	JZ          done
	MOVL        $1, BX
	SHLL        CX, BX
	DECL        BX
	KMOVW       BX, K1
	KSHIFTRW    $8, K1, K4
	VMOVDQU32.Z (SI), K1, Z0
	VMOVUPD.Z   (DX), K1, Z2
	VMOVUPD.Z   64(DX), K4, Z3
	NUMBERS
	VPCOMPRESSD Z1, K2, (DI)
	VCOMPRESSPD Z2, K2, (R8)
	VCOMPRESSPD Z3, K3, (R8)(R10*8)
	LEAQ        (R8)(R11*8), R8

done:
	SUBQ R9, R8
	SHRQ $3, R8
	MOVQ R8, ret+120(FP)
	VZEROUPPER
	RET
