// Macros for the dense reductions of the AVX2 set.
//
// The 32 partial sums s[0..31] live in Y0..Y7: Yk holds s[4k..4k+3].

#define CLEAR_SUMS \
	VXORPD Y0, Y0, Y0 \
	VXORPD Y1, Y1, Y1 \
	VXORPD Y2, Y2, Y2 \
	VXORPD Y3, Y3, Y3 \
	VXORPD Y4, Y4, Y4 \
	VXORPD Y5, Y5, Y5 \
	VXORPD Y6, Y6, Y6 \
	VXORPD Y7, Y7, Y7

// The fixed tree: the upper half onto the lower half until one sum is left in
// X0. Clobbers X1.
#define FOLD_SUMS \
	VADDPD       Y4, Y0, Y0 \ // 32 → 16
	VADDPD       Y5, Y1, Y1 \
	VADDPD       Y6, Y2, Y2 \
	VADDPD       Y7, Y3, Y3 \
	VADDPD       Y2, Y0, Y0 \ // 16 → 8
	VADDPD       Y3, Y1, Y1 \
	VADDPD       Y1, Y0, Y0 \ // 8 → 4
	VEXTRACTF128 $1, Y0, X1 \
	VADDPD       X1, X0, X0 \ // 4 → 2
	VUNPCKHPD    X0, X0, X1 \
	VADDSD       X1, X0, X0 // 2 → 1

// A tail of CX < 32 elements is one more block of 32 in which the missing
// elements are zeros. MASK_START puts the number of elements left into each
// lane of Y15, and {0, 1, 2, 3} into Y14; MASK_NEXT makes the mask Y13 of the next
// four elements from these, and subtracts 4 from the number. Clobbers X13.
#define MASK_START \
	VMOVQ        CX, X13         \
	VPBROADCASTQ X13, Y15        \
	VMOVDQU      iota<>(SB), Y14 \
	VPBROADCASTQ four<>(SB), Y12

#define MASK_NEXT \
	VPCMPGTQ Y14, Y15, Y13 \ // lane l is there if the number left > l
	VPSUBQ   Y12, Y15, Y15

DATA iota<>+0(SB)/8, $0
DATA iota<>+8(SB)/8, $1
DATA iota<>+16(SB)/8, $2
DATA iota<>+24(SB)/8, $3
GLOBL iota<>(SB), RODATA|NOPTR, $32

DATA four<>+0(SB)/8, $4
GLOBL four<>(SB), RODATA|NOPTR, $8
