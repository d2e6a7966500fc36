package cd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/subject"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Models of some of the rows change nothing of what a solve returns: it ends at the gap
// asked for, which is that of all rows, in a number of passes that is not much larger, and
// does the same to the bit after Reset.
func TestThinnedModelsEndWithTheSameCertificate(t *testing.T) {
	r := oracle.NewRandom(79)
	for _, c := range []struct {
		name                                     string
		dense, weights, intercept, positive, few bool
		ridge                                    float64
	}{
		{name: "sparse"},
		{name: "dense", dense: true, intercept: true},
		{name: "intercept, weights and held-out rows", weights: true, intercept: true},
		{name: "β ≥ 0 and a ridge", positive: true, ridge: 1e-3},
		{name: "columns with few entries", few: true, intercept: true},
	} {
		q := r.Problem(oracle.Shape{N: 6000, P: 12, Density: 0.4, Weights: c.weights}).Classes(r)
		q.Intercept, q.Positive = c.intercept, c.positive
		if c.few {
			for i := range q.X {
				for j := range 6 {
					if i%1500 != 200*j {
						q.X[i][j] = 0
					}
				}
			}
		}
		q.Uniform(0.001 * q.LogisticAlphaMax())
		q.Ridge = c.ridge
		g, fit := subject.Penalty(t, q), subject.Logistic(t, q, c.dense)
		for _, tol := range []float64{1e-6, 1e-12} {
			solver := cd.New(fit)
			sol := solve(t, solver, g, cd.Options{Tol: tol})
			if !cd.Thinned(solver) {
				t.Errorf("%s: all models are of all rows", c.name)
			}
			if sol.Status != outcome.Converged || sol.Passes > 20 {
				t.Errorf("%s, %g: %s at %.1e after %d passes", c.name, tol, sol.Status, sol.RelativeGap, sol.Passes)
			}
			beta := scatter(sol, 12)
			if gap := q.LogisticGap(beta, q.LogisticIntercept(beta)); math.Abs(gap-sol.Gap) > 1e-11 {
				t.Errorf("%s, %g: gap %.6g reported, %.6g recomputed", c.name, tol, sol.Gap, gap)
			}
			coef, gap := slices.Clone(sol.Coef), sol.Gap
			solver.Reset()
			if again := solve(t, solver, g, cd.Options{Tol: tol}); again.Gap != gap || !slices.Equal(again.Coef, coef) {
				t.Errorf("%s, %g: gap %g after Reset, %g before", c.name, tol, again.Gap, gap)
			}
		}
	}
}
