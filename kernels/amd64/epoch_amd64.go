//go:build !purego

package amd64

// Epoch is kernels.Epoch, field for field; the compiler checks that when package
// kernels converts one into the other.
type Epoch struct {
	From, To []int64
	Rows     []int32
	Values   []float64

	Residual  []float64
	Coef      []float64
	Square    []float64
	Threshold []float64
	Mean      []float64
	Grad      []float64

	Total, Ridge float64
	Offset       float64
}

// EpochAVX2 does the columns from ≤ k < to of an epoch of coordinate descent
// and returns the number of entries of the columns that changed.
//
//go:noescape
func EpochAVX2(e *Epoch, from, to int) (updated int)

// GramEpoch is kernels.GramEpoch, field for field.
type GramEpoch struct {
	Gram        []float64
	Stride      int
	Correlation []float64

	Slot      []int32
	Coef      []float64
	Square    []float64
	Inverse   []float64
	Threshold []float64
	Grad      []float64

	Ridge float64
}

// DenseEpoch is kernels.DenseEpoch, field for field.
type DenseEpoch struct {
	Values   []float64
	Residual []float64

	From      []int64
	Coef      []float64
	Square    []float64
	Inverse   []float64
	Threshold []float64
	Grad      []float64

	Ridge float64
}

// GramEpochAVX2 does the positions from ≤ k < to of an epoch on a quadratic. It stops
// after the given number of moves. It returns the next position and the number of moves.
//
//go:noescape
func GramEpochAVX2(e *GramEpoch, from, to, moves int) (next, moved int)

// DenseEpochAVX2 does columns from ≤ k < to of an epoch over dense columns and
// returns how many coefficients have moved.
//
//go:noescape
func DenseEpochAVX2(e *DenseEpoch, from, to int) (moved int)

// DenseEpochAVX512 does columns from ≤ k < to of an epoch over dense columns and
// returns how many coefficients have moved.
//
//go:noescape
func DenseEpochAVX512(e *DenseEpoch, from, to int) (moved int)

// BoxEpoch is kernels.BoxEpoch, field for field.
type BoxEpoch struct {
	From, To []int64
	Features []int32
	Values   []float64

	W    []float64
	At   []struct{ Sign, Inverse, Bound, Value, Margin float64 }
	Live []int32

	Diagonal float64

	AsideOver, AsideUnder float64

	MostOver, MostUnder float64
	Gap                 float64
	Visited, Moved      int
	Free, FreeEntries   int
}

// BoxEpochAVX2 does the visits from ≤ k < to of an epoch over a box. kept is the
// number of samples kept by earlier visits; it returns the number kept after these.
//
//go:noescape
func BoxEpochAVX2(e *BoxEpoch, from, to, kept int) int
