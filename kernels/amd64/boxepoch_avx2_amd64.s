//go:build !purego

// An epoch of coordinate descent over a box, for the samples listed in live:
//
//	g = sign·(Σ values·w[features]) − (margin − r·a)
//	b = min(max(a − g·inverse, 0), bound)
//
// and where b ≠ a: w[features] ← w[features] + (b − a)·sign·values, a ← b. It also
// updates the tallied fields, and moves the samples that are worth another visit to
// the front of live. See kernels.BoxEpoch; dot and update as in DotIndexedAVX2 and
// AxpyIndexedAVX2, with the same bits.
//
// Samples come in random order, which hardware prefetchers cannot predict, so the
// first lines of the sample after next are prefetched.
//
// Whether a sample is at rest is unpredictable, so there is no branch for it: masks
// from comparisons, false where an operand is NaN, select what is tallied. The only
// branch is whether a moves.

#include "textflag.h"
#include "go_asm.h"
#include "indexed_avx2_amd64.h"
#include "update_avx2_amd64.h"

// The variable of a sample, at R9.
#define SIGN    0(R9)
#define INVERSE 8(R9)
#define BOUND   16(R9)
#define VALUE   24(R9)
#define MARGIN  32(R9)

// Registers, beside those of the shared macros (DI is w)
//   R8   the epoch              R10  visit                R11  end
//   R12  samples kept           R13  entries of the sample
//   X8   gap    X9   most over  X10  most under
//   X11  aside over             X12  aside under          X13  r
//   X14  0                      X15  1/r
//   X0   g, b − a, (b − a)·sign  X1   share of the gap     X2   share ≠ 0, all ones
//   X4   a      X5   bound      X6   b                    X3, X7  scratch

// FETCH prefetches the beginning of the sample at visit BX. Clobbers BX, CX, SI, R9.
#define FETCH(live) \
	MOVL       (live)(BX*4), BX          \
	LEAQ       (BX)(BX*4), R9            \
	SHLQ       $3, R9                    \
	ADDQ       BoxEpoch_At(R8), R9       \
	PREFETCHT0 (R9)                      \
	MOVQ       BoxEpoch_From(R8), CX     \
	MOVQ       (CX)(BX*8), CX            \
	MOVQ       BoxEpoch_Values(R8), SI   \
	PREFETCHT0 (SI)(CX*8)                \
	PREFETCHT0 64(SI)(CX*8)              \
	PREFETCHT0 128(SI)(CX*8)             \
	MOVQ       BoxEpoch_Features(R8), SI \
	PREFETCHT0 (SI)(CX*4)                \
	PREFETCHT0 64(SI)(CX*4)

// func BoxEpochAVX2(e *BoxEpoch, from, to, kept int) int
TEXT ·BoxEpochAVX2(SB), 0, $128-40
	MOVQ   e+0(FP), R8
	MOVQ   from+8(FP), R10
	MOVQ   to+16(FP), R11
	MOVQ   kept+24(FP), R12
	MOVQ   BoxEpoch_W(R8), DI
	VMOVSD BoxEpoch_Gap(R8), X8
	VMOVSD BoxEpoch_MostOver(R8), X9
	VMOVSD BoxEpoch_MostUnder(R8), X10
	VMOVSD BoxEpoch_AsideOver(R8), X11
	VMOVSD BoxEpoch_AsideUnder(R8), X12
	VMOVSD BoxEpoch_Diagonal(R8), X13
	VXORPD X14, X14, X14
	MOVQ   $0x3FF0000000000000, AX      // 1
	VMOVQ  AX, X15
	VDIVSD X13, X15, X15
	MOVQ   $0xBFE0000000000000, AX      // −½
	VMOVQ  AX, X0
	VMULSD X13, X0, X0
	VMOVSD X0, bend-24(SP)
	CMPQ   R10, R11
	JGE    done

visit:
	MOVQ BoxEpoch_Live(R8), AX
	LEAQ 2(R10), BX
	CMPQ BX, R11
	JGE  entries
	FETCH(AX)

entries:
	MOVL (AX)(R10*4), BX
	LEAQ (BX)(BX*4), R9
	SHLQ $3, R9
	ADDQ BoxEpoch_At(R8), R9
	MOVQ BoxEpoch_To(R8), AX
	MOVQ (AX)(BX*8), CX
	MOVQ BoxEpoch_From(R8), AX
	MOVQ (AX)(BX*8), AX
	SUBQ AX, CX
	MOVQ CX, R13
	MOVQ BoxEpoch_Values(R8), SI
	LEAQ (SI)(AX*8), SI
	MOVQ BoxEpoch_Features(R8), DX
	LEAQ (DX)(AX*4), DX
	MOVQ SI, values-8(SP)
	MOVQ DX, features-16(SP)

	VXORPD X0, X0, X0
	VXORPD X1, X1, X1
	SUBQ   $4, CX
	JLT    tail

