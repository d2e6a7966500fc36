//go:build !purego

package amd64

// DotAVX2 is Σ x_i·y_i in 32 partial sums.
//
//go:noescape
func DotAVX2(x, y []float64) float64

// DotDenseAVX2 sets out[c] to DotAVX2 of y and column c of values, plus 0, for len(out) columns that
// follow one another.
//
//go:noescape
func DotDenseAVX2(values, y, out []float64)

// DotDenseSpansAVX2 is DotDenseAVX2 for columns that lie anywhere, column c from values[from[c]] on. There must be
// at least four columns, of at most 128 elements.
//
//go:noescape
func DotDenseSpansAVX2(from []int64, values, y, out []float64)

// AxpyDenseSpansAVX2 does y_i ← fma(a[c], x_i, y_i) for the elements x_i of the columns of DotDenseSpansAVX2, one
// column after another. There must be at least one column, of at most 128 elements.
//
//go:noescape
func AxpyDenseSpansAVX2(a []float64, from []int64, values, y []float64)

// SquaresDenseAVX2 sets out[c] to DotAVX2 of x and x⊙y, plus 0, where x is column c of values as in DotDenseAVX2.
//
//go:noescape
func SquaresDenseAVX2(values, y, out []float64)

// AsumAVX2 is Σ |x_i| in 32 partial sums.
//
//go:noescape
func AsumAVX2(x []float64) float64

// MaxAbsAVX2 is max |x_i|, NaN if any x_i is.
//
//go:noescape
func MaxAbsAVX2(x []float64) float64

// ReachAVX2 sets bit i of out where fma(s, y_i, x_i) is not less than least, using only the bits of x_i that
// are in mask. It writes 16 bits at a time, as far as x goes.
//
//go:noescape
func ReachAVX2(mask uint64, s float64, x, y []float64, least float64, out []uint64)

// MarginAVX2 does dst_i ← |x_i| − s·y_i, with the product rounded, or limit where that is not at least −limit, for
// each bit i of which that is set. It reads 16 bits of which at a time, as far as dst goes; dst may be x or y.
//
//go:noescape
func MarginAVX2(dst []float64, s float64, x, y []float64, limit float64, which []uint64)

// CountAndAVX2 is Σ popcount(x_i & y_i).
//
//go:noescape
func CountAndAVX2(x, y []uint64) int

// AxpyAVX2 does y_i ← fma(a, x_i, y_i).
//
//go:noescape
func AxpyAVX2(a float64, x, y []float64)

// ScalAVX2 does x_i ← a·x_i.
//
//go:noescape
func ScalAVX2(a float64, x []float64)

// DotIndexedAVX2 is Σ values[k]·y[rows[k]] in 4 partial sums.
//
//go:noescape
func DotIndexedAVX2(values []float64, rows []int32, y []float64) float64

// ScaleIndexedAVX2 does out[k] ← u = values[k]·scale[rows[k]] and returns Σ scale[rows[k]]·u and Σ u², in 4 partial
// sums each.
//
//go:noescape
func ScaleIndexedAVX2(values []float64, rows []int32, scale, out []float64) (sum, square float64)

// AxpyIndexedAVX2 does y[rows[k]] ← fma(a, values[k], y[rows[k]]), rows distinct.
//
//go:noescape
func AxpyIndexedAVX2(a float64, values []float64, rows []int32, y []float64)

// DotSpansAVX2 does out[c] ← DotIndexedAVX2 of the entries from[c] ≤ k < to[c], for
// len(out) columns. It stops before a column that is not within rows, or with which
// it would exceed 8,192 entries in all, and returns the number of columns done.
//
//go:noescape
func DotSpansAVX2(from, to []int64, rows []int32, values, y, out []float64) (done int)

// AxpySpansAVX2 does AxpyIndexedAVX2 with a[c] and the entries from[c] ≤ k < to[c], for
// len(a) columns, one after another. It stops where DotSpansAVX2 does.
//
//go:noescape
func AxpySpansAVX2(a []float64, from, to []int64, rows []int32, values, y []float64) (done int)

// MomentsAVX2 sets squares[c] to Σ x²·s, sums[c] to Σ x·s and dots[c] to Σ x·u over the
// entries x of column c, where s is pairs[2·row] and u pairs[2·row+1], for len(squares)
// columns. It stops where DotSpansAVX2 does.
//
//go:noescape
func MomentsAVX2(colPtr []int64, rows []int32, values, pairs, squares, sums, dots []float64) (done int)

// DotAVX512 is DotAVX2 with wider registers, and the same bits.
//
//go:noescape
func DotAVX512(x, y []float64) float64

// DotDenseAVX512 is DotDenseAVX2 with wider registers, and the same bits.
//
//go:noescape
func DotDenseAVX512(values, y, out []float64)

// SquaresDenseAVX512 is SquaresDenseAVX2 with wider registers, and the same bits.
//
//go:noescape
func SquaresDenseAVX512(values, y, out []float64)

// AsumAVX512 is AsumAVX2 with wider registers, and the same bits.
//
//go:noescape
func AsumAVX512(x []float64) float64

// MaxAbsAVX512 is MaxAbsAVX2 with wider registers.
//
//go:noescape
func MaxAbsAVX512(x []float64) float64

// ReachAVX512 is ReachAVX2 with wider registers; it writes 32 bits at a time.
//
//go:noescape
func ReachAVX512(mask uint64, s float64, x, y []float64, least float64, out []uint64)

// CountAndAVX512 is CountAndAVX2 with wider registers, for CPUs with AVX512_VPOPCNTDQ.
//
//go:noescape
func CountAndAVX512(x, y []uint64) int

// ProductAVX2 does dst_i ← x_i·y_i; dst may be x or y.
//
//go:noescape
func ProductAVX2(dst, x, y []float64)

// ProductAVX512 is ProductAVX2 with wider registers.
//
//go:noescape
func ProductAVX512(dst, x, y []float64)

// PickAVX512 writes number[rows_k] to index and values_k to out wherever number[rows_k] ≥ 0, one after
// another, and returns how many there are. It may overwrite the first len(rows) elements of both.
//
//go:noescape
func PickAVX512(number, rows []int32, values []float64, index []int32, out []float64) int

// AxpyAVX512 is AxpyAVX2 with wider registers.
//
//go:noescape
func AxpyAVX512(a float64, x, y []float64)

// ScalAVX512 is ScalAVX2 with wider registers.
//
//go:noescape
func ScalAVX512(a float64, x []float64)

// Relax executes PAUSE, which waits for a moment, that many times.
//
//go:noescape
func Relax(times int)
