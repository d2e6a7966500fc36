//go:build !purego

// The numbers that the cells of a table spell: four cells at a time, of eight bytes at most, or else two cells,
// one in each half of a register.
//
// The 16 bytes before the end of a cell are loaded. The bytes before its beginning become 0, as does a minus
// there, and the bytes before a point move one byte towards it, so that 16 digits remain with zeros before
// them. They are combined by twos, fours and eights. The quotient of two exact numbers, up to 15 digits and a
// power of ten, is the nearest float64. Short cells are done in the same way, but each shifts its digits by a
// count of its own, and there is no division where none of the four has a point.

#include "textflag.h"

// The 16 bytes of the window from 16+len on are zeros, then len bytes of 255; from 48−q on they are q bytes
// of 255, then zeros.
#define WINDOW  0
#define POWERS  48 // q: 10^(16−q), 1 for q = 0
#define LIMITS  184 // the first of 16 digits is 0
#define IOTA    200
#define TENS    216 // weights that combine two digits, two pairs, and two fours
#define SCALE   264 // 10⁸
#define SIGN    272
#define TWOS    280 // 2, in 32 bits
#define SEVENS  296
#define NINES   312 // in bytes
#define ONES    344 // in bytes
#define SHORT   376 // 10^q, q ≤ 7, as float32
#define EIGHT   408 // in 64 bits

DATA cells<>+0(SB)/8, $0
DATA cells<>+8(SB)/8, $0
DATA cells<>+16(SB)/8, $0xffffffffffffffff
DATA cells<>+24(SB)/8, $0xffffffffffffffff
DATA cells<>+32(SB)/8, $0
DATA cells<>+40(SB)/8, $0
DATA cells<>+48(SB)/8, $1.0
DATA cells<>+56(SB)/8, $1.0e15
DATA cells<>+64(SB)/8, $1.0e14
DATA cells<>+72(SB)/8, $1.0e13
DATA cells<>+80(SB)/8, $1.0e12
DATA cells<>+88(SB)/8, $1.0e11
DATA cells<>+96(SB)/8, $1.0e10
DATA cells<>+104(SB)/8, $1.0e9
DATA cells<>+112(SB)/8, $1.0e8
DATA cells<>+120(SB)/8, $1.0e7
DATA cells<>+128(SB)/8, $1.0e6
DATA cells<>+136(SB)/8, $1.0e5
DATA cells<>+144(SB)/8, $1.0e4
DATA cells<>+152(SB)/8, $1.0e3
DATA cells<>+160(SB)/8, $1.0e2
DATA cells<>+168(SB)/8, $1.0e1
DATA cells<>+176(SB)/8, $1.0
DATA cells<>+184(SB)/8, $0x0909090909090900
DATA cells<>+192(SB)/8, $0x0909090909090909
DATA cells<>+200(SB)/8, $0x0706050403020100
DATA cells<>+208(SB)/8, $0x0f0e0d0c0b0a0908
DATA cells<>+216(SB)/8, $0x010a010a010a010a
DATA cells<>+224(SB)/8, $0x0001006400010064
DATA cells<>+232(SB)/8, $0x0001271000012710
DATA cells<>+240(SB)/8, $0x3030303030303030 // the digit 0
DATA cells<>+248(SB)/8, $0xfdfdfdfdfdfdfdfd // a minus, less the digit 0
DATA cells<>+256(SB)/8, $0xfefefefefefefefe // a point, less the digit 0
DATA cells<>+264(SB)/8, $1.0e8
DATA cells<>+272(SB)/8, $0x8000000000000000
DATA cells<>+280(SB)/8, $0x0000000200000002
DATA cells<>+288(SB)/8, $0x0000000200000002
DATA cells<>+296(SB)/8, $0x0000000700000007
DATA cells<>+304(SB)/8, $0x0000000700000007
DATA cells<>+312(SB)/8, $0x0909090909090909
DATA cells<>+320(SB)/8, $0x0909090909090909
DATA cells<>+328(SB)/8, $0x0909090909090909
DATA cells<>+336(SB)/8, $0x0909090909090909
DATA cells<>+344(SB)/8, $0x0101010101010101
DATA cells<>+352(SB)/8, $0x0101010101010101
DATA cells<>+360(SB)/8, $0x0101010101010101
DATA cells<>+368(SB)/8, $0x0101010101010101
DATA cells<>+376(SB)/8, $0x412000003f800000
DATA cells<>+384(SB)/8, $0x447a000042c80000
DATA cells<>+392(SB)/8, $0x47c35000461c4000
DATA cells<>+400(SB)/8, $0x4b18968049742400
DATA cells<>+408(SB)/8, $8
DATA cells<>+416(SB)/8, $8
DATA cells<>+424(SB)/8, $8
DATA cells<>+432(SB)/8, $8
GLOBL cells<>(SB), RODATA|NOPTR, $440

