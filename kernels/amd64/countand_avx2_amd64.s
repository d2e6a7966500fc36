//go:build !purego

// The number of bits that are set in both: Σ popcount(x_i & y_i).
//
// 4 words per iteration, by POPCNT on each word: vectors of 32 bytes with tables of nibbles are
// no faster.

#include "textflag.h"

// Registers
//   SI, DI  x and y, next words         CX  words left
//   AX      the sum                     R8..R11  words, and what is set in them

#define COUNT(offset, word) \
	MOVQ    offset(SI), word \
	ANDQ    offset(DI), word \
	POPCNTQ word, word       \
	ADDQ    word, AX

// func CountAndAVX2(x, y []uint64) int
TEXT ·CountAndAVX2(SB), 0, $128-56
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ y_base+24(FP), DI
	XORL AX, AX
	SUBQ $4, CX
	JLT  tail

loop4:
	COUNT(0, R8)
	COUNT(8, R9)
	COUNT(16, R10)
	COUNT(24, R11)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JGE  loop4

tail:
	ADDQ $4, CX
	JZ   done

loop1:
	COUNT(0, R8)
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ CX
	JNZ  loop1

done:
	MOVQ AX, ret+48(FP)
	RET
