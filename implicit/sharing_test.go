package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/support"
)

// TestSharedColumnsChangeNothingBeyondTheBound checks that gradients differ by no more than their bounds,
// whichever columns, and whichever part of their Gram matrix, a cache holds.
func TestSharedColumnsChangeNothingBeyondTheBound(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(8000 + seed)
		q, best, rows := smooth(r)
		fit, g := fixture.Squared(t, q, seed%2 == 0), scalar(t, q)
		options := implicit.Options{Tol: r.Pick(1e-3, 1e-8)}
		want := gradientAt(t, implicit.New(fit), g, q, best.Beta, rows, options)
		cold, bound := append([]float64(nil), want.Gradient...), want.ErrorBound

		cache := support.NewGram(support.NewColumns(fit.View()))
		var held, multiplied []int32
		for j := range best.Beta {
			if r.Float64() < 0.5 {
				held = append(held, int32(j))
				if r.Float64() < 0.5 {
					multiplied = append(multiplied, int32(j))
				}
			}
		}
		cache.Columns().Hold(held)
		cache.Hold(multiplied)
		got := gradientAt(t, implicit.NewSharing(fit, cache), g, q, best.Beta, rows, options)
		if got.Status != want.Status {
			t.Errorf("seed %d: %s, cold %s", seed, got.Status, want.Status)
		}
		for i, v := range got.Gradient {
			if !(math.Abs(v-cold[i]) <= got.ErrorBound+bound+1e-13*math.Abs(v)) {
				t.Errorf("seed %d: ∂%d = %.16g, cold %.16g, bounds %.2e and %.2e", seed, i, v, cold[i], got.ErrorBound, bound)
			}
		}
	}
}