// Registers
//   SI, R8   the text, its length      DI  ends, next    DX  out, next
//   CX       pairs left                BX  cells         R9  the end before
//   R10, R11 ends   R12, R13 lengths, then q of the points
//   Y0       the bytes                 Y1  those of the cell     Y3  its minus   Y4  its points
//   X6       signs   X7  10⁸   Y8 iota   Y9 … Y11 tens   Y12 limits   Y13 point   Y14 minus   Y15 zero

// func NumbersAVX2(text []byte, ends []int32, out []float64) (done, unread int)
TEXT ·NumbersAVX2(SB), 0, $128-88
	MOVQ           text_base+0(FP), SI
	MOVQ           text_len+8(FP), R8
	MOVQ           ends_base+24(FP), DI
	MOVQ           out_base+48(FP), DX
	MOVQ           out_len+56(FP), CX
	SHRQ           $1, CX
	LEAQ           cells<>(SB), BX
	VBROADCASTSD   SIGN(BX), Y6
	VBROADCASTSD   SCALE(BX), Y7
	VBROADCASTI128 IOTA(BX), Y8
	VPBROADCASTQ   232(BX), Y9
	VPBROADCASTQ   224(BX), Y10
	VPBROADCASTQ   TENS(BX), Y11
	VBROADCASTI128 LIMITS(BX), Y12
	VPBROADCASTQ   256(BX), Y13
	VPBROADCASTQ   248(BX), Y14
	VPBROADCASTQ   240(BX), Y15
	MOVLQSX        (DI), R9
	MOVQ           $0, unread-8(SP)
	TESTQ          CX, CX
	JZ             end

cells:
	CMPQ CX, $2
	JLT  pair

	// The difference of two ends is a length plus 1. If not all are from 2 to 9, the cells are done in pairs.
	VMOVDQU   4(DI), X0
	VPSUBD    (DI), X0, X0
	VPSUBD    TWOS(BX), X0, X0
	VPMINUD   SEVENS(BX), X0, X1
	VPCMPEQD  X0, X1, X1
	VMOVMSKPS X1, AX
	CMPL      AX, $15
	JNE       pair
	MOVL      4(DI), R10
	MOVL      8(DI), R11
	MOVL      12(DI), R12
	MOVL      16(DI), R13
	CMPL      R10, $16
	JLT       pair
	CMPQ      R13, R8
	JHI       pair

	// The bytes of the cells, minus the digit 0; the bytes before the cells are 0.
	VPXOR       SEVENS(BX), X0, X0
	VPSLLD      $3, X0, X0
	VPMOVZXDQ   X0, Y1
	VPCMPEQD    Y2, Y2, Y2
	VPSLLVQ     Y1, Y2, Y1
	VMOVQ       -8(SI)(R10*1), X0
	VPINSRQ     $1, -8(SI)(R11*1), X0, X0
	VMOVQ       -8(SI)(R12*1), X2
	VPINSRQ     $1, -8(SI)(R13*1), X2, X2
	VINSERTI128 $1, X2, Y0, Y0
	VPSUBB      Y15, Y0, Y0
	VPAND       Y1, Y0, Y0

	// The minus.
	VPSLLQ   $8, Y1, Y2
	VPANDN   Y1, Y2, Y2
	VPCMPEQB Y14, Y0, Y3
	VPAND    Y2, Y3, Y3
	VPANDN   Y0, Y3, Y0
	VPANDN   Y1, Y3, Y1

	// The first point; the bytes before it move on by one.
	VPXOR      X5, X5, X5
	VPCMPEQB   Y13, Y0, Y4
	VPTEST     Y4, Y4
	JZ         whole
	VPANDN     Y1, Y4, Y1
	VPCMPEQQ   Y5, Y4, Y2
	VPANDN     EIGHT(BX), Y2, Y2
	VPSUBQ     Y4, Y5, Y5
	VPOR       Y5, Y4, Y4           // from the point on
	VPANDN     Y0, Y4, Y5
	VPSLLVQ    Y2, Y5, Y5
	VPSLLQ     $8, Y4, Y4
	VPAND      Y4, Y0, Y0
	VPOR       Y5, Y0, Y0
	VPXOR      X5, X5, X5
	VPAND      ONES(BX), Y4, Y4
	VPSADBW    Y5, Y4, Y4           // digits behind it

whole:
	// Digits alone, one at least.
	VPCMPEQQ  Y5, Y1, Y1
	VPMINUB   NINES(BX), Y0, Y2
	VPCMPEQB  Y2, Y0, Y2
	VPANDN    Y2, Y1, Y2
	VPMOVMSKB Y2, AX
	CMPL      AX, $-1
	JNE       pair

	VPMADDUBSW   Y11, Y0, Y0
	VPMADDWD     Y10, Y0, Y0
	VPACKUSDW    Y0, Y0, Y0
	VPMADDWD     Y9, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPUNPCKLQDQ  X1, X0, X0
	VCVTDQ2PD    X0, Y0
	VPTEST       Y4, Y4
	JZ           signs
	VEXTRACTI128 $1, Y4, X1
	VSHUFPS      $0x88, X1, X4, X4
	VMOVUPD      SHORT(BX), Y1
	VPERMPS      Y1, Y4, Y1
	VCVTPS2PD    X1, Y1
	VDIVPD       Y1, Y0, Y0