dot4:
	PAIR(0, 0, X0)
	PAIR(16, 8, X1)
	ADDQ $32, SI
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  dot4

tail:
	TESTQ $2, CX // the low bits of CX − 4 are those of CX
	JZ    tail1
	PAIR(0, 0, X0)
	TESTQ $1, CX
	JZ    step
	SINGLE(16, 8, X1)
	JMP   step

tail1:
	TESTQ $1, CX
	JZ    step
	SINGLE(0, 0, X0)

step:
	VADDPD       X1, X0, X0
	VUNPCKHPD    X0, X0, X1
	VADDSD       X1, X0, X0
	VMOVSD       SIGN, X1
	VMOVSD       VALUE, X4
	VMOVSD       MARGIN, X3
	VFNMADD231SD X4, X13, X3     // margin − r·a
	VFMSUB213SD  X3, X1, X0      // g; −0 in place of +0 makes no difference here
	VMOVSD       BOUND, X5
	VMOVAPD      X4, X6
	VFNMADD231SD INVERSE, X0, X6
	VMAXSD       X14, X6, X6     // 0 where that is NaN
	VMINSD       X5, X6, X6      // b

tally:
	VMOVAPD      X4, X1
	VFNMADD231SD X15, X0, X1                  // a − g/r
	VMAXSD       X14, X1, X1
	VMINSD       X5, X1, X1
	VSUBSD       X1, X4, X1                   // share = a − clip(a − g/r)
	VMOVAPD      X0, X3
	VFMADD231SD  bend-24(SP), X1, X3          // g − ½r·share
	VFMADD231SD  X3, X1, X8
	VCMPSD       $0x04, X14, X1, X2
	VANDPD       X0, X2, X7                   // g, or 0 at rest
	VMAXSD       X9, X7, X9
	VMINSD       X10, X7, X10
	VCMPSD       $0x1E, X11, X0, X3           // g > aside over
	VCMPSD       $0x1E, X0, X12, X7           // aside under > g
	VORPD        X7, X3, X3
	VANDNPD      X3, X2, X2                   // set aside, all ones
	VMOVQ        X2, AX
	MOVQ         BoxEpoch_Live(R8), DX
	MOVL         (DX)(R10*4), BX
	MOVL         BX, (DX)(R12*4)
	LEAQ         1(R12)(AX*1), R12
	VCMPSD       $0x04, X14, X6, X1           // b ≠ 0
	VCMPSD       $0x04, X5, X6, X2            // b ≠ bound
	VANDPD       X2, X1, X1
	VMOVQ        X1, AX
	SUBQ         AX, BoxEpoch_Free(R8)
	ANDQ         R13, AX
	ADDQ         AX, BoxEpoch_FreeEntries(R8)
	ADDQ         R13, BoxEpoch_Visited(R8)
	VSUBSD       X4, X6, X0
	VUCOMISD     X14, X0
	JNE          update
	JPC          next                         // equal, and neither is NaN

update:
	VMOVSD X6, VALUE
	VMULSD SIGN, X0, X0
	ADDQ   R13, BoxEpoch_Moved(R8)
	MOVQ   values-8(SP), SI
	MOVQ   features-16(SP), DX
	MOVQ   R13, CX
	SUBQ   $4, CX
	JLT    updatetail

update4:
	UPDATE(0, 0)
	UPDATE(16, 8)
	ADDQ $32, SI
	ADDQ $16, DX
	SUBQ $4, CX
	JGE  update4

updatetail:
	TESTQ $2, CX
	JZ    update1
	UPDATE(0, 0)
	ADDQ  $16, SI
	ADDQ  $8, DX

update1:
	TESTQ $1, CX
	JZ    next
	UPDATE_LAST

next:
	INCQ R10
	CMPQ R10, R11
	JLT  visit

done:
	VMOVSD X8, BoxEpoch_Gap(R8)
	VMOVSD X9, BoxEpoch_MostOver(R8)
	VMOVSD X10, BoxEpoch_MostUnder(R8)
	MOVQ   R12, ret+32(FP)
	RET
