package search

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// TestSecantEndsFromOneSide checks a concave slope, for which the roots of the secants fall short of the minimum,
// always on the same side. No bracket is found, yet the search ends once the predicted gain of a step is
// negligible.
func TestSecantEndsFromOneSide(t *testing.T) {
	f := &analytic{f: func(x []float64) (float64, []float64) {
		shifted := x[0] + 5
		return shifted + math.Exp(-shifted), []float64{1 - math.Exp(-shifted)}
	}}
	r, err := Secant(context.Background(), f, -7, cube(1, -12, 0), Options{})
	if err != nil || r.Status != outcome.Stationary || r.Best.Value > 1+2e-6 || len(f.seen) > 9 {
		t.Errorf("%s at %v, value %.9g, after %d: %v", r.Status, r.Best.LogLambda, r.Best.Value, len(f.seen), err)
	}
	for _, e := range f.seen {
		if e.LogLambda[0] > -5 {
			t.Skipf("the search has crossed the minimum, at %v", e.LogLambda)
		}
	}
}

// TestSecantOnDyingSlopes checks criteria whose slope vanishes like a power of α itself as λ decreases. Roots of
// secants in λ fall short by half again and again; roots of secants in the right power of α do not.
func TestSecantOnDyingSlopes(t *testing.T) {
	for _, power := range []float64{0.5, 0.7, 1} {
		f := &analytic{f: func(x []float64) (float64, []float64) {
			// slope α^k·(λ + 10): a straight line once it is divided by α^k
			scale := math.Exp(power * x[0])
			return 1 + scale*((x[0]+10)/power-1/(power*power)) + math.Exp(-10*power)/(power*power), []float64{scale * (x[0] + 10)}
		}}
		r, err := Secant(context.Background(), f, -2, cube(1, -20, 0), Options{Stop: 1e-12})
		if err != nil || r.Status != outcome.Stationary || math.Abs(r.Best.LogLambda[0]+10) > 0.01 || len(f.seen) > 13 {
			t.Errorf("power %g: %s at %v after %d: %v", power, r.Status, r.Best.LogLambda, len(f.seen), err)
		}
	}
}