signs:
	VPCMPEQQ Y5, Y3, Y3
	VPANDN   Y6, Y3, Y3
	VPOR     Y3, Y0, Y0
	VMOVUPD  Y0, (DX)
	MOVQ     R13, R9
	ADDQ     $16, DI
	ADDQ     $32, DX
	SUBQ     $2, CX
	JNZ      cells
	JMP      end

pair:
	MOVL 4(DI), R10
	MOVL 8(DI), R11
	CMPQ R10, R8
	JHI  end
	CMPQ R11, R8
	JHI  end
	CMPQ R10, $16
	JLT  end
	CMPQ R11, $16
	JLT  end

	// Lengths; a cell that is too long has none, and is no number.
	LEAQ    -1(R10), R12
	LEAQ    -1(R11), R13
	SUBQ    R9, R12
	SUBQ    R10, R13
	XORL    AX, AX
	CMPQ    R12, $16
	CMOVQHI AX, R12
	CMPQ    R13, $16
	CMOVQHI AX, R13
	MOVQ    R11, R9

	VMOVDQU     -16(SI)(R10*1), X0
	VINSERTI128 $1, -16(SI)(R11*1), Y0, Y0
	VMOVDQU     WINDOW(BX)(R12*1), X1
	VINSERTI128 $1, WINDOW(BX)(R13*1), Y1, Y1
	VPSUBB      Y15, Y0, Y0
	VPAND       Y1, Y0, Y0

	// The minus.
	VPSLLDQ  $1, Y1, Y2
	VPANDN   Y1, Y2, Y2
	VPCMPEQB Y14, Y0, Y3
	VPAND    Y2, Y3, Y3
	VPANDN   Y0, Y3, Y0
	VPANDN   Y1, Y3, Y1

	// The last point.
	VPCMPEQB    Y13, Y0, Y4
	VPANDN      Y1, Y4, Y1                       // digits, or what should be
	VPMOVMSKB   Y4, R13
	MOVL        R13, R12
	ANDL        $0xffff, R12
	SHRL        $16, R13
	LEAL        1(R12)(R12*1), R12
	LEAL        1(R13)(R13*1), R13
	BSRL        R12, R12
	BSRL        R13, R13
	VMOVSD      POWERS(BX)(R12*8), X5
	VMOVHPD     POWERS(BX)(R13*8), X5, X5
	NEGQ        R12
	NEGQ        R13
	VMOVDQU     32+WINDOW(BX)(R12*1), X2
	VINSERTI128 $1, 32+WINDOW(BX)(R13*1), Y2, Y2
	VPADDB      Y8, Y2, Y2
	VPSHUFB     Y2, Y0, Y0

	// Digits alone, one at least.
	VPMINUB   Y12, Y0, Y2
	VPCMPEQB  Y2, Y0, Y2
	VPMOVMSKB Y2, AX
	VPMOVMSKB Y1, R10

	VPMADDUBSW   Y11, Y0, Y0
	VPMADDWD     Y10, Y0, Y0
	VPACKUSDW    Y0, Y0, Y0
	VPMADDWD     Y9, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPUNPCKLDQ   X1, X0, X0
	VPSHUFD      $0xee, X0, X1
	VCVTDQ2PD    X0, X0
	VCVTDQ2PD    X1, X1
	VFMADD213PD  X1, X7, X0
	VDIVPD       X5, X0, X0

	VEXTRACTI128 $1, Y3, X4
	VPUNPCKLQDQ  X4, X3, X2
	VPUNPCKHQDQ  X4, X3, X3
	VPOR         X2, X3, X3
	VPXOR        X2, X2, X2
	VPCMPEQQ     X2, X3, X3
	VPANDN       X6, X3, X3
	VPOR         X3, X0, X0
	VMOVUPD      X0, (DX)

	NOTL  AX
	TESTL AX, AX
	JNZ   words
	CMPL  R10, $0xffff
	JLS   words
	TESTL $0xffff, R10
	JZ    words

next:
	ADDQ $8, DI
	ADDQ $16, DX
	DECQ CX
	JNZ  cells
	JMP  end

// Some cell is not a number that can be read.
words:
	MOVQ  $0x7ff8000000000001, R12
	TESTL $0xffff, AX
	JNZ   first
	TESTL $0xffff, R10
	JNZ   second

first:
	MOVQ R12, (DX)
	INCQ unread-8(SP)

second:
	SHRL $16, AX
	JNZ  third
	SHRL $16, R10
	JNZ  next

third:
	MOVQ R12, 8(DX)
	INCQ unread-8(SP)
	JMP  next

end:
	SHLQ $1, CX
	MOVQ out_len+56(FP), AX
	SUBQ CX, AX
	MOVQ AX, done+72(FP)
	MOVQ unread-8(SP), AX
	MOVQ AX, unread+80(FP)
	VZEROUPPER
	RET
