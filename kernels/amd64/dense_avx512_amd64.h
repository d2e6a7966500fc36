// Macros for the dense kernels of the AVX-512 set.
//
// The 32 partial sums s[0..31] live in Z0..Z3: Zk holds s[8k..8k+7].

#define CLEAR_SUMS \
	VPXORQ Z0, Z0, Z0 \
	VPXORQ Z1, Z1, Z1 \
	VPXORQ Z2, Z2, Z2 \
	VPXORQ Z3, Z3, Z3

// The fixed tree: the upper half onto the lower half until one sum is left in
// X0. Clobbers Y1.
#define FOLD_SUMS \
	VADDPD        Z2, Z0, Z0 \ // 32 → 16
	VADDPD        Z3, Z1, Z1 \
	VADDPD        Z1, Z0, Z0 \ // 16 → 8
	VEXTRACTF64X4 $1, Z0, Y1 \
	VADDPD        Y1, Y0, Y0 \ // 8 → 4
	VEXTRACTF128  $1, Y0, X1 \
	VADDPD        X1, X0, X0 \ // 4 → 2
	VUNPCKHPD     X0, X0, X1 \
	VADDSD        X1, X0, X0 // 2 → 1

// The masks of a tail of CX < 32 elements: bit l of K1..K4 is set where element
// 0+l, 8+l, 16+l, 24+l exists. Elements masked out are neither read nor written,
// cannot fault, and leave their partial sum unchanged. Clobbers BX.
#define MASKS \
	MOVL  $1, BX \
	SHLL  CX, BX \
	DECL  BX     \
	KMOVD BX, K1 \
	SHRL  $8, BX \
	KMOVD BX, K2 \
	SHRL  $8, BX \
	KMOVD BX, K3 \
	SHRL  $8, BX \
	KMOVD BX, K4
