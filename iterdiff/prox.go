package iterdiff

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// prox is prox_{γg} with its derivatives (table 3 of the paper, which has γ = 1: in general γα replaces α, in
// the value and in the derivatives; a box does not depend on γ).
type prox struct {
	penalty     model.Penalty
	svm         *model.SVM // nil where penalty applies
	c           float64    // C of the SVM
	unpenalised int32      // coordinate without penalty, or −1
}

// response is the value of the prox at a point, with its derivatives.
type response struct {
	b  float64    // β
	dz float64    // ∂β/∂z
	dl [2]float64 // ∂β/∂λ of the shared hyperparameters; of the column's own where each has one
}

// moves reports whether β responds to z or λ.
func (r *response) moves() bool { return r.dz != 0 || r.dl[0] != 0 }

// respond returns the response of coordinate j. Where β = 0 all derivatives are 0.
func (g *prox) respond(j int32, z, step float64) (r response) {
	switch {
	case j == g.unpenalised:
		r.b, r.dz = z, 1
	case g.svm != nil:
		bound := g.upperBound(j)
		r.b = model.Clip(z, bound)
		switch {
		case z > bound:
			r.dl[0] = bound
		case z > 0:
			r.dz = 1
		}
	default:
		threshold, ridge := float64(step*g.penalty.Alpha(int(j))), float64(step*g.penalty.Ridge())
		shrink := 1 + ridge
		r.b = model.SoftThreshold(z, threshold) / shrink
		if r.b == 0 || (r.b < 0 && g.penalty.Positive()) {
			r.b = 0
			return r
		}
		r.dz = 1 / shrink
		r.dl[0] = -math.Copysign(threshold, r.b) / shrink
		r.dl[1] = -ridge * r.b / shrink
		if g.penalty.OfRidge(0) {
			r.dl[0] = r.dl[1]
		}
	}
	return r
}

func (g *prox) upperBound(i int32) float64 { return g.c * g.svm.Weight(int(i)) }
