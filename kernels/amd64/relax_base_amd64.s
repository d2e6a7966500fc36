//go:build !purego

// PAUSE, which every amd64 CPU has. It leaves the core to its other hardware thread, and keeps the CPU from
// executing a waiting loop ahead.

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
