// The products of a sparse column with 8 dense vectors on AVX-512, after the operands have been loaded: four partial
// sums of 8 lanes in Z0..Z3, which are then folded. The file that includes this, within a function, defines ENTRY,
// which handles an entry; the operands and ENTRY differ between kernels.

	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	SUBQ   $4, CX
	JLT    tail

loop4:
	ENTRY(0, 0, Z0)
	ENTRY(8, 4, Z1)
	ENTRY(16, 8, Z2)
	ENTRY(24, 12, Z3)
	ADDQ $32, SI
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  loop4

tail:
	TESTQ $2, CX // the low bits of CX − 4 are those of CX
	JZ    tail1
	ENTRY(0, 0, Z0)
	ENTRY(8, 4, Z1)
	TESTQ $1, CX
	JZ    fold
	ENTRY(16, 8, Z2)
	JMP   fold

tail1:
	TESTQ $1, CX
	JZ    fold
	ENTRY(0, 0, Z0)

fold:
	// (s0+s2) + (s1+s3), in every lane.
	VADDPD Z2, Z0, Z0
	VADDPD Z3, Z1, Z1
	VADDPD Z1, Z0, Z0
