// The products of a sparse column with 8 dense vectors on NEON, after the operands have been loaded: four partial sums
// of 8 lanes in V0..V15, which are then folded and stored. The file that includes this, within a function, defines
// ENTRY, which handles an entry; the two kernels differ in ENTRY alone.

// One lane pair of the fixed tree, by scalar adds: NEON's vector add has no
// mnemonic. (s0+s2) + (s1+s3), then + 0, for both lanes of a register.
#define HALF(f0, f1, f2, f3, offset) \
	FADDD f2, f0, f0     \
	FADDD f3, f1, f1     \
	FADDD f1, f0, f0     \
	FADDD F20, f0, f0    \
	FMOVD f0, offset(R6)

#define FOLD(v0, v1, v2, v3, f0, f1, f2, f3, offset) \
	VMOV v0.D[1], V16                  \
	VMOV v1.D[1], V17                  \
	VMOV v2.D[1], V18                  \
	VMOV v3.D[1], V19                  \
	HALF(f0, f1, f2, f3, offset)       \
	HALF(F16, F17, F18, F19, offset+8)

	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	SUBS $4, R3
	BLT  tail

loop4:
	ENTRY(V0, V1, V2, V3)
	ENTRY(V4, V5, V6, V7)
	ENTRY(V8, V9, V10, V11)
	ENTRY(V12, V13, V14, V15)
	SUBS $4, R3
	BGE  loop4

tail:
	TBZ $1, R3, tail1 // the low bits of R3 − 4 are those of R3
	ENTRY(V0, V1, V2, V3)
	ENTRY(V4, V5, V6, V7)
	TBZ $0, R3, fold
	ENTRY(V8, V9, V10, V11)
	B   fold

tail1:
	TBZ $0, R3, fold
	ENTRY(V0, V1, V2, V3)

fold:
	FMOVD ZR, F20
	FOLD(V0, V4, V8, V12, F0, F4, F8, F12, 0)
	FOLD(V1, V5, V9, V13, F1, F5, F9, F13, 16)
	FOLD(V2, V6, V10, V14, F2, F6, F10, F14, 32)
	FOLD(V3, V7, V11, V15, F3, F7, F11, F15, 48)
