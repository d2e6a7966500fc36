// Package kernels holds the innermost loops, in pure Go and in assembly: sums and
// updates over dense vectors and over columns of a sparse matrix, and two loops that
// find the cells of a table in text form and read the numbers in them.
//
// # Sets
//
// A [Set] is one complete implementation: "purego" runs everywhere, the others
// need instructions that the CPU and the operating system must both offer.
// Resolve a set once per solve and keep it:
//
//	k, err := kernels.Active()
//	...
//	s := k.Dot(x, y)
//
// The environment variable PARE_KERNELS names a set to use instead of the best
// one. The build tag purego leaves the assembly out.
//
// # One result on every CPU
//
// Each operation has one documented order of operations, and every set follows
// it, so every set returns the same bits, on every architecture, whatever the
// alignment of the operands. Only the payload and the sign of a NaN are unspecified.
//
// Elementwise operations (Axpy, Scal, AxpyIndexed, AxpySpans, AxpyDenseSpans) do one rounding per element:
// y ← fma(a, x, y), or x ← a·x.
//
// A reduction over n terms goes as follows.
//
//  1. Terms are cut into blocks of [Block]; block sums are added, first to last,
//     to +0. So no sum is −0, and the sign of a partial sum that is zero makes
//     no difference: tails may be padded with zeros.
//  2. Within a block there are w partial sums, all starting at 0: w = 32 in
//     dense operations, w = 4 in indexed ones. Term i goes to partial sum
//     i mod w, in the order of i, products by fused multiply–add.
//  3. Partial sums are added pairwise, the upper half onto the lower half, until
//     one is left: s[k] += s[k+w/2], s[k] += s[k+w/4], …
//
// So a result depends on the numbers and their positions alone. Its error is at
// most γ_n·Σ|x_i·y_i| + n·2⁻¹⁰⁷⁴, γ_n = n·u/(1−n·u), u = 2⁻⁵³, as for any order.
//
// IEEE special values follow the scalar loops: 0·NaN and 0·Inf are NaN, there
// is no short cut for a = 0, and subnormal numbers are kept. Only exponentials are 0
// where they would be subnormal.
//
// # Operands
//
// Lengths that do not match are an error of the program and cause a panic, with a
// message that begins "kernels: ". The assembly does not check indices: rows must
// lie in [0, len(y)), which package sparse checks once, when a matrix is built.
// Indexed updates also need rows to be distinct.
//
// x and y of Axpy may be the same slice; operands that overlap in any other way
// cause a panic. Operands reach the kernels through function values, so slices of
// local arrays move to the heap: pass slices of long-lived workspaces.
//
// # Pauses
//
// Assembly cannot be preempted. No call into it handles more than [Block] elements
// (of each vector, where it handles several), and every call begins with a stack check,
// where the scheduler may stop the goroutine: after some ten microseconds at worst.
package kernels
