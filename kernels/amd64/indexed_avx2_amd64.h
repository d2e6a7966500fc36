// Macros for the indexed kernels of the AVX2 set.
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y
//   CX  entries left            AX, BX  two row numbers
//   X0  partial sums s0, s1     X1  partial sums s2, s3

// The elements of y of two entries, side by side in X2: one 8-byte load brings two
// row numbers, two loads bring the elements. Clobbers AX, BX.
#define ELEMENTS(rows) \
	MOVQ    rows(DX), AX       \
	MOVL    AX, BX             \
	SHRQ    $32, AX            \
	VMOVSD  (DI)(BX*8), X2     \
	VMOVHPD (DI)(AX*8), X2, X2

// Two entries into a pair of partial sums: one fused multiply–add takes two values
// from memory. That is two loads per entry against three in scalar code; loads are
// the limit. (Gather instructions need as many loads and more.) Clobbers AX, BX, X2.
#define PAIR(values, rows, sum) \
	ELEMENTS(rows)                  \
	VFMADD231PD values(SI), X2, sum

// One entry into the lower partial sum of a pair. Clobbers AX, X2.
#define SINGLE(values, rows, sum) \
	MOVL        rows(DX), AX        \
	VMOVSD      (DI)(AX*8), X2      \
	VFMADD231SD values(SI), X2, sum

// The fixed tree: (s0+s2) + (s1+s3), then + 0, in X0. Clobbers X1.
#define FOLD_SUMS \
	VADDPD    X1, X0, X0 \
	VUNPCKHPD X0, X0, X1 \
	VADDSD    X1, X0, X0 \
	VXORPD    X1, X1, X1 \
	VADDSD    X1, X0, X0
