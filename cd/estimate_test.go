package cd_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestEstimatesOfGapsAreMeasured checks how sweeps use the certified gap, if it is known. If their
// first estimate is a fifth of the certified gap, they continue to a fifth of the target. A certified
// gap that is not above the estimate leaves the target unchanged.
func TestEstimatesOfGapsAreMeasured(t *testing.T) {
	q := hardProblem(oracle.NewRandom(3), "text")
	fit := fixture.Squared(t, q, false)
	pen, err := model.Lasso(math.Log(0.05 * model.AlphaMax(fit)))
	if err != nil {
		t.Fatal(err)
	}
	s := cd.New(fit)
	if _, err := s.Solve(context.Background(), pen, cd.Options{Tol: 0.5}); err != nil {
		t.Fatal(err)
	}
	sweeps, first := cd.SweepsTo(s, math.Inf(1), 0)
	if sweeps != 1 {
		t.Fatalf("%d sweeps for any gap", sweeps)
	}
	for _, c := range []struct {
		outer  float64
		within float64 // of the first estimate
	}{{0, 1}, {0.5 * first, 1}, {first, 1}, {5 * first, 0.2}} {
		sweeps, gap := cd.SweepsTo(s, first, c.outer)
		if more := sweeps > 1; more != (c.within < 1) || gap > c.within*first {
			t.Errorf("outer gap %g: %d sweeps to %g, the first estimate is %g", c.outer, sweeps, gap, first)
		}
	}
}
