package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestRoughSlopesAreTheGradient: to the tolerance of their system, with a factor and without, of
// one λ or two, for each of which there is a system or for both, or one for each column, with copies of columns; and
// they claim nothing.
func TestRoughSlopesAreTheGradient(t *testing.T) {
	copies := 0
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(18000 + seed)
		q, best, rows := smooth(r)
		if cols, _ := best.Support(); seed%3 == 0 && q.Ridge == 0 && len(cols) > 0 { // another column becomes a copy that shares
			for j := range best.Beta {
				if k := int(cols[0]); best.Beta[j] == 0 && j != k {
					for i := range q.X {
						q.X[i][j] = q.X[i][k]
					}
					best.Beta[j], best.Beta[k] = 0.5*best.Beta[k], 0.5*best.Beta[k]
					copies++
					break
				}
			}
		}
		fit, g := fixture.Squared(t, q, seed%2 == 0), scalar(t, q)
		if seed%5 == 0 && q.Ridge == 0 {
			g = weighted(t, q)
		}
		solver := implicit.New
		if seed/2%2 == 0 {
			solver = implicit.NewIterative
		}
		o := implicit.Options{Tol: 1e-11}
		full := gradientAt(t, solver(fit), g, q, best.Beta, rows, o)
		o.Rough = true
		if q.Ridge > 0 && seed%7 > 2 {
			o.Motion = [][]float64{make([]float64, len(q.Y)), make([]float64, len(q.Y))}
		}
		got := gradientAt(t, solver(fit), g, q, best.Beta, rows, o)
		if full.Status == outcome.Flat {
			if got.Status != outcome.Flat {
				t.Errorf("seed %d: %s, in full flat", seed, got.Status)
			}
			continue
		}
		if got.Status != outcome.SupportUncertified || got.Bound != implicit.Estimated || !math.IsInf(got.ErrorBound, 1) || got.InjectivityMargin != 0 {
			t.Errorf("seed %d: %s, a bound of %g, %s", seed, got.Status, got.ErrorBound, got.Bound)
		}
		if len(got.Gradient) != len(full.Gradient) {
			t.Fatalf("seed %d: %d slopes, in full %d", seed, len(got.Gradient), len(full.Gradient))
		}
		var size float64
		for _, v := range full.Gradient {
			size = max(size, math.Abs(v))
		}
		for i, v := range full.Gradient {
			if !(math.Abs(got.Gradient[i]-v) <= full.ErrorBound+1e-8*size) {
				t.Errorf("seed %d: ∂%d = %.16g, in full %.16g within %.2e", seed, i, got.Gradient[i], v, full.ErrorBound)
			}
		}
	}
	if copies == 0 {
		t.Error("no problem had copies")
	}
}
