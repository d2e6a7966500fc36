package model

import (
	"errors"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// SVM is the linear support vector machine without intercept, in its dual form
// (tables 1 and 3 of the paper, with row weights s):
//
//	min over β of ½‖w‖² − Σβᵢ, w = Σβᵢyᵢxᵢ, subject to 0 ≤ βᵢ ≤ Cᵢ = C·sᵢ,
//
// the dual of ½‖w‖² + ΣCᵢ(1 − yᵢxᵢw)₊. C = e^λ is the strength. The variables
// belong to the samples, so the matrix has samples as columns. A row of weight 0
// is absent. An SVM is immutable and safe for any number of goroutines.
type SVM struct {
	samples sparse.Matrix
	squares []float64 // Qᵢᵢ
	k       *kernels.Set
	y       []float64
	weights []float64 // nil: every row has weight 1
	total   float64   // Σs
}

// NewSVM checks the labels, which must be −1 or 1 exactly, and the row weights
// (nil: all 1). samples is the transpose of the design matrix, p × n; see
// [sparse.Transpose]. y is kept and must not change; the weights are copied.
//
// The error is an [outcome.Error]: Shape for wrong lengths or no row of
// positive weight, NonFinite or BadParameter with the row of an invalid label or
// weight, SingleClass if all rows of positive weight have the same label, NonFinite
// if a squared norm overflows or underflows.
func NewSVM(k *kernels.Set, samples sparse.Matrix, y, weights []float64) (*SVM, error) {
	_, n := samples.Dims()
	if len(y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(y), n)
	}
	if err := sparse.CheckWeights(k, weights, n); err != nil {
		return nil, err
	}
	f := &SVM{samples: samples, k: k, y: y, weights: k.Clone(weights)}
	if err := loss.CheckTarget(k, loss.SmoothedHinge{}, y); err != nil {
		return nil, err
	}
	var positive, negative bool
	pace := k.Pace()
	for i, label := range y {
		pace.Did(1)
		if s := f.Weight(i); s > 0 {
			positive, negative = positive || label > 0, negative || label < 0
			f.total += s
		}
	}
	switch {
	case !positive && !negative:
		return nil, outcome.Errorf(outcome.Shape, "there are no training rows of positive weight")
	case !positive || !negative:
		return nil, outcome.Errorf(outcome.SingleClass, "every training row has the same label")
	}
	view, err := sparse.NewView(k, samples, nil, false)
	if err != nil {
		if at, ok := errors.AsType[*outcome.Error](err); ok && errors.Is(err, sparse.ErrScale) {
			what := "overflows"
			if at.Kind != outcome.NonFinite {
				what = "underflows"
			}
			return nil, &outcome.Error{Kind: outcome.NonFinite, HasRow: true, Row: at.Column, Message: "‖xᵢ‖² " + what, Err: sparse.ErrScale}
		}
		return nil, err
	}
	f.squares = view.Squares()
	return f, nil
}

// Dims returns the number of samples n, held-out ones included, and of features p.
func (f *SVM) Dims() (n, p int) { p, n = f.samples.Dims(); return n, p }

// Samples returns the matrix with sample i as column i.
func (f *SVM) Samples() sparse.Matrix { return f.samples }

// Kernels returns the kernel set to compute with.
func (f *SVM) Kernels() *kernels.Set { return f.k }

// Labels returns y. Read only.
func (f *SVM) Labels() []float64 { return f.y }

// Weight returns sᵢ.
func (f *SVM) Weight(i int) float64 {
	if f.weights == nil {
		return 1
	}
	return f.weights[i]
}

// Square returns Lᵢ = Qᵢᵢ = ‖xᵢ‖².
func (f *SVM) Square(i int) float64 { return f.squares[i] }

// Strength returns C = e^λ. It refuses a λ that is not finite, and one for which C or ΣCᵢ overflows or
// C underflows.
func (f *SVM) Strength(logC float64) (float64, error) {
	c, err := strength(logC, 0)
	if err == nil && math.IsInf(c*f.total, 1) {
		err = outcome.At(outcome.BadParameter, "log-lambda", "ΣCᵢ overflows")
	}
	return c, err
}

// Null returns P₀ = ΣCᵢ, the primal objective at w = 0: the scale of every
// relative gap. (The dual objective at β = 0 is 0.)
func (f *SVM) Null(c float64) float64 { return c * f.total }

