package sparse

import (
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
)

// MaxDim is the largest number of rows, or of columns, of a matrix: row and
// column indices are 32-bit.
const MaxDim = math.MaxInt32 - 1

// Matrix is an immutable n × p design matrix, one row per sample and one column per feature. Any number of
// goroutines may share it; nothing reached through it may be written. [CSC] and [Dense] are its only
// implementations: assembly relies on what their constructors have checked.
type Matrix interface {
	// Dims returns the number of rows n and of columns p.
	Dims() (n, p int)

	// NNZ returns the number of stored entries: the nonzeros of a sparse
	// matrix, n·p for a dense one.
	NNZ() int64

	// Column returns column j, 0 ≤ j < p. A sparse column has its strictly
	// increasing row indices in rows (never nil, even when empty) and the
	// nonzero at rows[k] in values[k]. A dense column has nil rows and n values.
	Column(j int) (rows []int32, values []float64)

	// Arrays returns the entries of all columns; rows is nil for a dense matrix. Span returns the range of
	// column j in these arrays. Both serve kernels that take many columns in one call.
	Arrays() (rows []int32, values []float64)
	Span(j int) (from, to int64)

	// Stored returns the range first:end, in the same arrays, of the columns at positions from:to of Order.
	Stored(from, to int) (first, end int64)

	// Order returns the columns in storage order, which is the fast order to
	// visit them in. Columns without stored entries are left out: a sparse
	// matrix lists its nonempty columns by length, then index; a dense one
	// lists all p.
	Order() []int32

	// Place returns the position of column j in Order, −1 if Order leaves it out.
	Place(j int) int

	checked() // by a constructor of this package
}

func (*CSC) checked()   {}
func (*Dense) checked() {}

// checkDims returns the error of impossible dimensions, or nil.
func checkDims(n, p int) error {
	switch {
	case n < 0 || p < 0:
		return outcome.Errorf(outcome.Shape, "a matrix cannot be %d × %d", n, p)
	case n > MaxDim || p > MaxDim:
		return outcome.Errorf(outcome.Limit, "a %d × %d matrix exceeds the limit of %d rows and %d columns", n, p, MaxDim, MaxDim)
	default:
		return nil
	}
}

// nonFinite is the error of a NaN or an infinity at (i, j).
func nonFinite(i, j int, v float64) error {
	return &outcome.Error{
		Kind: outcome.NonFinite, Message: formatNonFinite(v),
		HasRow: true, Row: i, HasColumn: true, Column: j,
	}
}

func formatNonFinite(v float64) string {
	switch {
	case v > 0:
		return "value is +Inf"
	case v < 0:
		return "value is -Inf"
	default:
		return "value is NaN"
	}
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }
