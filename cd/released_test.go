package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestCertifiedPointsAreEliminated: however loose the tolerance, what is certified has the unpenalised coefficients that
// the others call for, under a loss that is not quadratic, too: the residual is orthogonal to their columns.
func TestCertifiedPointsAreEliminated(t *testing.T) {
	for seed := range uint64(10) {
		r := oracle.NewRandom(800 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: 8, Mean: 1}).Classes(r)
		q.Intercept = seed%2 == 0
		q.Uniform(0.1 * q.LogisticAlphaMax())
		q.Alpha[1], q.Alpha[4] = 0, 0
		view := fixture.View(t, q, seed%3 == 0)
		fit, err := model.NewLogistic(view, q.Y)
		if err != nil {
			t.Fatal(err)
		}
		for _, tol := range []float64{0.3, 1e-2} {
			sol := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{Tol: tol})
			s := model.NewState(fit)
			fit.Fit(sol.Support, sol.Coef, s)
			for _, j := range []int{1, 4} {
				if c := view.Dot(j, s.Weighted) / view.Norm(j); math.Abs(c) > 1e-11 || sol.Status != outcome.Converged {
					t.Errorf("seed %d, tolerance %g, column %d: %s, the residual's correlation is %g", seed, tol, j, sol.Status, c)
				}
			}
		}
	}
}