// SetPrimal sets w = Σβᵢyᵢxᵢ for the dual variables b of the samples rows. Its
// cost is O(p) plus the number of entries of those samples.
func (f *SVM) SetPrimal(rows []int32, b, w []float64) {
	clear(w)
	for k, i := range rows {
		f.Add(int(i), b[k], w)
	}
}

// Add adds b·yᵢxᵢ to w.
func (f *SVM) Add(i int, b float64, w []float64) {
	rows, values := f.samples.Column(i)
	if rows == nil {
		f.k.Axpy(b*f.y[i], values, w)
		return
	}
	f.k.AxpyIndexed(b*f.y[i], values, rows, w)
}

// Margin returns mᵢ = yᵢxᵢw.
func (f *SVM) Margin(i int, w []float64) float64 {
	rows, values := f.samples.Column(i)
	if rows == nil {
		return f.y[i] * f.k.Dot(values, w)
	}
	return f.y[i] * f.k.DotIndexed(values, rows, w)
}

// Straight returns the largest C for which βᵢ = Cᵢ in every row, so that w = CΣsᵢyᵢxᵢ: at this C the
// largest margin is 1. It is +Inf if no margin is positive.
func (f *SVM) Straight() float64 {
	n, p := f.Dims()
	w := make([]float64, p)
	f.k.Clear(w)
	pace := f.k.Pace()
	for i := range n {
		if s := f.Weight(i); s > 0 {
			f.Add(i, s, w)
		}
		pace.Did(1)
	}
	most := 0.0
	for i := range n {
		if f.Weight(i) > 0 {
			most = max(most, f.Margin(i, w))
		}
		pace.Did(1)
	}
	return 1 / most
}

// BoxDual accumulates, sample by sample, the sums for the duality gap and the KKT
// residual of the SVM, from the margins mᵢ = yᵢxᵢw at w = Σβᵢyᵢxᵢ. Every sample of
// positive weight must be added, in any fixed order.
//
// The gap ‖w‖² + ΣCᵢ(1−mᵢ)₊ − Σβᵢ is summed as Σ(Cᵢ−βᵢ)(1−mᵢ)₊ + βᵢ(mᵢ−1)₊,
// in which every term vanishes by itself at the optimum.
type BoxDual struct {
	gap, hinge, sum, kkt float64
}

// Add adds a sample: its margin m, dual variable b in [0, bound], and ‖xᵢ‖².
func (d *BoxDual) Add(m, b, bound, square float64) {
	d.sum += b
	lack := 1 - m
	if lack > 0 {
		d.gap = math.FMA(bound-b, lack, d.gap)
		d.hinge = math.FMA(bound, lack, d.hinge)
	} else {
		d.gap = math.FMA(b, -lack, d.gap)
	}
	if rests := lack > 0 && b == bound || lack <= 0 && b == 0; !rests {
		d.kkt = max(d.kkt, square*math.Abs(b-Clip(b-(m-1)/square, bound)))
	}
}

// Gap returns an upper bound of the suboptimality of both β and w. It also
// bounds ‖w − ŵ‖².
func (d *BoxDual) Gap() float64 { return d.gap }

// Primal returns ½‖w‖² + ΣCᵢ(1−mᵢ)₊, given ‖w‖².
func (d *BoxDual) Primal(squaredNorm float64) float64 { return float64(0.5*squaredNorm) + d.hinge }

// Dual returns ½‖w‖² − Σβᵢ, the objective of the dual problem, given ‖w‖².
func (d *BoxDual) Dual(squaredNorm float64) float64 { return float64(0.5*squaredNorm) - d.sum }

// KKT returns max ρᵢ, ρᵢ = Lᵢ|βᵢ − clip(βᵢ − (mᵢ−1)/Lᵢ, 0, Cᵢ)|, the fixed-point
// residual of the optimality conditions. ρᵢ ≤ √(2Lᵢ·gap) always holds. A sample
// xᵢ = 0 contributes no residual.
func (d *BoxDual) KKT() float64 { return d.kkt }

// Clip returns the proximal operator of the box at z: the nearest point of
// [0, bound].
func Clip(z, bound float64) float64 {
	switch {
	case z > bound:
		return bound
	case z > 0:
		return z
	default:
		return 0
	}
}
