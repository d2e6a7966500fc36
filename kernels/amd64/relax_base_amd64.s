//go:build !purego

// PAUSE, which every amd64 CPU has: it lets the other thread of its core work, and keeps a loop that
// waits from running ahead.

#include "textflag.h"

// Registers
//   CX  times left

// func Relax(times int)
TEXT ·Relax(SB), 0, $128-8
	MOVQ times+0(FP), CX

loop:
	PAUSE
	DECQ CX
	JGT  loop
	RET
