// Package support is linear algebra on a support: the symmetric system that
// implicit differentiation and Newton steps solve on the s columns where the
// penalty is differentiable. No column of X is copied.
package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/sparse"
)

// System is the operator A = X̃_Sᵀdiag(d)X̃_S/N + α₂I on the columns S of a view
// (Bertrand et al., appendix A), for the curvature d of the loss. With an
// intercept the columns are centred on their d-weighted means, which eliminates
// its row. It implements [Operator]; it is not safe for concurrent use.
type System struct {
	view  *sparse.View
	ridge float64
	cols  []int32
	d     []float64 // nil: the row weights of the view
	means []float64 // of the columns S, d-weighted
	diag  []float64
	u     []float64
}

// Reset makes a the system of the columns cols of a view for the curvature d, one
// entry per row; nil means the view's row weights, as for the squared loss. The
// slices are kept, not copied.
func (a *System) Reset(view *sparse.View, cols []int32, ridge float64, d []float64) {
	n, _ := view.Dims()
	if len(a.u) != n {
		a.u = make([]float64, n)
	}
	a.view, a.cols, a.ridge, a.d = view, cols, ridge, d
	a.means, a.diag = a.means[:0], a.diag[:0]
	if d == nil {
		for _, j := range cols {
			norm := view.Norm(int(j))
			a.means = append(a.means, view.Mean(int(j)))
			a.diag = append(a.diag, float64(norm*norm)/view.Total()+ridge)
		}
		return
	}
	var total float64
	for _, w := range d {
		total += w
	}
	for _, j := range cols {
		rows, values := view.Matrix().Column(int(j))
		weight := func(k int) float64 {
			if rows != nil {
				k = int(rows[k])
			}
			return d[k]
		}
		var mean, square, seen float64
		if view.Centred() {
			mean = view.Dot(int(j), d) / total
		}
		for k, x := range values {
			w := weight(k)
			square = math.FMA(w*(x-mean), x-mean, square)
			seen += w
		}
		if rows != nil && mean != 0 {
			square = math.FMA(max(0, total-seen)*mean, mean, square)
		}
		a.means = append(a.means, mean)
		a.diag = append(a.diag, square/view.Total()+ridge)
	}
}

// Means returns the d-weighted means x̄_S of the columns; zeros without an
// intercept. Read only.
func (a *System) Means() []float64 { return a.means }

// Predict adds X̃_S·v to u over all n rows, held-out ones included.
func (a *System) Predict(v, u []float64) {
	// The view's own centring differs by a constant, which is put right here.
	a.view.AddColumns(a.cols, v, u)
	var shift float64
	for k, j := range a.cols {
		shift = math.FMA(v[k], a.means[k]-a.view.Mean(int(j)), shift)
	}
	if shift != 0 {
		for i := range u {
			u[i] -= shift
		}
	}
}

// Apply sets out = A·v: one pass over the columns of S to form u = X̃_S·v, one
// to project d⊙u back.
func (a *System) Apply(v, out []float64) {
	clear(a.u)
	a.Predict(v, a.u)
	if a.d == nil {
		a.view.Weigh(a.u, a.u)
	} else {
		for i, w := range a.d {
			a.u[i] *= w
		}
	}
	total := a.view.Total()
	for k, j := range a.cols {
		out[k] = math.FMA(a.ridge, v[k], a.view.Dot(int(j), a.u)/total)
	}
}

// Diagonal sets out to diag A.
func (a *System) Diagonal(out []float64) { copy(out, a.diag) }
