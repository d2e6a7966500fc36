//go:build !purego

// ISB, which takes some ten nanoseconds. YIELD is meant for this, but most CPUs treat it as a NOP.

#include "textflag.h"

// Registers
//   R0  times left

// func Relax(times int)
TEXT ·Relax(SB), 0, $128-8
	MOVD times+0(FP), R0

loop:
	ISB  $15
	SUBS $1, R0, R0
	BGT  loop
	RET
