//go:build !purego

package arm64

// DotNEON is Σ x_i·y_i in 32 partial sums.
//
//go:noescape
func DotNEON(x, y []float64) float64

// DotSingleNEON is DotNEON with x stored in 32 bits.
//
//go:noescape
func DotSingleNEON(x []float32, y []float64) float64

// AsumNEON is Σ |x_i| in 32 partial sums.
//
//go:noescape
func AsumNEON(x []float64) float64

// MaxAbsNEON is max |x_i|, NaN if any x_i is.
//
//go:noescape
func MaxAbsNEON(x []float64) float64

// CountAndNEON is Σ popcount(x_i & y_i).
//
//go:noescape
func CountAndNEON(x, y []uint64) int

// AxpyNEON does y_i ← fma(a, x_i, y_i).
//
//go:noescape
func AxpyNEON(a float64, x, y []float64)

// ScalNEON does x_i ← a·x_i.
//
//go:noescape
func ScalNEON(a float64, x []float64)

// DotIndexedNEON is Σ values[k]·y[rows[k]] in 4 partial sums.
//
//go:noescape
func DotIndexedNEON(values []float64, rows []int32, y []float64) float64

// ScaleIndexedNEON does out[k] ← u = values[k]·scale[rows[k]] and returns Σ scale[rows[k]]·u and Σ u², in 4 partial
// sums each.
//
//go:noescape
func ScaleIndexedNEON(values []float64, rows []int32, scale, out []float64) (sum, square float64)

// AxpyIndexedNEON does y[rows[k]] ← fma(a, values[k], y[rows[k]]), rows distinct.
//
//go:noescape
func AxpyIndexedNEON(a float64, values []float64, rows []int32, y []float64)

// DotSpansNEON does out[c] ← DotIndexedNEON of the entries from[c] ≤ k < to[c], for
// len(out) columns. It stops before a column that is not within rows, or with which
// it would exceed 8,192 entries in all, and returns the number of columns done.
//
//go:noescape
func DotSpansNEON(from, to []int64, rows []int32, values, y, out []float64) (done int)

// AxpySpansNEON does AxpyIndexedNEON with a[c] and the entries from[c] ≤ k < to[c], for
// len(a) columns, one after another. It stops where DotSpansNEON does.
//
//go:noescape
func AxpySpansNEON(a []float64, from, to []int64, rows []int32, values, y []float64) (done int)

// Relax executes ISB, which waits for a moment, that many times.
//
//go:noescape
func Relax(times int)
