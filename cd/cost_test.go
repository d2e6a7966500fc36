package cd_test

import (
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestGramMatricesOfFewSweepsAreNotMade checks when the Gram matrix of the first set, 100 columns, is
// computed. Under a small ridge many sweeps follow, over which it pays for itself. Under a large ridge few
// sweeps follow, and the Gram matrix of the support suffices, for Newton steps.
func TestGramMatricesOfFewSweepsAreNotMade(t *testing.T) {
	oracle.Once(t)
	for _, seed := range []uint64{1, 2, 3} {
		for _, large := range []bool{false, true} {
			q := oracle.NewRandom(seed).Problem(oracle.Shape{N: 2000, P: 300, Density: 0.2, Mean: 1})
			q.Uniform(0.3 * q.AlphaMax())
			if q.Ridge = 1e-3 * q.AlphaMax(); large {
				q.Ridge = 1e3 * q.AlphaMax()
			}
			s := cd.New(fixture.Squared(t, q, false))
			sol := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-4})
			if size := s.Cache().Size(); large != (size < 100) {
				t.Errorf("seed %d, large ridge: %v: a Gram matrix of %d columns, for a support of %d", seed, large, size, len(sol.Support))
			}
		}
	}
}
