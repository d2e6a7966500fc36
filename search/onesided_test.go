package search

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Where the slope is concave the secants' roots fall short of the minimum, always on
// the same side of it: there is no bracket, and the search ends all the same, once a
// step promises nothing.
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

// Towards small λ a criterion's slope dies away like α itself, so that secants of it
// fall short by half again and again; steps in the right power of α do not.
func TestSecantOnDyingSlopes(t *testing.T) {
	for _, power := range []float64{0.5, 0.7, 1} {
		f := &analytic{f: func(x []float64) (float64, []float64) {
			// slope α^k·(λ + 10): the line is straight when divided by α^k
			scale := math.Exp(power * x[0])
			return 1 + scale*((x[0]+10)/power-1/(power*power)) + math.Exp(-10*power)/(power*power), []float64{scale * (x[0] + 10)}
		}}
		r, err := Secant(context.Background(), f, -2, cube(1, -20, 0), Options{Stop: 1e-12})
		if err != nil || r.Status != outcome.Stationary || math.Abs(r.Best.LogLambda[0]+10) > 0.01 || len(f.seen) > 13 {
			t.Errorf("power %g: %s at %v after %d: %v", power, r.Status, r.Best.LogLambda, len(f.seen), err)
		}
	}
}
