package model

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Squared is the datafit f(β, b) = (1/2N)‖y − Xβ − b1‖ₛ² of a target on a view.
// The intercept b exists where the view is centred; it is eliminated: given
// β, the best b makes the weighted residuals sum to zero. A Squared is
// immutable and safe for any number of goroutines.
type Squared struct {
	view  *sparse.View
	y     []float64
	first int     // a row of positive weight
	null  float64 // P₀
}

// NewSquared checks the target: one finite entry per row of the view, held-out
// rows included. y is kept, not copied, and must not change. The error is an
// [outcome.Error]: Shape, or NonFinite with the row.
func NewSquared(view *sparse.View, y []float64) (*Squared, error) {
	n, _ := view.Dims()
	if len(y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(y), n)
	}
	for i, t := range y {
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return nil, &outcome.Error{Kind: outcome.NonFinite, HasRow: true, Row: i, Message: "the target is not finite"}
		}
	}
	f := &Squared{view: view, y: y}
	r := make([]float64, n)
	if s := view.Weights(); s != nil {
		f.first = slices.IndexFunc(s, func(s float64) bool { return s > 0 })
	}
	f.Residual(nil, nil, r)
	weighted := make([]float64, n)
	view.Weigh(r, weighted)
	f.null = view.Kernels().Dot(r, weighted) / (2 * view.Total())
	switch {
	case math.IsInf(f.null, 0):
		return nil, outcome.Errorf(outcome.NonFinite, "‖y‖² overflows: scale the target")
	case f.null < leastNull && view.Kernels().MaxAbs(weighted) > 0:
		return nil, outcome.Errorf(outcome.BadParameter, "‖y‖² underflows: scale the target")
	}
	return f, nil
}

// leastNull keeps P₀ and a relative gap of 1e-15 of it among the normal numbers.
const leastNull = 0x1p-900

// View returns the view of the design matrix.
func (f *Squared) View() *sparse.View { return f.view }

// Target returns y. Read only.
func (f *Squared) Target() []float64 { return f.y }

// Null returns P₀ = ‖y − b₀‖ₛ²/2N, the objective of the null model: the scale
// of every relative duality gap.
func (f *Squared) Null() float64 { return f.null }

// Residual sets r = y − Xβ − b1 over all n rows, held-out ones included, for
// the coefficients b of the columns cols, and returns the intercept: the
// weighted mean of y − Xβ where the view is centred, else 0.
func (f *Squared) Residual(cols []int32, b, r []float64) (intercept float64) {
	intercept = f.residual(cols, b, r)
	if !f.view.Centred() {
		return 0
	}
	return uncentre(f.view, intercept, cols, b)
}

// residual is Residual, returning the intercept of the centred columns.
func (f *Squared) residual(cols []int32, b, r []float64) (intercept float64) {
	copy(r, f.y)
	for k := range b {
		b[k] = -b[k]
	}
	f.view.AddColumns(cols, b, r)
	for k := range b {
		b[k] = -b[k]
	}
	if !f.view.Centred() {
		return 0
	}
	// The mean is taken of what is left above one entry, so that a constant
	// target leaves residuals of exactly zero.
	base := r[f.first]
	for i := range r {
		r[i] -= base
	}
	mean := f.view.MeanOf(r)
	for i := range r {
		r[i] -= mean
	}
	return base + mean
}

// AlphaMax is [AlphaMax] of the datafit: maxⱼ |X_jᵀ(s⊙(y − b₀))|/N.
func (f *Squared) AlphaMax() float64 { return AlphaMax(f) }

// Smoothness returns 1.
func (f *Squared) Smoothness() float64 { return 1 }

// Fit implements [Datafit].
func (f *Squared) Fit(cols []int32, b []float64, s *State) {
	s.Intercept = f.residual(cols, b, s.Residual)
	f.view.Weigh(s.Residual, s.Weighted)
	s.square = f.view.Kernels().Dot(s.Residual, s.Weighted)
	s.Loss = s.square / (2 * f.view.Total())
	for i, r := range s.Residual {
		s.Prediction[i] = f.y[i] - r
	}
}

// Gap implements [Datafit].
func (f *Squared) Gap(d *Dual, s *State) float64 { return d.Gap(s.square) }

// uncentre returns the intercept b of the columns as they are, given that of the
// centred ones.
func uncentre(view *sparse.View, centred float64, cols []int32, b []float64) float64 {
	for k, j := range cols {
		centred = math.FMA(-b[k], view.Mean(int(j)), centred)
	}
	return centred
}
