package bilevel

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/outcome"
)

// tangent is how a solution moves with its one λ, as its hypergradient has found it:
// where the next solve begins. A loss that is not quadratic gains most: samples that are
// easily told move by one unit of the linear predictor in a step.
//
// A solve has to pass over X there. At the last solution it need not, and where there are many rows for every
// column, so that a model of the loss costs less than a pass, its first step is as good.
type tangent struct {
	lambda float64
	coef   []float64 // ∂β/∂λ on the support; empty: not known
}

const (
	farthest = 2  // in λ, that a tangent is followed
	tallFor  = 12 // rows for every column
)

// follow moves the solution that a solver is to start from to where it is at λ, to first
// order, and forgets the tangent.
func (t *tangent) follow(solver *cd.Solver, lambda float64) {
	if step, ok := t.step([]float64{lambda}); ok {
		solver.Advance(step, t.coef)
	}
	t.forget()
}

// forget makes the next solve begin at the solution itself.
func (t *tangent) forget() { t.coef = t.coef[:0] }

// step returns how far it is to λ, and whether the tangent is worth following that far.
func (t *tangent) step(logLambda []float64) (step float64, ok bool) {
	if len(t.coef) == 0 || len(logLambda) != 1 {
		return 0, false
	}
	step = logLambda[0] - t.lambda
	return step, step != 0 && math.Abs(step) <= farthest
}

// note keeps the tangent at λ.
func (t *tangent) note(lambda float64, g *implicit.Hypergradient) {
	if t.lambda, t.coef = lambda, t.coef[:0]; g.Status == outcome.Converged || g.Status == outcome.SupportUncertified {
		t.coef = append(t.coef, g.Jacobian...)
	}
}

func (t *tangent) clone() tangent { return tangent{t.lambda, slices.Clone(t.coef)} }
