// The loop over dense columns of the AVX-512 set: column after column is multiplied with y, in the partial sums and the
// order of DotAVX512. The file that includes this, within a function, defines BLOCK, TAIL and SIZE, the bytes of an
// element; the kernels differ in these alone.
//
// Registers
//   SI  values, next element    CX  elements of a tail
//   DI  y, next element         BX  blocks of 32 left
//   R8  y                       R11 blocks of 32
//   R9  out, next element       R10 columns left
//   Z0..Z3  partial sums        Z8, Z10  operands      X9  zero      K1..K4  masks of the tail

	MOVQ   CX, R11
	ANDQ   $31, CX
	SHRQ   $5, R11
	MASKS
	VXORPD X9, X9, X9

column:
	MOVQ  R8, DI
	CLEAR_SUMS
	MOVQ  R11, BX
	TESTQ BX, BX
	JZ    tail

loop32:
	BLOCK(0, Z0)
	BLOCK(64, Z1)
	BLOCK(128, Z2)
	BLOCK(192, Z3)
	ADDQ $(32*SIZE), SI
	ADDQ $256, DI
	DECQ BX
	JNZ  loop32

tail:
	TESTQ CX, CX
	JZ    fold
	TAIL(0, K1, Z0)
	CMPQ  CX, $8
	JLE   next
	TAIL(64, K2, Z1)
	CMPQ  CX, $16
	JLE   next
	TAIL(128, K3, Z2)
	TAIL(192, K4, Z3)

next:
	LEAQ (SI)(CX*SIZE), SI

fold:
	FOLD_SUMS
	VADDSD X9, X0, X0
	VMOVSD X0, (R9)
	ADDQ   $8, R9
	DECQ   R10
	JNZ    column
