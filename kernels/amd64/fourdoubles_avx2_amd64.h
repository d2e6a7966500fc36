// The macros of fourcolumns_avx2_amd64.h for elements of 64 bits.

#define FOUR(offset, s0, s1, s2, s3) \
	VMOVUPD     offset(R8)(AX*1), Y12      \
	VFMADD231PD offset(SI)(AX*1), Y12, s0  \
	VFMADD231PD offset(DI)(AX*1), Y12, s1  \
	VFMADD231PD offset(R10)(AX*1), Y12, s2 \
	VFMADD231PD offset(R11)(AX*1), Y12, s3

#define FOUR_TAIL(offset, s0, s1, s2, s3) \
	VMASKMOVPD  offset(R8)(AX*1), Y13, Y12  \
	VMASKMOVPD  offset(SI)(AX*1), Y13, Y14  \
	VFMADD231PD Y12, Y14, s0                \
	VMASKMOVPD  offset(DI)(AX*1), Y13, Y14  \
	VFMADD231PD Y12, Y14, s1                \
	VMASKMOVPD  offset(R10)(AX*1), Y13, Y14 \
	VFMADD231PD Y12, Y14, s2                \
	VMASKMOVPD  offset(R11)(AX*1), Y13, Y14 \
	VFMADD231PD Y12, Y14, s3
