// The products of a sparse column with 8 dense vectors on AVX2, after the operands have been loaded: four partial
// sums of 8 lanes in Y0..Y7, which are then folded. The file that includes this, within a function, defines ENTRY,
// which handles an entry; the operands and ENTRY differ between kernels.

	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	SUBQ   $4, CX
	JLT    tail

loop4:
	ENTRY(0, 0, Y0, Y1)
	ENTRY(8, 4, Y2, Y3)
	ENTRY(16, 8, Y4, Y5)
	ENTRY(24, 12, Y6, Y7)
	ADDQ $32, SI
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  loop4

tail:
	TESTQ $2, CX // the low bits of CX − 4 are those of CX
	JZ    tail1
	ENTRY(0, 0, Y0, Y1)
	ENTRY(8, 4, Y2, Y3)
	TESTQ $1, CX
	JZ    fold
	ENTRY(16, 8, Y4, Y5)
	JMP   fold

tail1:
	TESTQ $1, CX
	JZ    fold
	ENTRY(0, 0, Y0, Y1)

fold:
	// (s0+s2) + (s1+s3), in every lane.
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
