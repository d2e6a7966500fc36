package sparse

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/arena"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// View is a design matrix as one inner problem sees it: row weights, and
// columns centred on the weighted rows where the problem has an intercept.
// Nothing of the matrix is copied: held-out rows have weight 0, and the
// centring is carried through the products.
//
// Write X̃ = X − 1x̄ᵀ for the centred matrix (X̃ = X without centring), s for the weights and N = Σs. The views
// that [View.Standardised] and [View.Rescaled] return have the columns of X times a number each; X stands for
// these scaled columns everywhere. A View is immutable and safe for any number of goroutines; it holds O(n + p)
// numbers of its own.
type View struct {
	x            Matrix
	k            *kernels.Set
	n, p         int
	weights      []float64 // nil: every row has weight 1
	total        float64   // N
	positiveRows int       // rows of positive weight
	fractional   bool      // some weights are not 0 or 1
	centred      bool
	moments      *moments
	unitMoments  *moments  // moments over all rows with a weight of 1, not scaled; nil: some weights are not 0 or 1
	scale        []float64 // factors of the columns; nil: all are 1
	team         *team.Team
	addTask      *addTask  // task of the team for AddColumns
	dotsTask     *dotsTask // task of the team for Dots
	memory       *arena.Arena
}

// NewView prepares x for a problem with the given row weights (nil: all 1), centring columns on their weighted
// means where centre is set. Means and norms without weights are computed once and stay with x; those under
// weights belong to the view and, where weights are 0 and 1, are computed when first needed. The weights are
// copied.
//
// It returns an [outcome.Error] when the weights do not fit x, are negative or not finite, or are all 0, and
// when a column's squared norm overflows or underflows.
func NewView(k *kernels.Set, x Matrix, weights []float64, centre bool) (*View, error) {
	n, p := x.Dims()
	v := &View{x: x, k: k, n: n, p: p, total: float64(n), positiveRows: n, centred: centre}
	if weights != nil {
		if err := v.setWeights(weights); err != nil {
			return nil, err
		}
	}
	if v.total == 0 {
		return nil, outcome.Errorf(outcome.Shape, "there are no training rows of positive weight")
	}
	if err := v.chooseMoments(); err != nil {
		return nil, err
	}
	return v, nil
}

// setWeights copies the row weights. If some are wrong, it returns the error of [CheckWeights].
func (v *View) setWeights(weights []float64) error {
	if len(weights) != v.n {
		return CheckWeights(v.k, weights, v.n)
	}
	v.weights = kernels.Undefined[float64](len(weights))
	v.total, v.positiveRows = 0, 0
	for from, to := range v.k.Pieces(len(weights)) {
		own, total, positive, mixed := v.weights[from:to], v.total, v.positiveRows, v.fractional
		for i, s := range weights[from:to] {
			if !(s >= 0) {
				return CheckWeights(v.k, weights, v.n)
			}
			own[i] = s
			total += s
			if s > 0 {
				positive++
				mixed = mixed || s != 1
			}
		}
		v.total, v.positiveRows, v.fractional = total, positive, mixed
	}
	if math.IsInf(v.total, 1) {
		return CheckWeights(v.k, weights, v.n)
	}
	return nil
}

// CheckWeights returns an error if the row weights of n rows are not finite, are negative, sum to more than a
// float64 can hold, or are too few or too many. nil stands for a weight of 1 each. It stops when the context of
// k ends (see [kernels.Set.Until]); k may be nil.
func CheckWeights(k *kernels.Set, weights []float64, n int) error {
	if weights == nil {
		return nil
	}
	if len(weights) != n {
		return outcome.Errorf(outcome.Shape, "%d row weights for %d rows", len(weights), n)
	}
	var total float64
	pace := k.Pace()
	for i, s := range weights {
		pace.Did(1)
		if !(s >= 0) || math.IsInf(s, 1) {
			return &outcome.Error{Kind: outcome.BadParameter, HasRow: true, Row: i, Message: "a row weight must be finite and not negative"}
		}
		total += s
	}
	if math.IsInf(total, 1) {
		return outcome.Errorf(outcome.BadParameter, "the row weights sum to +Inf")
	}
	return nil
}

