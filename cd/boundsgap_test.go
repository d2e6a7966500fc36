package cd_test

import (
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestBoundsThatHoldNothingCostNothing checks that a solve within bounds that no coefficient meets takes about as
// many sweeps as one without bounds: the gap that ends the sweeps must be the same.
func TestBoundsThatHoldNothingCostNothing(t *testing.T) {
	sweeps := [2]int{}
	for seed := range uint64(12) {
		r := oracle.NewRandom(900 + seed)
		q := r.Problem(oracle.Shape{N: 420, P: 140, Density: 1, Correlation: 0.5, Weights: seed%3 == 0})
		q.Uniform(r.Pick(0.3, 0.03) * q.AlphaMax())
		if seed%4 > 1 {
			q.Ridge = r.Pick(0.05, 0.5)
		}
		g := fixture.Penalty(t, q)
		lower, upper := make([]float64, 140), make([]float64, 140)
		for j := range lower {
			lower[j], upper[j] = -1e3, 1e3
		}
		box, err := model.NewBox(lower, upper)
		if err != nil {
			t.Fatal(err)
		}
		within, err := g.Within(box)
		if err != nil {
			t.Fatal(err)
		}
		for _, tol := range []float64{1e-3, 1e-6, 1e-10} {
			free := *solve(t, cd.New(fixture.Squared(t, q, true)), g, cd.Options{Tol: tol})
			held := solve(t, cd.New(fixture.Squared(t, q, true)), within, cd.Options{Tol: tol})
			sweeps[0] += free.Epochs
			sweeps[1] += held.Epochs
		}
	}
	if sweeps[1]*5 > sweeps[0]*6 {
		t.Errorf("%d sweeps, without bounds %d", sweeps[1], sweeps[0])
	}
}
