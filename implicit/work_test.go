package implicit_test

import (
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestWorkIsCounted checks that a hypergradient has the same work every time, no less work for more digits, and
// less if the solver has already packed the columns.
func TestWorkIsCounted(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q, best, rows := smooth(r)
		fit, g := fixture.Squared(t, q, seed%2 == 0), scalar(t, q)
		work := func(s *implicit.Solver, tol float64) float64 {
			return gradientAt(t, s, g, q, best.Beta, rows, implicit.Options{Tol: tol}).Work
		}
		s := implicit.New(fit)
		cold, warm := work(s, 1e-8), work(s, 1e-8)
		again, rough := work(implicit.New(fit), 1e-8), work(implicit.New(fit), 0.1)
		if columns, _ := best.Support(); len(columns) == 0 {
			continue
		}
		if !(cold > 0 && again == cold && warm <= cold && rough <= cold) {
			t.Errorf("seed %d: work %g, %g again, %g warm, %g to 0.1", seed, cold, again, warm, rough)
		}
	}
}
