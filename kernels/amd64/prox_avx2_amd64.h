// The proximal step of an epoch of coordinate descent, without branches:
//
//	grad = c − ridge·β
//	b    = ST(square·β + c, threshold) · inverse
//
// Registers
//   R8   the epoch              R10  column k            R9  clobbered
//   X3   c                      X4   β                   X6  b
//   X11  the sign bit           X1, X2, X5, X7..X9  clobbered
//
// Masks come from comparisons that are false where an operand is NaN; the first of
// the two cases wins where both hold, for a threshold below zero.

// OF loads the element of slice for this column.
#define OF(slice, x) \
	MOVQ   slice(R8), R9  \
	VMOVSD (R9)(R10*8), x

#define PROX(coef, square, inverse, threshold, grad, ridge) \
	OF(coef, X4)                  \
	VMULSD      ridge(R8), X4, X7 \
	VSUBSD      X7, X3, X7        \
	MOVQ        grad(R8), R9      \
	VMOVSD      X7, (R9)(R10*8)   \
	OF(square, X5)                \
	VMOVAPD     X4, X6            \
	VFMADD213SD X3, X5, X6        \ // z = square·β + c
	OF(threshold, X7)             \
	VSUBSD      X7, X6, X1        \ // z − t
	VADDSD      X7, X6, X2        \ // z + t
	VCMPSD      $0x1E, X7, X6, X8 \ // z > t
	VXORPD      X11, X7, X7       \
	VCMPSD      $0x1E, X6, X7, X9 \ // −t > z
	VANDPD      X1, X8, X1        \
	VANDPD      X2, X9, X2        \
	VANDNPD     X2, X8, X2        \
	VORPD       X2, X1, X6        \
	OF(inverse, X5)               \
	VMULSD      X5, X6, X6

// SIGN_BIT sets X11.
#define SIGN_BIT \
	VPCMPEQQ X11, X11, X11 \
	VPSLLQ   $63, X11, X11
