package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Squared is the datafit f(β, b) = (1/2N)‖y − Xβ − b1‖ₛ² of a target on a view.
// If the view is centred there is an intercept b, which is eliminated: given β,
// the best b makes the weighted residuals sum to zero. A Squared is immutable
// and safe for any number of goroutines.
type Squared struct {
	view     *sparse.View
	y        []float64
	target   []float64 // y minus the offset; y itself without an offset
	firstRow int       // a row of positive weight
	null     float64   // P₀
}

// NewSquared checks the target: one finite entry per row of the view, held-out
// rows included. y is kept, not copied, and must not change. The error is an
// [outcome.Error]: Shape, or NonFinite with the row.
func NewSquared(view *sparse.View, y []float64) (*Squared, error) {
	return newSquared(view, y, nil)
}

func newSquared(view *sparse.View, y, offset []float64) (*Squared, error) {
	n, _ := view.Dims()
	if len(y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(y), n)
	}
	k := view.Kernels()
	if !(k.MaxAbs(y) <= math.MaxFloat64) {
		i := slices.IndexFunc(y, func(t float64) bool { return !(math.Abs(t) <= math.MaxFloat64) })
		return nil, &outcome.Error{Kind: outcome.NonFinite, HasRow: true, Row: i, Message: "the target is not finite"}
	}
	f := &Squared{view: view, y: y, target: y}
	if offset != nil {
		f.target = view.Floats(n)
		k.Copy(f.target, y)
		k.Axpy(-1, offset, f.target)
	}
	r := f.target // the residual of the null model
	var square float64
	if s := view.Weights(); s != nil || view.Centred() {
		f.firstRow = max(0, slices.IndexFunc(s, func(s float64) bool { return s > 0 }))
		r = view.Floats(n)
		defer view.Arena().Free(r)
		f.residual(nil, nil, r)
		square, _ = view.SizeOf(r)
	} else {
		square = k.Dot(r, r)
	}
	f.null = square / (2 * view.Total())
	switch {
	case !(f.null <= math.MaxFloat64): // NaN where residuals overflow
		return nil, outOfRange(view, outcome.NonFinite, "‖y‖² overflows")
	case f.null < leastNull && k.MaxAbs(r) > 0:
		return nil, outOfRange(view, outcome.BadParameter, "‖y‖² underflows")
	}
	return f, nil
}

// outOfRange returns the error for a null model whose loss is too large or too small. It blames the target, or a
// row whose weight is so large that the other rows do not count.
func outOfRange(view *sparse.View, kind outcome.Kind, what string) error {
	if w := view.Weights(); w != nil {
		if most := slices.Max(w); most > (1-0x1p-50)*view.Total() {
			return &outcome.Error{
				Kind: outcome.BadParameter, HasRow: true, Row: slices.Index(w, most),
				Message: fmt.Sprintf("%s: the weight of this row, %g, is too large beside the others", what, most),
			}
		}
	}
	return outcome.Errorf(kind, "%s: scale the target", what)
}

// leastNull keeps P₀ and a relative gap of 1e-15 of it among the normal numbers.
const leastNull = 0x1p-970

// View returns the view of the design matrix.
func (f *Squared) View() *sparse.View { return f.view }

// Target returns y. Read only.
func (f *Squared) Target() []float64 { return f.y }

// Null returns P₀ = ‖y − b₀‖ₛ²/2N, the objective of the null model: the scale
// of every relative duality gap.
func (f *Squared) Null() float64 { return f.null }

// residual sets r = y − X̃β − b1 over all n rows, held-out ones included, and returns
// the intercept b of the centred columns: the weighted mean of y − X̃β, or 0.
func (f *Squared) residual(cols []int32, b, r []float64) (intercept float64) {
	k := f.view.Kernels()
	k.Copy(r, f.target)
	origin := 0.0
	if f.view.Centred() { // subtract a constant first, so that the columns are subtracted only from the variation of y
		origin = f.target[f.firstRow]
		k.Subtract(origin, r)
	}
	negate(b)
	f.view.AddColumns(cols, b, r)
	negate(b)
	if !f.view.Centred() {
		return 0
	}
	// The mean is taken of the residuals minus one of them, so that residuals that are
	// all equal become exactly zero.
	base := r[f.firstRow]
	k.Subtract(base, r)
	mean := f.view.MeanOf(r)
	k.Subtract(mean, r)
	return origin + base + mean
}

func negate(b []float64) {
	for k := range b {
		b[k] = -b[k]
	}
}

// Smoothness returns 1.
func (f *Squared) Smoothness() (float64, bool) { return 1, true }

// Steepest returns 1.
func (f *Squared) Steepest(*State) float64 { return 1 }

// Fit implements [Datafit].
func (f *Squared) Fit(cols []int32, b []float64, s *State) {
	s.Intercept = f.residual(cols, b, s.Residual)
	f.view.Weigh(s.Residual, s.Weighted)
	k := f.view.Kernels()
	s.square = k.Dot(s.Residual, s.Weighted)
	s.Loss = s.square / (2 * f.view.Total())
	k.Copy(s.Prediction, f.y)
	k.Axpy(-1, s.Residual, s.Prediction)
}

// Gap implements [Datafit]: the scaled gap (1−c)²‖r̃‖²/2N + Σ(αⱼ|βⱼ| − c·aⱼβⱼ), the
// ridge counted as rows of data in r̃, or with a ridge the unscaled one where it is
// smaller. Neither dominates.
func (f *Squared) Gap(d *Dual, s *State) float64 {
	rest := 1 - d.Scale()
	return d.Gap(float64(rest*rest*s.square)/(2*d.Total), 0)
}
