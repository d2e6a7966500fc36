// Macros for the indexed kernels.
//
// Registers
//   R0  values, next entry      R1  rows, next entry      R2  y
//   R3  entries left            R4, R5  row numbers
//   F0..F3  partial sums        F4, F5  values            F6, F7  of y

// Two entries into two partial sums. NEON has no gather; the limit is the loads.
#define PAIR(s0, s1) \
	LDPW.P  8(R1), (R4, R5)  \
	FLDPD.P 16(R0), (F4, F5) \
	FMOVD   (R2)(R4<<3), F6  \
	FMOVD   (R2)(R5<<3), F7  \
	FMADDD  F6, s0, F4, s0   \ // s0 ← s0 + F4·F6
	FMADDD  F7, s1, F5, s1

// One entry into one partial sum.
#define SINGLE(sum) \
	MOVWU.P 4(R1), R4        \
	FMOVD.P 8(R0), F4        \
	FMOVD   (R2)(R4<<3), F6  \
	FMADDD  F6, sum, F4, sum

#define CLEAR_SUMS \
	FMOVD ZR, F0 \
	FMOVD ZR, F1 \
	FMOVD ZR, F2 \
	FMOVD ZR, F3

// A tail of R3 mod 4 entries, from the first sum on.
#define TAIL(one, fold) \
	TBZ $1, R3, one  \
	PAIR(F0, F1)     \
	TBZ $0, R3, fold \
	SINGLE(F2)       \
	B   fold

// The fixed tree: (s0+s2) + (s1+s3), then + 0, in F0.
#define FOLD_SUMS \
	FADDD F2, F0, F0 \
	FADDD F3, F1, F1 \
	FADDD F1, F0, F0 \
	FMOVD ZR, F1     \
	FADDD F1, F0, F0
