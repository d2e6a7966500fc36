package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestAPointSolvedAgainChangesNothing checks that a second solve at the same strength has no effect on later solves:
// their gaps, passes and clearances are those after a single one.
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

// TestACertificateIsOfItsPoint checks that a solver which is moved from a solution to β = 0 certifies β = 0, whatever
// the size of the support of that solution.
func TestACertificateIsOfItsPoint(t *testing.T) {
	sizes := map[int]bool{}
	for _, share := range []float64{0.95, 0.5, 0.2} {
		q := oracle.NewRandom(5).Problem(oracle.Shape{N: 30, P: 8, Density: 1})
		q.Intercept = true
		top := q.AlphaMax()
		for _, s := range []*cd.Solver{cd.New(fixture.Squared(t, q, true)), cd.NewFrom(model.NewNull(fixture.Squared(t, q, true)))} {
			sol := solve(t, s, fixture.Penalty(t, q.Uniform(share*top)), cd.Options{})
			sizes[len(sol.Support)] = true
			s.MoveTo(nil, nil)
			sol = solve(t, s, fixture.Penalty(t, q.Uniform(1.1*top)), cd.Options{})
			if len(sol.Support) > 0 || math.Abs(sol.Objective-q.Null()) > 1e-14*q.Null() || sol.Gap > 1e-14*q.Null() {
				t.Errorf("α/αmax = %g: objective %g with %v, gap %g, want %g", share, sol.Objective, sol.Coef, sol.Gap, q.Null())
			}
		}
	}
	if !sizes[1] || len(sizes) < 2 {
		t.Errorf("supports of %v columns", sizes)
	}
}
