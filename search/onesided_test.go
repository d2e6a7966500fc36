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
