package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestTallDenseProblemsHaveTheGapReported recomputes gaps under a ridge and under an ℓ1 penalty, from cold starts and
// from another strength. Rows are sorted by a column, so that neighbours, which are drawn together, are alike.
func TestTallDenseProblemsHaveTheGapReported(t *testing.T) {
	const p = 4
	r := oracle.NewRandom(5)
	q := r.Problem(oracle.Shape{N: 12_000, P: p, Density: 1, Weights: true}).Classes(r)
	for i := range q.X { // rows in the order of the first column, and an outlier
		q.X[i][0] = math.Ldexp(float64(i)/float64(len(q.X))-0.5, 2)
	}
	q.X[77][1] = 300
	q.Intercept = true
	fit := fixture.Logistic(t, q, true)
	top := q.LogisticAlphaMax()
	for _, ridge := range []bool{false, true} {
		solver := cd.New(fit)
		for k, share := range []float64{0.03, 1e-3, 1e-5} {
			for _, tol := range []float64{1e-4, 1e-9} {
				q.Uniform(share * top)
				if q.Ridge = 0; ridge {
					q.Uniform(0)
					q.Ridge = share * top
				}
				g := fixture.Penalty(t, q)
				if k == 0 {
					solver.Reset()
				}
				sol := solve(t, solver, g, cd.Options{Tol: tol})
				if sol.Status != outcome.Converged || sol.Passes > 12 {
					t.Errorf("ridge %t, share %g: %s at %.1e after %d passes", ridge, share, sol.Status, sol.RelativeGap, sol.Passes)
				}
				beta := scatter(sol, p)
				if gap := q.LogisticGap(beta, q.LogisticIntercept(beta)); math.Abs(gap-sol.Gap) > 1e-11 {
					t.Errorf("ridge %t, share %g: gap %.6g reported, %.6g recomputed", ridge, share, sol.Gap, gap)
				}
			}
		}
	}
}
