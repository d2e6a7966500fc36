//go:build !purego

// Sparse column times 8 interleaved dense vectors, rows left out by lane:
// out[l] = Σ values[k]·y[8·rows[k]+l] over the k whose row has bit l in its mask.
//
// As DotLanesAVX512; the byte of a row is the mask of its multiply–add, which
// leaves the partial sums of the other lanes as they are.
//
// Registers
//   SI  values, next entry      DX  rows, next entry      DI  y
//   CX  entries left            AX  a row, then its offset
//   R9  mask                    R8  out                   K1  the row's mask
//   Z0 … Z3  partial sums       Z4  the value, in every lane

#include "textflag.h"

// One entry into a partial sum.
#define ENTRY(values, rows, sum) \
	MOVL         rows(DX), AX            \
	KMOVB        (R9)(AX*1), K1          \
	SHLQ         $6, AX                  \
	VBROADCASTSD values(SI), Z4          \
	VFMADD231PD  (DI)(AX*1), Z4, K1, sum

// func DotLanesMaskedAVX512(values []float64, rows []int32, mask []uint8, y []float64, out *[8]float64)
TEXT ·DotLanesMaskedAVX512(SB), 0, $128-104
	MOVQ values_base+0(FP), SI
	MOVQ values_len+8(FP), CX
	MOVQ rows_base+24(FP), DX
	MOVQ mask_base+48(FP), R9
	MOVQ y_base+72(FP), DI
	MOVQ out+96(FP), R8

#include "lanes_avx512_amd64.h"
	VPXORQ  Z4, Z4, Z4 // + 0
	VADDPD  Z4, Z0, Z0
	VMOVUPD Z0, (R8)
	VZEROUPPER
	RET
