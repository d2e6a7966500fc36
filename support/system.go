// Package support is linear algebra on a support: the symmetric system that
// implicit differentiation and Newton steps solve on the s columns where the
// penalty is differentiable. No column of X is copied.
package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/sparse"
)

// System is the operator A = X̃_Sᵀdiag(s)X̃_S/N + α₂I on the columns S of a view
// (Bertrand et al., appendix A; with an intercept the columns are centred,
// which eliminates its row). It implements [Operator]; it is not safe for
// concurrent use.
type System struct {
	view  *sparse.View
	ridge float64
	cols  []int32
	u     []float64
}

// Reset makes a the system of the columns cols (kept, not copied) of a view.
func (a *System) Reset(view *sparse.View, cols []int32, ridge float64) {
	n, _ := view.Dims()
	if len(a.u) != n {
		a.u = make([]float64, n)
	}
	a.view, a.cols, a.ridge = view, cols, ridge
}

// Apply sets out = A·v: one pass over the columns of S to form u = X̃_S·v, one
// to project s⊙u back.
func (a *System) Apply(v, out []float64) {
	clear(a.u)
	a.view.AddColumns(a.cols, v, a.u)
	a.view.Weigh(a.u, a.u)
	total := a.view.Total()
	for k, j := range a.cols {
		out[k] = math.FMA(a.ridge, v[k], a.view.Dot(int(j), a.u)/total)
	}
}

// Diagonal sets out to diag A = ‖X̃_j‖ₛ²/N + α₂.
func (a *System) Diagonal(out []float64) {
	total := a.view.Total()
	for k, j := range a.cols {
		norm := a.view.Norm(int(j))
		out[k] = float64(norm*norm)/total + a.ridge
	}
}