// Standardised returns the view with its columns divided by d_j = ‖X̃_j‖ₛ/√N: their standard deviations where
// they are centred, else their root mean squares. A column whose spread may be rounding of a constant becomes
// 0.
func (v *View) Standardised() *View {
	w := *v
	m, scaled := v.columnMoments(), &moments{norms: make([]float64, v.p)}
	if v.centred {
		scaled.means = make([]float64, v.p)
	}
	w.scale = make([]float64, v.p)
	root, rounding := math.Sqrt(v.total), v.rounding()
	for j, norm := range m.norms {
		if norm <= float64(rounding*math.Abs(v.Mean(j))) {
			continue
		}
		scaled.norms[j], w.scale[j] = root, root/norm
		if v.centred {
			scaled.means[j] = m.means[j] * w.scale[j]
		}
	}
	w.setMoments(scaled)
	return &w
}

// Rescaled returns the view with column j multiplied by times[j], which is finite and 0 or more. The error is
// an [outcome.Error] of kind BadParameter if the squared norm of a column then overflows or underflows. times
// is not kept.
func (v *View) Rescaled(times []float64) (*View, error) {
	w := *v
	m, scaled := v.columnMoments(), &moments{norms: make([]float64, v.p)}
	if v.centred {
		scaled.means = make([]float64, v.p)
	}
	w.scale = make([]float64, v.p)
	for j, t := range times {
		w.scale[j] = v.Scale(j) * t
		scaled.norms[j] = m.norms[j] * t
		if v.centred {
			scaled.means[j] = m.means[j] * t
		}
		square := scaled.norms[j] * scaled.norms[j]
		if math.IsInf(square, 1) || scaled.norms[j] != 0 && square < leastSquare {
			return nil, &outcome.Error{Kind: outcome.BadParameter, HasColumn: true, Column: j, Message: "the squared norm overflows or underflows after scaling by the penalty factor", Err: ErrScale}
		}
	}
	w.setMoments(scaled)
	return &w, nil
}

// rounding returns the norm that rounding may give a constant column, as a multiple of the absolute value of
// its mean.
func (v *View) rounding() float64 {
	return float64(8*math.Sqrt(float64(v.n))*0x1p-53) * math.Sqrt(v.total)
}

// Rows returns a view of a copy of the listed rows, ascending, with their weights, centred on their own means
// where v is centred. Its columns have the same factors as those of v.
func (v *View) Rows(list []int32) (*View, error) {
	var weights []float64
	if v.weights != nil {
		weights = make([]float64, len(list))
		for k, i := range list {
			weights[k] = v.weights[i]
		}
	}
	w, err := NewView(v.k, Rows(v.k, v.x, list), weights, v.Centred())
	if err != nil || v.scale == nil {
		return w, err
	}
	m := w.columnMoments()
	scaled := &moments{norms: slices.Clone(m.norms), means: slices.Clone(m.means)}
	for j, scale := range v.scale {
		scaled.norms[j] *= scale
		if v.centred {
			scaled.means[j] *= scale
		}
	}
	w.scale = v.scale
	w.setMoments(scaled)
	return w, nil
}

// Scale returns the factor of column j: a coefficient of the view times this factor is a coefficient of the
// matrix.
func (v *View) Scale(j int) float64 {
	if v.scale == nil {
		return 1
	}
	return v.scale[j]
}

// Scaled reports whether the columns of the matrix are multiplied by factors.
func (v *View) Scaled() bool { return v.scale != nil }

// Dims returns the number of rows n (held-out ones included) and columns p.
func (v *View) Dims() (n, p int) { return v.n, v.p }

// Matrix returns the matrix behind the view.
func (v *View) Matrix() Matrix { return v.x }

// Kernels returns the kernel set the view computes with.
func (v *View) Kernels() *kernels.Set { return v.k }

// Weights returns the row weights s, nil where every row has weight 1. Read only.
func (v *View) Weights() []float64 { return v.weights }

// Total returns N = Σs, the n of 1/2n.
func (v *View) Total() float64 { return v.total }

// Positive returns the number of rows of positive weight.
func (v *View) Positive() int { return v.positiveRows }

// Centred reports whether columns are centred, that is, whether the problem
// has an intercept.
func (v *View) Centred() bool { return v.centred }

// Mean returns x̄_j, the weighted mean of column j; 0 without centring.
func (v *View) Mean(j int) float64 {
	if !v.centred {
		return 0
	}
	return v.columnMoments().means[j]
}

