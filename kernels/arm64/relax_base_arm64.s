//go:build !purego

// ISB, which takes some ten nanoseconds: what YIELD is for, which most CPUs take for nothing.

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
