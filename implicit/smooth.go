package implicit

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// OfDatafit makes a [Smooth] for [Generic] of a datafit at a state, with the intercept, if there is one,
// eliminated. Columns are those of the view. It is valid at the coefficients of that state only.
func OfDatafit(fit model.Datafit, s *model.State) *Rows {
	view := fit.View()
	n, _ := view.Dims()
	r := &Rows{fit: fit, state: s, d: make([]float64, n), u: make([]float64, n), total: view.Total()}
	if curved, ok := fit.(model.Curved); ok {
		curved.Curvature(s, r.d)
		return r
	}
	for i := range r.d {
		r.d[i] = 1
	}
	view.Weigh(r.d, r.d)
	return r
}

// Rows is a datafit at a state, as [Generic] takes it.
type Rows struct {
	fit   model.Datafit
	state *model.State
	d, u  []float64 // n: the weighted curvature; scratch
	total float64
}

// Gradient implements [Smooth].
func (r *Rows) Gradient(_, out []float64) {
	r.columns(r.state.Weighted, -1/r.total, out)
}

// HessianProduct implements [Smooth].
func (r *Rows) HessianProduct(_, v, out []float64) {
	r.fit.View().Kernels().Clear(r.u)
	r.predict(v, r.u)
	for i, d := range r.d {
		r.u[i] *= d
	}
	r.columns(r.u, 1/r.total, out)
}

// Outer sets out to the derivative of a criterion in β, given its derivative in the predictions: the
// intercept moves with β.
func (r *Rows) Outer(slope, out []float64) {
	var sum, all float64
	for i, d := range r.d {
		sum += slope[i]
		all += d
	}
	r.fit.View().Kernels().Copy(r.u, slope)
	if r.fit.View().Centred() {
		for i, d := range r.d {
			r.u[i] -= float64(d / all * sum)
		}
	}
	r.columns(r.u, 1, out)
}

// columns sets out[j] = scale·X̃ⱼᵀu, X̃ the columns as they are in the view's matrix.
func (r *Rows) columns(u []float64, scale float64, out []float64) {
	view := r.fit.View()
	for j := range out {
		out[j] = scale * view.Dot(j, u)
	}
}

// predict adds to u the movement of the predictions, and of the intercept with them, for a movement v of β.
func (r *Rows) predict(v, u []float64) {
	view := r.fit.View()
	cols := make([]int32, 0, len(v))
	coef := make([]float64, 0, len(v))
	for j, b := range v {
		if b != 0 {
			cols, coef = append(cols, int32(j)), append(coef, b)
		}
	}
	view.AddColumns(cols, coef, u)
	if !view.Centred() {
		return
	}
	var sum, all float64
	for i, d := range r.d {
		sum = math.FMA(d, u[i], sum)
		all += d
	}
	for i := range u {
		u[i] -= sum / all
	}
}
