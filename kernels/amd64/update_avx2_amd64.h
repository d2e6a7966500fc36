// Macros for the updates of the AVX2 set: y[rows[k]] ← fma(a, values[k], y[rows[k]]).
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y
//   CX  entries left            AX, BX  row numbers       X0  a

// Two entries; one 8-byte load brings two row numbers.
#define UPDATE(values, rows) \
	MOVQ        rows(DX), AX         \
	MOVL        AX, BX               \
	SHRQ        $32, AX              \
	VMOVSD      (DI)(BX*8), X1       \
	VMOVSD      (DI)(AX*8), X2       \
	VFMADD231SD values(SI), X0, X1   \
	VFMADD231SD values+8(SI), X0, X2 \
	VMOVSD      X1, (DI)(BX*8)       \
	VMOVSD      X2, (DI)(AX*8)

// The last entry.
#define UPDATE_LAST \
	MOVL        (DX), AX       \
	VMOVSD      (DI)(AX*8), X1 \
	VFMADD231SD (SI), X0, X1   \
	VMOVSD      X1, (DI)(AX*8)