// Means returns [View.Mean] of every column, nil without centring. Read only.
func (v *View) Means() []float64 {
	if !v.centred {
		return nil
	}
	return v.columnMoments().means
}

// Norm returns ‖X̃_j‖ₛ = √(Σ sᵢ(xᵢⱼ − x̄ⱼ)²).
func (v *View) Norm(j int) float64 { return v.columnMoments().norms[j] }

// Norms returns [View.Norm] of the columns in storage order. Read only.
func (v *View) Norms() []float64 { return v.columnMoments().normsInOrder }

// Square returns ‖X̃_j‖ₛ². Where all rows have weight 1 and columns are not centred, it is the sum of squares
// itself, before [View.Norm] rounds its root.
func (v *View) Square(j int) float64 {
	m := v.columnMoments()
	if m.squares != nil {
		return m.squares[j]
	}
	return float64(m.norms[j] * m.norms[j])
}

// Squares returns [View.Square] of every column where all rows have weight 1 and columns are not centred; else
// nil. Read only.
func (v *View) Squares() []float64 { return v.columnMoments().squares }

// MeanOf returns Σ sᵢuᵢ / N of a vector over the rows.
func (v *View) MeanOf(u []float64) float64 {
	if v.weights == nil {
		return v.k.Sum(u) / v.total
	}
	return v.k.Dot(u, v.weights) / v.total
}

// Weigh sets out = s⊙u, so that rows of weight 0 become exactly 0. Without
// weights it copies u. out may be u.
func (v *View) Weigh(u, out []float64) {
	if v.weights == nil {
		if len(u) > 0 && &u[0] != &out[0] {
			v.k.Copy(out, u)
		}
		return
	}
	v.k.Product(out, v.weights, u)
}

// SizeOf returns ‖u‖ₛ² = Σ sᵢuᵢ² and the largest of its terms. It overwrites u with √s⊙u.
func (v *View) SizeOf(u []float64) (square, largest float64) {
	if v.unitMoments != nil { // weights are 0 and 1
		v.Weigh(u, u)
	} else {
		for from, to := range v.k.Pieces(len(v.weights)) {
			for i, s := range v.weights[from:to] {
				u[from+i] *= math.Sqrt(s)
			}
		}
	}
	top := v.k.MaxAbs(u)
	return v.k.Dot(u, u), top * top
}

// Dot returns X_jᵀu for u over all n rows. It does not centre: where Σu = 0,
// as for weighted residuals of a problem with an intercept, X̃_jᵀu = X_jᵀu.
func (v *View) Dot(j int, u []float64) float64 {
	rows, values := v.x.Column(j)
	var dot float64
	if rows == nil {
		dot = v.k.Dot(values, u)
	} else {
		dot = v.k.DotIndexed(values, rows, u)
	}
	if v.scale != nil {
		return float64(dot * v.scale[j])
	}
	return dot
}

// Correlate sets out[k] = X_jᵀu for the columns j = Order()[from+k], from+k < to: [View.Dot] for a run of
// columns in storage order, in one kernel call.
func (v *View) Correlate(from, to int, u, out []float64) {
	out = out[:to-from]
	switch x := v.x.(type) {
	case *CSC:
		v.k.DotColumns(x.colPtr[from:to+1], x.rows, x.values, u, out)
	case *Dense:
		v.k.DotDense(x.values[from*x.n:to*x.n], u, out) // its columns are stored in order
	}
	if v.scale == nil {
		return
	}
	for k, j := range v.x.Order()[from:to] {
		out[k] *= v.scale[j]
	}
}

// AddColumns adds X̃_S·b to u over all n rows, held-out ones included, for the
// columns S listed in cols and their coefficients b.
func (v *View) AddColumns(cols []int32, b, u []float64) {
	if v.addByTeam(cols, b, u) {
		return
	}
	if x, dense := v.x.(*Dense); dense {
		v.addDense(x, cols, b, 0, v.n, u)
		return
	}
	for k, j := range cols {
		if b[k] == 0 {
			continue
		}
		times := b[k]
		if v.scale != nil {
			times *= v.scale[j]
		}
		rows, values := v.x.Column(int(j))
		v.k.AxpyIndexed(times, values, rows, u)
	}
	if shift := v.shift(cols, b); shift != 0 {
		v.k.Subtract(shift, u)
	}
}
