//go:build !purego

// Sparse columns and two vectors that are interleaved: Σ x²·s, Σ x·s and Σ x·u over the
// entries x of each column, s and u at pairs[2·row] and pairs[2·row+1].
//
// One 16-byte load brings both, where separate passes would load each of them. Each sum has
// four partial sums, as in DotIndexedAVX2; those of x·s and x·u are in pairs.
//
// It stops where DotSpansAVX2 does, and returns the number of columns done.

#include "textflag.h"

// Registers
//   R8   colPtr                 R10  column                 R12  entries so far
//   R13  all values             SI   values, next entry     DX   rows, next entry
//   DI   pairs                  CX   entries left           AX, BX  twice two row numbers
//   X0–X3   partial sums of x·s, x·u   X8–X11  partial sums of x²·s, lower half

// Twice the next two row numbers to BX and AX.
#define ROWS(at) \
	MOVQ at(DX), AX \
	MOVL AX, BX     \
	SHRQ $32, AX    \
	ADDQ BX, BX     \
	ADDQ AX, AX

// The entry at an offset, of a row whose double is in an index register. Clobbers X4, X5, X6.
#define ENTRY(at, index, pair, square) \
	VMOVDDUP    at(SI), X4         \
	VMOVUPD     (DI)(index*8), X6  \
	VMULSD      X4, X4, X5         \
	VFMADD231PD X4, X6, pair       \
	VFMADD231SD X5, X6, square

// The same for a last entry.
#define LAST(rows, at, pair, square) \
	MOVL rows(DX), BX           \
	ADDQ BX, BX                 \
	ENTRY(at, BX, pair, square)

// func MomentsAVX2(colPtr []int64, rows []int32, values, pairs, squares, sums, dots []float64) (done int)
TEXT ·MomentsAVX2(SB), 0, $128-176
	MOVQ colPtr_base+0(FP), R8
	MOVQ values_base+48(FP), R13
	MOVQ pairs_base+72(FP), DI
	XORQ R10, R10
	XORQ R12, R12

column:
	CMPQ   R10, squares_len+104(FP)
	JGE    done
	MOVQ   (R8)(R10*8), AX
	MOVQ   8(R8)(R10*8), CX
	CMPQ   CX, rows_len+32(FP)
	JHI    done                  // also if it is negative
	CMPQ   AX, CX
	JHI    done
	LEAQ   (R13)(AX*8), SI
	MOVQ   rows_base+24(FP), DX
	LEAQ   (DX)(AX*4), DX
	SUBQ   AX, CX                // entries of this column
	ADDQ   CX, R12
	CMPQ   R12, $8192
	JGT    done
	VXORPD X0, X0, X0
	VXORPD X1, X1, X1
	VXORPD X2, X2, X2
	VXORPD X3, X3, X3
	VXORPD X8, X8, X8
	VXORPD X9, X9, X9
	VXORPD X10, X10, X10
	VXORPD X11, X11, X11
	SUBQ   $4, CX
	JLT    tail

loop4:
	PREFETCHT0 2048(SI) // never faults, whatever is there
	PREFETCHT0 1024(DX)
	ROWS(0)
	ENTRY(0, BX, X0, X8)
	ENTRY(8, AX, X1, X9)
	ROWS(8)
	ENTRY(16, BX, X2, X10)
	ENTRY(24, AX, X3, X11)
	ADDQ       $32, SI
	ADDQ       $16, DX
	SUBQ       $4, CX
	JGE        loop4

tail:
	TESTQ $2, CX // the low bits of CX − 4 are those of CX
	JZ    tail1
	ROWS(0)
	ENTRY(0, BX, X0, X8)
	ENTRY(8, AX, X1, X9)
	TESTQ $1, CX
	JZ    fold
	LAST(8, 16, X2, X10)
	JMP   fold

tail1:
	TESTQ $1, CX
	JZ    fold
	LAST(0, 0, X0, X8)

fold:
	// The fixed tree: (s0+s2) + (s1+s3), then + 0.
	VADDPD  X2, X0, X0
	VADDPD  X3, X1, X1
	VADDPD  X1, X0, X0
	VADDPD  X10, X8, X8
	VADDPD  X11, X9, X9
	VADDPD  X9, X8, X8
	VXORPD  X1, X1, X1
	VADDPD  X1, X0, X0
	VADDPD  X1, X8, X8
	MOVQ    squares_base+96(FP), AX
	VMOVSD  X8, (AX)(R10*8)
	MOVQ    sums_base+120(FP), AX
	VMOVSD  X0, (AX)(R10*8)
	MOVQ    dots_base+144(FP), AX
	VMOVHPD X0, (AX)(R10*8)
	INCQ    R10
	JMP     column

done:
	MOVQ R10, done+168(FP)
	RET
