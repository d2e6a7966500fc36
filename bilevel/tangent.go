package bilevel

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/outcome"
)

// tangent is the derivative of a solution in its one λ, a by-product of the hypergradient. The
// next solve begins at the last solution moved along it. Losses that are not quadratic gain
// most: samples that are easy to classify move by one unit of the linear predictor in a step.
//
// A solve that begins at a moved point needs a pass over X first, whereas one at the last solution does not.
// Where there are many rows for each column, so that a model of the loss costs less than a pass, the first step
// of the latter is as good.
type tangent struct {
	lambda float64   // λ of the solution
	coef   []float64 // ∂β/∂λ on the support; empty: not known
}

const (
	longestStep = 2  // the largest change of λ for which the tangent is followed
	tallRatio   = 12 // the number of rows for each column from which on a matrix has many rows
)

// follow moves the point at which the solver starts to the solution at λ, to first order, and
// forgets the tangent.
func (t *tangent) follow(solver *cd.Solver, lambda float64) {
	if step, ok := t.step([]float64{lambda}); ok {
		solver.Advance(step, t.coef)
	}
	t.forget()
}

// forget makes the next solve begin at the solution itself.
func (t *tangent) forget() { t.coef = t.coef[:0] }

// step returns the distance to λ, and whether the tangent is known and is to be followed that far.
func (t *tangent) step(logLambda []float64) (step float64, ok bool) {
	if len(t.coef) == 0 || len(logLambda) != 1 {
		return 0, false
	}
	step = logLambda[0] - t.lambda
	return step, step != 0 && math.Abs(step) <= longestStep
}

// update sets the tangent to the Jacobian of a hypergradient at λ, if its status allows.
func (t *tangent) update(lambda float64, g *implicit.Hypergradient) {
	if t.lambda, t.coef = lambda, t.coef[:0]; g.Status == outcome.Converged || g.Status == outcome.SupportUncertified {
		t.coef = append(t.coef, g.Jacobian...)
	}
}

func (t *tangent) clone() tangent { return tangent{t.lambda, slices.Clone(t.coef)} }
