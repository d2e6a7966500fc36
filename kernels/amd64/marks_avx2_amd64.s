//go:build !purego

// The positions where a text has one of three bytes. 64 bytes become a word with a bit for each, and POPCNT
// counts the positions. Their number is rounded up to a multiple of eight, which saves a branch for each.

#include "textflag.h"

// Registers
//   SI   text, next         CX  64 bytes left       R8  their place
//   DI   at, next           AX, BX  the bits        DX  how many
//   Y0, Y1, Y8 the three bytes    Y2 … Y7 operands

#define PLACE(offset) \
	TZCNTQ AX, R9          \
	LEAQ   -1(AX), R10     \
	ADDL   R8, R9          \
	ANDQ   R10, AX         \
	MOVL   R9, offset(R11)

// func MarksAVX2(text []byte, a, b, c byte, base int, at []int32) (n int)
TEXT ·MarksAVX2(SB), 0, $128-72
	MOVQ         text_base+0(FP), SI
	MOVQ         text_len+8(FP), CX
	MOVQ         base+32(FP), R8
	MOVQ         at_base+40(FP), DI
	VPBROADCASTB a+24(FP), Y0
	VPBROADCASTB b+25(FP), Y1
	VPBROADCASTB c+26(FP), Y8
	SHRQ         $6, CX
	JZ           end

loop64:
	VMOVDQU   (SI), Y2
	VMOVDQU   32(SI), Y3
	VPCMPEQB  Y0, Y2, Y4
	VPCMPEQB  Y1, Y2, Y2
	VPCMPEQB  Y0, Y3, Y5
	VPCMPEQB  Y1, Y3, Y3
	VPCMPEQB  (SI), Y8, Y6
	VPCMPEQB  32(SI), Y8, Y7
	VPOR      Y4, Y2, Y2
	VPOR      Y5, Y3, Y3
	VPOR      Y6, Y2, Y2
	VPOR      Y7, Y3, Y3
	VPMOVMSKB Y2, AX
	VPMOVMSKB Y3, BX
	SHLQ      $32, BX
	ORQ       BX, AX
	POPCNTQ   AX, DX
	MOVQ      DI, R11
	LEAQ      (DI)(DX*4), DI

places:
	SUBQ $8, DX
	JLT  few      // fewer than eight are left, perhaps none
	PLACE(0)
	PLACE(4)
	PLACE(8)
	PLACE(12)
	PLACE(16)
	PLACE(20)
	PLACE(24)
	PLACE(28)
	ADDQ $32, R11
	JMP  places

few:
	TESTQ AX, AX
	JZ    next
	PLACE(0)
	PLACE(4)
	PLACE(8)
	PLACE(12)
	PLACE(16)
	PLACE(20)
	PLACE(24)

next:
	ADDQ $64, SI
	ADDQ $64, R8
	DECQ CX
	JNZ  loop64

end:
	SUBQ at_base+40(FP), DI
	SHRQ $2, DI
	MOVQ DI, n+64(FP)
	VZEROUPPER
	RET
