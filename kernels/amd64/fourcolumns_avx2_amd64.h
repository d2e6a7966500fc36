// Dot products of four dense columns with y, in the partial sums and the order of DotAVX2, a quarter of these sums at
// a time: a load of y serves four columns, and so do the last steps of the tree. Loads are 32 elements apart, which
// suits columns in the first-level cache.
//
// Registers
//   SI, DI, R10, R11 columns    CX  elements of a tail
//   R8  y                       DX  blocks of 32
//   AX  offset of a block       BX  blocks of 32 left
//   Y0..Y11  partial sums       Y12 elements of y
//   Y13 mask of the tail        Y14 elements of a column in the tail
//
// FOUR and FOUR_TAIL, which the file that includes this defines, add the products of elements of y, offset bytes into
// a block, with the same elements of the columns, which have SIZE bytes each.

// EIGHTH adds the products at k..k+3 and at k+16..k+19 of all blocks, offset bytes from their beginning, to
// a0..a3 and b0..b3, and then b0..b3 to a0..a3.
#define EIGHTH(k, offset, loop, tail, whole, last, done, a0, a1, a2, a3, b0, b1, b2, b3) \
	VXORPD a0, a0, a0                 \
	VXORPD a1, a1, a1                 \
	VXORPD a2, a2, a2                 \
	VXORPD a3, a3, a3                 \
	VXORPD b0, b0, b0                 \
	VXORPD b1, b1, b1                 \
	VXORPD b2, b2, b2                 \
	VXORPD b3, b3, b3                 \
	XORQ   AX, AX                     \
	MOVQ   DX, BX                     \
	TESTQ  BX, BX                     \
	JZ     tail                       \
	loop:                             \
	FOUR(offset, a0, a1, a2, a3)      \
	FOUR(offset+128, b0, b1, b2, b3)  \
	ADDQ   $(32*SIZE), AX             \
	DECQ   BX                         \
	JNZ    loop                       \
	tail:                             \
	CMPQ   CX, $(k+4)                 \
	JGE    whole                      \
	CMPQ   CX, $k                     \
	JLE    done                       \
	FOUR_TAIL(offset, a0, a1, a2, a3) \
	JMP    done                       \
	whole:                                \
	FOUR(offset, a0, a1, a2, a3)          \
	CMPQ   CX, $(k+20)                    \
	JGE    last                           \
	CMPQ   CX, $(k+16)                    \
	JLE    done                           \
	FOUR_TAIL(offset+128, b0, b1, b2, b3) \
	JMP    done                           \
	last:                            \
	FOUR(offset+128, b0, b1, b2, b3) \
	done:                            \
	VADDPD b0, a0, a0                \
	VADDPD b1, a1, a1                \
	VADDPD b2, a2, a2                \
	VADDPD b3, a3, a3

// FOUR_START sets DX, CX and the mask, from the number of elements of a column in CX.
#define FOUR_START \
	MOVQ         CX, DX               \
	SHRQ         $5, DX               \
	ANDQ         $31, CX              \
	MOVQ         CX, AX               \
	ANDQ         $3, AX               \
	VMOVQ        AX, X13              \
	VPBROADCASTQ X13, Y13             \
	VPCMPGTQ     iota<>(SB), Y13, Y13

// FOUR_COLUMNS leaves the products of the four in Y4. It takes 128 bytes of the stack.
#define FOUR_COLUMNS \
	EIGHTH(0, 0, loop0, tail0, whole0, last0, done0, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)     \
	EIGHTH(8, 64, loop2, tail2, whole2, last2, done2, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11)  \
	VADDPD     Y4, Y0, Y0                                                                \
	VADDPD     Y5, Y1, Y1                                                                \
	VADDPD     Y6, Y2, Y2                                                                \
	VADDPD     Y7, Y3, Y3                                                                \
	VMOVUPD    Y0, first-128(SP)                                                         \
	VMOVUPD    Y1, second-96(SP)                                                         \
	VMOVUPD    Y2, third-64(SP)                                                          \
	VMOVUPD    Y3, fourth-32(SP)                                                         \
	EIGHTH(4, 32, loop1, tail1, whole1, last1, done1, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)    \
	EIGHTH(12, 96, loop3, tail3, whole3, last3, done3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11) \
	VADDPD     Y4, Y0, Y0                                                                \
	VADDPD     Y5, Y1, Y1                                                                \
	VADDPD     Y6, Y2, Y2                                                                \
	VADDPD     Y7, Y3, Y3                                                                \
	VADDPD     first-128(SP), Y0, Y0                                                     \
	VADDPD     second-96(SP), Y1, Y1                                                     \
	VADDPD     third-64(SP), Y2, Y2                                                      \
	VADDPD     fourth-32(SP), Y3, Y3                                                     \
	VPERM2F128 $0x20, Y2, Y0, Y4                                                         \ // 4 → 2, of the first and the third column
	VPERM2F128 $0x31, Y2, Y0, Y5                                                         \
	VPERM2F128 $0x20, Y3, Y1, Y6                                                         \ // of the second and the fourth
	VPERM2F128 $0x31, Y3, Y1, Y7                                                         \
	VADDPD     Y5, Y4, Y4                                                                \
	VADDPD     Y7, Y6, Y6                                                                \
	VHADDPD    Y6, Y4, Y4                                                                \ // 2 → 1
	VXORPD     Y5, Y5, Y5                                                                \
	VADDPD     Y5, Y4, Y4
