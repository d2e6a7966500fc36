// Macros for the dense reductions.
//
// The 32 partial sums s[0..31] live in V0..V15: Vk holds s[2k], s[2k+1].

#define CLEAR_SUMS \
	VEOR V0.B16, V0.B16, V0.B16    \
	VEOR V1.B16, V1.B16, V1.B16    \
	VEOR V2.B16, V2.B16, V2.B16    \
	VEOR V3.B16, V3.B16, V3.B16    \
	VEOR V4.B16, V4.B16, V4.B16    \
	VEOR V5.B16, V5.B16, V5.B16    \
	VEOR V6.B16, V6.B16, V6.B16    \
	VEOR V7.B16, V7.B16, V7.B16    \
	VEOR V8.B16, V8.B16, V8.B16    \
	VEOR V9.B16, V9.B16, V9.B16    \
	VEOR V10.B16, V10.B16, V10.B16 \
	VEOR V11.B16, V11.B16, V11.B16 \
	VEOR V12.B16, V12.B16, V12.B16 \
	VEOR V13.B16, V13.B16, V13.B16 \
	VEOR V14.B16, V14.B16, V14.B16 \
	VEOR V15.B16, V15.B16, V15.B16

// ONES puts 1 into both lanes of V31.
#define ONES \
	FMOVD $1.0, F31        \
	VDUP  V31.D[0], V31.D2

// INTO: sum += v, given ONES.
#define INTO(v, sum) VFMLA V31.D2, v.D2, sum.D2

// The fixed tree: the upper half onto the lower half until one sum is left in
// F0. Clobbers V1 and V31.
#define FOLD_SUMS \
	ONES                 \
	INTO(V8, V0)         \ // 32 → 16
	INTO(V9, V1)         \
	INTO(V10, V2)        \
	INTO(V11, V3)        \
	INTO(V12, V4)        \
	INTO(V13, V5)        \
	INTO(V14, V6)        \
	INTO(V15, V7)        \
	INTO(V4, V0)         \ // 16 → 8
	INTO(V5, V1)         \
	INTO(V6, V2)         \
	INTO(V7, V3)         \
	INTO(V2, V0)         \ // 8 → 4
	INTO(V3, V1)         \
	INTO(V1, V0)         \ // 4 → 2
	VDUP  V0.D[1], V1.D2 \
	FADDD F1, F0, F0     // 2 → 1

// CLEAR_BUFFER zeroes the 256 bytes at p. Clobbers V16..V19, R9.
#define CLEAR_BUFFER(p) \
	VEOR   V16.B16, V16.B16, V16.B16                \
	VEOR   V17.B16, V17.B16, V17.B16                \
	VEOR   V18.B16, V18.B16, V18.B16                \
	VEOR   V19.B16, V19.B16, V19.B16                \
	MOVD   p, R9                                    \
	VST1.P [V16.D2, V17.D2, V18.D2, V19.D2], 64(R9) \
	VST1.P [V16.D2, V17.D2, V18.D2, V19.D2], 64(R9) \
	VST1.P [V16.D2, V17.D2, V18.D2, V19.D2], 64(R9) \
	VST1   [V16.D2, V17.D2, V18.D2, V19.D2], (R9)
