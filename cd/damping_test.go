package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestDampingFindsItsSize checks columns that are nearly copies and rows of very different weights, far below αmax.
// Models without damping mislead every time, and with a 64th of the majorant full steps gain next to nothing. A
// damping in between avoids both.
func TestDampingFindsItsSize(t *testing.T) {
	const most = 10000 // sweeps, of up to 100,000 that are allowed
	for _, seed := range []uint64{66, 85, 208} {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 57, P: 24, Density: 1})
		q.Intercept, q.Weights = true, make([]float64, 57)
		for i, x := range q.X {
			q.Y[i], q.Weights[i] = math.Copysign(1, r.Normal()), math.Pow(10, -7*r.Float64())*float64(r.Intn(4))
			for j := 2; j < 24; j += 3 {
				x[j] = x[j-1] + math.Pow(10, -2-float64(j%5))*r.Normal()
			}
		}
		fit := fixture.Logistic(t, q, true)
		q.Uniform(1e-6 * model.NewNull(fit).AlphaMax())
		sol := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{})
		if sol.Status != outcome.Converged || sol.Epochs > most {
			t.Errorf("seed %d: %s after %d sweeps, a gap of %g", seed, sol.Status, sol.Epochs, sol.RelativeGap)
		}
	}
}
