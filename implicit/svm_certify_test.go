package implicit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestCertifiedSamplesAreRight checks that sets certified from a rough point are always those of the exact
// solution, and that near the solution they are certified unless a sample is on the edge or the free samples are
// dependent.
func TestCertifiedSamplesAreRight(t *testing.T) {
	sharp, rough, wrong := 0, 0, 0
	all := oracle.Cases(60)
	for seed := range all {
		r := oracle.NewRandom(700 + seed)
		b := drawBox(r, 30+r.Intn(20), 10+r.Intn(40), r.Pick(0.3, 1), seed%2 == 0)
		fit, logC := b.fit(t, nil, seed%3 == 0), r.Pick(-5, -4, -3, -2)
		exact, err := cd.NewSVM(fit).Solve(t.Context(), logC, cd.Options{Tol: 1e-14, Polish: true})
		if err != nil {
			t.Fatal(err)
		}
		free, bound := slices.Clone(exact.Free), slices.Clone(exact.Bound)
		s := implicit.NewSVM(fit)
		certify := func(x *cd.SVMSolution, predictions []float64) implicit.Certificate {
			c, err := s.Certify(t.Context(), logC, implicit.SVMPoint{Free: x.Free, Dual: x.Dual, Bound: x.Bound, Predictions: predictions})
			if err != nil {
				t.Fatal(err)
			}
			if c.Support != (c.Undecided == 0) || c.Support && !c.Unique {
				t.Errorf("seed %d: %+v", seed, c)
			}
			return c
		}
		c := certify(exact, exact.Predictions)
		if math.Abs(c.Gap-exact.Gap) > 1e-12*fit.Null(math.Exp(logC)) {
			t.Errorf("seed %d: gap %g, the solver's %g", seed, c.Gap, exact.Gap)
		}
		if c.Support {
			sharp++
		} else if c.DualMargin > 1e-4 && !c.Dependent && len(free) < 10 {
			t.Errorf("seed %d: not certified at the solution: %+v", seed, c)
		}
		for _, tol := range []float64{1e-2, 1e-4, 1e-6, 1e-8} {
			x, err := cd.NewSVM(fit).Solve(t.Context(), logC, cd.Options{Tol: tol})
			if err != nil {
				t.Fatal(err)
			}
			same := slices.Equal(x.Free, free) && slices.Equal(x.Bound, bound)
			if !same {
				wrong++
			}
			if certify(x, nil).Support {
				rough++
				if !same {
					t.Errorf("seed %d, tolerance %g: certified other sets than those of the solution", seed, tol)
				}
			}
		}
	}
	t.Logf("certified at %d of %d solutions and %d rough points; %d of these had other sets", sharp, all, rough, wrong)
	if !oracle.Few() && (sharp < int(all)/2 || rough < int(all)/2 || wrong < 5) {
		t.Error("too few cases to tell")
	}
}
