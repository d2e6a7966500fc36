// The loop over dense columns of the AVX2 set: column after column is multiplied with y, in the partial sums and the
// order of DotAVX2. The file that includes this, within a function, defines BLOCK, TAIL and SIZE, the bytes of an
// element; the kernels differ in these alone.
//
// Registers
//   SI  values, next element    CX  elements of a tail
//   DI  y, next element         BX  blocks of 32 left
//   R8  y                       R11 blocks of 32
//   R9  out, next element       R10 columns left
//   Y0..Y7   partial sums       Y8, Y9   operands      X10  zero
//   Y12..Y15 masks of the tail

	MOVQ   CX, R11
	ANDQ   $31, CX
	SHRQ   $5, R11
	VXORPD X10, X10, X10

column:
	MOVQ  R8, DI
	CLEAR_SUMS
	MOVQ  R11, BX
	TESTQ BX, BX
	JZ    tail

loop32:
	BLOCK(0, Y0)
	BLOCK(32, Y1)
	BLOCK(64, Y2)
	BLOCK(96, Y3)
	BLOCK(128, Y4)
	BLOCK(160, Y5)
	BLOCK(192, Y6)
	BLOCK(224, Y7)
	ADDQ $(32*SIZE), SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    fold
	MASK_START
	TAIL(0, Y0)
	TAIL(32, Y1)
	CMPQ  CX, $8
	JLE   next
	TAIL(64, Y2)
	TAIL(96, Y3)
	CMPQ  CX, $16
	JLE   next
	TAIL(128, Y4)
	TAIL(160, Y5)
	TAIL(192, Y6)
	TAIL(224, Y7)

next:
	LEAQ (SI)(CX*SIZE), SI

fold:
	FOLD_SUMS
	VADDSD X10, X0, X0
	VMOVSD X0, (R9)
	ADDQ   $8, R9
	DECQ   R10
	JNZ    column
