package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestSetsOfDearColumnsGrowLittle checks problems in which a column costs a row of the Gram matrix of many
// entries, and a pass over X costs only a few such rows. Rounds after the first must then add fewer than 100
// columns, the usual least growth of a set, and this may take two more passes.
func TestSetsOfDearColumnsGrowLittle(t *testing.T) {
	for _, seed := range []uint64{1, 3} {
		q := oracle.NewRandom(seed).Problem(oracle.Shape{N: 1500, P: 250, Density: 0.9, Mean: 1})
		q.Uniform(0.1 * q.AlphaMax())
		largest, sets := 0, 0
		s := cd.New(fixture.Squared(t, q, seed%2 == 0))
		sol := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-9, Watch: func(p cd.Progress) {
			if p.Stage == cd.Chosen && p.Support > 0 {
				largest, sets = max(largest, p.WorkingSet-p.Support), sets+1
			}
		}})
		if sets == 0 || largest >= 60 || sol.Passes > 6 {
			t.Errorf("seed %d: %d sets after the first, up to %d columns beyond the support, %d passes", seed, sets, largest, sol.Passes)
		}
	}
}

// TestFirstSetsHaveHalfOfTheViolators checks the size of the first set: half of the columns that violate
// optimality at β = 0 and ten more, but 100 if the tolerance is loose, and never more than 100.
func TestFirstSetsHaveHalfOfTheViolators(t *testing.T) {
	for _, share := range []float64{0.9, 0.6, 0.1} {
		q := oracle.NewRandom(5).Problem(oracle.Shape{N: 200, P: 500, Density: 0.3, Mean: 1})
		all := q.AlphaMax()
		q.Uniform(share * all)
		violators := 0
		for _, c := range q.Correlations(q.Y) {
			if math.Abs(c) > share*all {
				violators++
			}
		}
		for tol, want := range map[float64]int{1e-6: min(100, violators/2+10), 1e-3: 100} {
			first := 0
			solve(t, cd.New(fixture.Squared(t, q, false)), fixture.Penalty(t, q), cd.Options{Tol: tol, Watch: func(p cd.Progress) {
				if p.Stage == cd.Chosen && first == 0 {
					first = p.WorkingSet
				}
			}})
			if first != want {
				t.Errorf("%g of αmax, tolerance %g: %d columns in the first set, want %d of %d violators", share, tol, first, want, violators)
			}
		}
	}
}
