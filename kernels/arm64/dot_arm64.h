// Dot products: blocks of 32 elements and a tail, which COPY_ONE copies element by element. The file that includes this, within a
// function, defines BLOCK and COPY_ONE.

	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R2
	MOVD y_base+24(FP), R1
	CLEAR_SUMS
	LSR  $5, R2, R3
	AND  $31, R2
	CBZ  R3, tail

loop32:
	BLOCK(V0, V1, V2, V3)
	BLOCK(V4, V5, V6, V7)
	BLOCK(V8, V9, V10, V11)
	BLOCK(V12, V13, V14, V15)
	SUBS $1, R3
	BNE  loop32

tail:
	CBZ  R2, fold
	MOVD $xtail-512(SP), R5
	MOVD $ytail-256(SP), R6
	CLEAR_BUFFER(R5)
	CLEAR_BUFFER(R6)

copy1:
	COPY_ONE
	SUBS $1, R2
	BNE  copy1

	MOVD $xtail-512(SP), R0
	MOVD $ytail-256(SP), R1
	MOVD $1, R3
	B    loop32             // R2 is 0 now

fold:
	FOLD_SUMS
	FMOVD F0, ret+48(FP)
	RET
