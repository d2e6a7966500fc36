package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestSolvesThatBeginAstray checks that a solve converges to the solution however far away it begins: if the
// certified point is no better than β = 0, the solve continues from β = 0.
func TestSolvesThatBeginAstray(t *testing.T) {
	for seed := range uint64(8) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 20, P: 4}).Classes(r)
		q.Intercept = seed%2 == 0
		g, fit := fixture.Penalty(t, q.Uniform(0.01)), fixture.Logistic(t, q, true)
		want, err := cd.New(fit).Solve(t.Context(), g, cd.Options{Tol: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		objective := want.Objective
		for _, size := range []float64{1, 1e10, 1e30, 1e200} {
			s := cd.New(fit)
			s.MoveTo([]int32{0, 1, 2, 3}, []float64{size, -size, size, size})
			got, err := s.Solve(t.Context(), g, cd.Options{Tol: 1e-9})
			if err != nil || got.Status != outcome.Converged || !(math.Abs(got.Objective-objective) <= 2e-9) {
				t.Errorf("seed %d, from %g: %v, %s at %g, want %g", seed, size, err, got.Status, got.Objective, objective)
			}
		}
	}
}

// TestGapsHoldAfterALongWay checks that the gap bounds the distance to the optimum wherever the solver has been
// before. Correlations at distant points are known only up to rounding errors of the size of that distance, so bounds
// derived from them must not be used.
func TestGapsHoldAfterALongWay(t *testing.T) {
	for seed := range uint64(8) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 20, P: 4, Active: 4})
		q.Intercept = seed%2 == 0
		g, fit := fixture.Penalty(t, q.Uniform(1e-6)), fixture.Squared(t, q, true)
		want, err := cd.New(fit).Solve(t.Context(), g, cd.Options{Tol: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		objective := want.Objective
		for _, size := range []float64{1, 1e10, 1e20, 1e25, 1e30} {
			s := cd.New(fit)
			s.MoveTo([]int32{0, 1, 2, 3}, []float64{size, -size, size, size})
			for range 3 {
				if _, err := s.Solve(t.Context(), g, cd.Options{Tol: 1e-9, MaxEpochs: 1}); err != nil {
					t.Fatal(err)
				}
				s.MoveTo(nil, nil)
				got, err := s.Solve(t.Context(), g, cd.Options{Tol: 0.999, MaxEpochs: 1})
				if err != nil || !(got.Gap >= got.Objective-objective-1e-9) {
					t.Errorf("seed %d, from %g: %v, %s at %g with a gap of %g, least %g", seed, size, err, got.Status, got.Objective, got.Gap, objective)
				}
			}
		}
	}
}
