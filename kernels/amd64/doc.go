// Package amd64 holds the assembly of package kernels for amd64. Use package
// kernels: it checks lengths, cuts long operands into blocks and chooses the
// instructions that this CPU has. This package is not covered by the compatibility
// promise.
//
// Each function's name has the instructions it needs: AVX2 stands for AVX2 and FMA3,
// AVX512 for AVX-512 F, DQ, BW and VL. Functions do not check that lengths are equal
// where they must be, nor indices.
//
// Conventions of the assembly, which tests enforce where they can:
//
//   - One operation and one instruction set per file; registers and stages are
//     explained at its head, the order of operations in package kernels.
//   - Frames have at least 128 bytes and no NOSPLIT: the assembler then emits a
//     stack check, which is where the scheduler can stop a goroutine.
//   - Unaligned moves only: Go aligns a []float64 to 8 bytes.
//   - VZEROUPPER before RET wherever Y or Z registers were used.
//   - SP, BP and R14 are left alone. X15 may be used: the ABI wrapper restores it.
package amd64
