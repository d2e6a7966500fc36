package search

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// TestTrustRegionFollowsValleys checks a valley whose walls meet in a corner: no slope leads along it, but the
// shortest mean of the slopes on both sides does. Where this mean vanishes, the search ends as a kink.
func TestTrustRegionFollowsValleys(t *testing.T) {
	for _, tilt := range []float64{0, 0.1, 0.5} {
		f := &analytic{f: func(x []float64) (float64, []float64) {
			wall, along := x[0]-tilt*x[1]+3, x[1]-1
			sign := math.Copysign(1, wall)
			return 1 + 0.3*math.Abs(wall) + 0.02*along*along, []float64{0.3 * sign, -0.3*tilt*sign + 0.04*along}
		}}
		r, err := TrustRegion(context.Background(), f, []float64{-2.2, -2}, cube(2, -12, 4), Options{Evaluations: 200})
		if err != nil {
			t.Fatal(err)
		}
		if r.Best.Value > 1+2e-3 || r.Status != outcome.Kink && r.Status != outcome.Stationary {
			t.Errorf("tilt %g: %s at %v, value %g, after %d", tilt, r.Status, r.Best.LogLambda, r.Best.Value, len(f.seen))
		}
	}
}
