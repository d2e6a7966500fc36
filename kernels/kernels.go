package kernels

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// Block is the number of terms that one partial result covers; see the package
// comment.
const Block = 8192

// Set is one complete implementation of the operations. Sets are shared and
// must not be modified. All functions are safe for concurrent use as long as
// nobody writes to their operands.
type Set struct {
	Name string // "purego", "avx2", "avx512", "neon"

	Dot    func(x, y []float64) float64    // Σ x_i·y_i, len(x) = len(y)
	Axpy   func(a float64, x, y []float64) // y ← y + a·x, len(x) = len(y)
	Scal   func(a float64, x []float64)    // x ← a·x
	Nrm2   func(x []float64) float64       // √Σ x_i², without overflow or underflow on the way
	Asum   func(x []float64) float64       // Σ |x_i|
	MaxAbs func(x []float64) float64       // max |x_i|; 0 if x is empty, NaN if any x_i is

	// Reach and ReachAbs find the elements that reach a bound: bit i%64 of out[i/64] is set unless
	// x_i + a·y_i (|x_i| + a·y_i in ReachAbs), by one fused multiply–add, is less than least. So it is
	// set for NaN. Bits beyond the last element are 0. len(x) = len(y), len(out) = ⌈len(x)/64⌉.
	Reach, ReachAbs func(a float64, x, y []float64, least float64, out []uint64)

	// Margin does dst_i ← |x_i| − a·y_i, with the product rounded, for each i whose bit i%64 of which[i/64]
	// is set. Where the result is less than −limit or NaN, dst_i becomes limit. dst, x and y have one length,
	// len(which) = ⌈len(x)/64⌉, and its bits beyond the last element are ignored. dst may be x or y, but must not
	// overlap them otherwise.
	Margin func(dst []float64, a float64, x, y []float64, limit float64, which []uint64)

	// CountAnd is the number of bits that are set in both x and y, len(x) = len(y).
	CountAnd func(x, y []uint64) int

	// Pick picks the entries of a column whose rows have a number, number[rows_k] ≥ 0. It writes
	// these numbers to index and the values_k to out, one after another, and returns how many there
	// are. len(values) = len(rows). index and out must have room for len(rows) elements, all of which
	// Pick may overwrite.
	Pick func(number, rows []int32, values []float64, index []int32, out []float64) (kept int)

	// DotIndexed is Σ values[k]·y[rows[k]], len(values) = len(rows): a column
	// of a sparse matrix times a dense vector.
	DotIndexed func(values []float64, rows []int32, y []float64) float64

	// AxpyIndexed does y[rows[k]] += a·values[k], len(values) = len(rows). Rows are
	// distinct, and values must not overlap y.
	AxpyIndexed func(a float64, values []float64, rows []int32, y []float64)

	// ScaleIndexed does out[k] ← u_k = values[k]·scale[rows[k]], rounded, and returns Σ scale[rows[k]]·u_k and
	// Σ u_k², each in the order of DotIndexed. This weights a column, where scale has the square roots of the
	// weights. len(values) = len(rows) = len(out). out may be values; it must not overlap them otherwise, nor scale.
	ScaleIndexed func(values []float64, rows []int32, scale, out []float64) (sum, square float64)

	// DotColumns does out[c] = DotIndexed of column c for the len(out)
	// columns whose entries are rows[colPtr[c]:colPtr[c+1]], and values
	// likewise; len(colPtr) = len(out)+1. One call for many columns: fastest
	// where columns of the same length follow one another.
	DotColumns func(colPtr []int64, rows []int32, values, y, out []float64)

	// DotDense does out[c] = Dot of y and column c for the len(out) dense columns that follow one
	// another in values; len(values) = len(out)·len(y). out must not overlap values or y. One call
	// for many short columns.
	DotDense func(values, y, out []float64)

	// DotDenseSingle is DotDense for values stored in 32 bits. They are widened, so that the arithmetic and its bits
	// are those of the 64-bit kernel.
	DotDenseSingle func(values []float32, y, out []float64)

	// DotDenseSpans is DotDense for columns that lie anywhere in values: column c is
	// values[from[c]:from[c]+len(y)]. len(from) = len(out).
	DotDenseSpans func(from []int64, values, y, out []float64)

	// AxpyDenseSpans is Axpy for the columns x of DotDenseSpans, each with its own coefficient, one after another:
	// y_i += a[c]·x_i. len(from) = len(a); y must not overlap a or values.
	AxpyDenseSpans func(a []float64, from []int64, values, y []float64)

	// SquaresDense does out[c] = Σ x_i·(x_i·y_i), the product with y_i rounded, for the columns x of
	// DotDense: sums of squares with the weights y, in the order of Dot.
	SquaresDense func(values, y, out []float64)

	// DotSpans is DotColumns for columns that lie anywhere: column c has the
	// entries from[c] ≤ k < to[c]. len(from) = len(to) = len(out).
	DotSpans func(from, to []int64, rows []int32, values, y, out []float64)

	// AxpySpans is AxpyIndexed for columns that lie anywhere, each with its own coefficient, one
	// after another: y[rows[k]] += a[c]·values[k] over the entries from[c] ≤ k < to[c].
	// len(from) = len(to) = len(a). Rows are distinct within a column; y must not overlap a or values.
	AxpySpans func(a []float64, from, to []int64, rows []int32, values, y []float64)

	// Moments does squares[c] = Σ x²·s, x² rounded, sums[c] = Σ x·s and dots[c] = Σ x·u for the
	// columns of DotColumns, in its order. For an entry x in a row, s is pairs[2·row] and u is
	// pairs[2·row+1]. len(squares) = len(sums) = len(dots) = len(colPtr)−1.
	Moments func(colPtr []int64, rows []int32, values, pairs, squares, sums, dots []float64)

	// DotLanes is DotIndexed for 8 vectors interleaved in y, element i of vector
	// l at y[8·(i−first)+l]: out[l] = Σ values[k]·y[8·(rows[k]−first)+l].
	DotLanes func(values []float64, rows []int32, y []float64, first int, out *[Lanes]float64)

	// AddLanes adds the DotLanes of column c to out[8c+l], for columns that lie anywhere: column c has
	// the entries from[c] ≤ k < to[c] of rows and values.
	AddLanes func(from, to []int64, rows []int32, values, y []float64, first int, out []float64)

	// DotLanesMasked is DotLanes with rows left out by lane: entry k counts in
	// lane l if bit l of mask[rows[k]] is set. So a fold's dot products leave out
	// its held-out rows, although y has its residual there. len(y) = 8·len(mask).
	DotLanesMasked func(values []float64, rows []int32, mask []uint8, y []float64, out *[Lanes]float64)

	// AxpyLanes is AxpyIndexed for 8 vectors interleaved in y:
	// y[8·rows[k]+l] += a[l]·values[k]. Rows are distinct; y must not overlap a or values.
	AxpyLanes func(a *[Lanes]float64, values []float64, rows []int32, y []float64)

	// SubPanel subtracts a vector times 8 neighbouring columns of a matrix from t:
	// t[l] ← t[l] − Σ x[k]·y[k·stride+l], l = 0 … 7, in the 4 partial sums of
	// DotIndexed. Blocks have 1,024 terms, and each is subtracted from t by itself. t
	// must not overlap the elements of x and y that are read; stride ≥ 8.
	SubPanel func(x, y []float64, stride int, t []float64)

	// SubTile subtracts the product of 8 rows of m elements and 8 columns from a tile:
	// t[c·stride+l] ← t[c·stride+l] − Σ x[c·stride+k]·y[k·stride+l], c, l = 0 … 7, k
	// from 0 to m−1, one fused multiply–add each in that order. t must not overlap the
	// elements of x and y that are read; stride ≥ 8.
	SubTile func(x, y []float64, stride, m int, t []float64)

	// SolveTile solves L·X = T in place of the 8 × 8 tile T, for the lower triangle
	// L at l: for c = 0 … 7, row c of T is multiplied by 1/L_cc, and row d > c
	// becomes fma(−L_dc, row c, row d). stride ≥ 8.
	SolveTile func(l []float64, stride int, t []float64)

	// AddTile adds the products of 8 vectors of one length and 8 vectors that are
	// interleaved in y to a tile: t[c·stride+l] ← t[c·stride+l] + Σ x[c][k]·y[8·k+l],
	// c, l = 0 … 7, k from 0 on, one fused multiply–add each in that order. t must
	// not overlap x or y; len(y) = 8·len(x[c]); stride ≥ 8.
	AddTile func(x *[Lanes][]float64, y []float64, stride int, t []float64)

	// Marks writes to at, in ascending order, the positions where the text has the byte a, b or c,
	// and returns their number n. len(at) ≥ len(text); elements beyond the first n may be overwritten.
	Marks func(text []byte, a, b, c byte, at []int32) (n int)

	// Numbers reads cells of a table: out[k] is the number that text[ends[k]+1:ends[k+1]] spells.
	// A cell may have a minus, then digits, with at most one point before, among or after them: 15
	// digits after leading zeros and 16 bytes at most. Anything else is NaN; Numbers returns how
	// many these are. len(ends) = len(out)+1; -1 ≤ ends[k] ≤ len(text).
	Numbers func(text []byte, ends []int32, out []float64) (unread int)

	// Product does dst_i ← x_i·y_i; len(dst) = len(x) = len(y), dst may be x or y.
	Product func(dst, x, y []float64)

	// Divergence computes the logistic loss's part of the duality gap, row by row: with c = |scale·t_i|,
	// dst_i ← (1 − c)·ln(1 + e^(rest − y_i·m_i)) + c·whole. Of rest and of whole it takes element 0 if
	// the sign bit of y_i is not set, else element 1. y, m and t have the length of dst, which may be
	// one of them.
	Divergence func(dst, y, m, t []float64, scale float64, rest, whole [2]float64)

	// These do dst_i ← e^x_i, ln x_i, ln(1 + e^x_i), 1/(1 + e^−x_i), σ(x_i)σ(−x_i), each with the bits
	// of the function of the same name; len(dst) = len(x), dst may be x. They are as fast for large |x|
	// as for small, since a result is 0 where it contains an exponential below the smallest normal number.
	Exp, Log, Log1pExp, Sigmoid, Bell func(dst, x []float64)

	// Epoch does one epoch of coordinate descent over packed sparse columns; see
	// type Epoch. It returns the number of entries of the columns whose
	// coefficient changed.
	Epoch func(e *Epoch) (updated int)

	// GramEpoch does one epoch of coordinate descent on a quadratic, DenseEpoch one
	// over packed dense columns; see the types of these names. They return the number
	// of coefficients that changed.
	GramEpoch  func(e *GramEpoch) (moved int)
	DenseEpoch func(e *DenseEpoch) (moved int)

	// BoxEpoch does one epoch of coordinate descent on the dual of a support vector
	// machine over the samples listed in Live; see type BoxEpoch. It returns the number
	// of samples that are still worth visiting: Live[:kept].
	BoxEpoch func(e *BoxEpoch) (kept int)

	loops *primitives
	ctx   context.Context // see [Set.Until]; nil: none
}

