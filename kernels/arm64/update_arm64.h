// Macros for the updates: y[rows[k]] ← fma(a, values[k], y[rows[k]]).
//
// Registers
//   R0  values, next entry      R1  rows, next entry      R2  y
//   R3  entries left            R4, R5  row numbers       F0  a
//   F4, F5  values              F6, F7  of y

// Two entries.
#define UPDATE \
	LDPW.P  8(R1), (R4, R5)  \
	FLDPD.P 16(R0), (F4, F5) \
	FMOVD   (R2)(R4<<3), F6  \
	FMOVD   (R2)(R5<<3), F7  \
	FMADDD  F0, F6, F4, F6   \ // F6 ← F6 + F4·a
	FMADDD  F0, F7, F5, F7   \
	FMOVD   F6, (R2)(R4<<3)  \
	FMOVD   F7, (R2)(R5<<3)

// The last entry.
#define UPDATE_LAST \
	MOVWU  (R1), R4        \
	FMOVD  (R0), F4        \
	FMOVD  (R2)(R4<<3), F6 \
	FMADDD F0, F6, F4, F6  \
	FMOVD  F6, (R2)(R4<<3)
