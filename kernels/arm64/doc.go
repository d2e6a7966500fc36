// Package arm64 holds the assembly of package kernels for arm64: NEON, which
// every arm64 CPU has. Use package kernels: it checks lengths and cuts long
// operands into blocks. This package is not covered by the compatibility promise.
//
// Functions do not check that lengths are equal where they must be, nor indices.
//
// Conventions of the assembly, which tests enforce where they can:
//
//   - One operation per file; registers and stages are explained at its head,
//     the order of operations in package kernels.
//   - The assembler's only floating-point vector operation is VFMLA, the fused
//     multiply–add, and it is enough: a + b is fma(b, 1, a), and a·x is
//     fma(a, x, −0). No instruction is written as its numeric encoding.
//   - Frames have at least 128 bytes and no NOSPLIT: the assembler then emits a
//     stack check, which is where the scheduler can stop a goroutine.
//   - R16 to R18, R27 to R29 and SP are left alone.
package arm64
