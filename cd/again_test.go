package cd_test

import (
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestAPointSolvedAgainChangesNothing: what comes after it is solved, certified and cleared as if it had been solved once.
func TestAPointSolvedAgainChangesNothing(t *testing.T) {
	for seed := range uint64(6) {
		r := oracle.NewRandom(950 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: 60, Density: 1}).Classes(r)
		q.Intercept = seed%2 == 0
		top := q.LogisticAlphaMax()
		solveAt := func(s *cd.Solver, share float64) *cd.Solution {
			q.Uniform(share * top)
			return solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-6})
		}
		once, again := cd.New(fixture.Logistic(t, q, true)), cd.New(fixture.Logistic(t, q, true))
		solveAt(once, 0.5)
		solveAt(again, 0.5)
		solveAt(again, 0.5)
		for _, share := range []float64{0.49, 0.47} {
			a, b := *solveAt(once, share), solveAt(again, share)
			if once.Clearance() != again.Clearance() || a.Gap != b.Gap || a.Passes != b.Passes {
				t.Errorf("seed %d: clearance %g, gap %g after %d passes; solved once %g, %g and %d", seed, again.Clearance(), b.Gap, b.Passes, once.Clearance(), a.Gap, a.Passes)
			}
		}
	}
}
