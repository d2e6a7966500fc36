package search

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// TestSlowBracketsAreHalved checks a bracket around a kink, of which interpolation of slopes moves only one end.
// The bracket is halved in this case; without that the search takes 70 to 120 evaluations.
func TestSlowBracketsAreHalved(t *testing.T) {
	const kink = 0.3
	for _, steep := range []float64{1, 4, 12, 20} {
		f := &analytic{f: func(x []float64) (float64, []float64) {
			if off := x[0] - kink; off > 0 {
				return 1 + steep*off, []float64{steep}
			}
			off := kink - x[0]
			return 1 + off*off + 0.01*off, []float64{-2*off - 0.01}
		}}
		r, err := Secant(context.Background(), f, -2, Box{Lower: []float64{-30}, Upper: []float64{30}}, Options{Tol: 1e-9, Stop: 1e-10, Evaluations: 200})
		if err != nil || r.Status != outcome.Kink || math.Abs(r.Best.LogLambda[0]-kink) > 1e-3 || len(f.seen) > 40 {
			t.Errorf("a slope of %g: %v, %s at %v after %d evaluations", steep, err, r.Status, r.Best.LogLambda, len(f.seen))
		}
	}
}