// EnvVar is the environment variable that [Active] reads.
const EnvVar = "PARE_KERNELS"

// Available lists the sets that this program can run here, slowest first.
// The first is always "purego".
func Available() []*Set { return slices.Clone(sets()) }

var sets = sync.OnceValue(func() []*Set {
	return append([]*Set{newSet("purego", &pureGo)}, native()...)
})

// Named returns an available set by name. The error is an [*UnknownSetError].
func Named(name string) (*Set, error) {
	for _, s := range sets() {
		if s.Name == name {
			return s, nil
		}
	}
	err := &UnknownSetError{Name: name}
	for _, s := range sets() {
		err.Available = append(err.Available, s.Name)
	}
	return nil, err
}

// Active returns the set that PARE_KERNELS names, or the fastest one if the
// variable is empty or unset. The variable is read at every call. The error is
// an [*UnknownSetError].
func Active() (*Set, error) {
	if name := os.Getenv(EnvVar); name != "" {
		return Named(name)
	}
	all := sets()
	return all[len(all)-1], nil
}

// UnknownSetError says that a set is not known or cannot run here.
type UnknownSetError struct {
	Name      string   // the name asked for
	Available []string // the names that there are
}

func (e *UnknownSetError) Error() string {
	return fmt.Sprintf("kernels: no set %q here; available: %s", e.Name, strings.Join(e.Available, ", "))
}
