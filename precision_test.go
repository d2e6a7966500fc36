package pare_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestPrecisionGoesToTheDigitsOfTheTolerance checks that, with Precision, no point of a fine grid around the choice is
// better by more than a small multiple of the tolerance, even if the default tolerance of a search would allow it. The
// criterion has corners, in some problems at its minimum.
func TestPrecisionGoesToTheDigitsOfTheTolerance(t *testing.T) {
	const n, p, tol = 100, 8, 1e-9
	for seed := range oracle.Draws(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		values, y := make([]float64, n*p), make([]float64, n)
		for k := range values {
			values[k] = r.NormFloat64()
		}
		for i := range y {
			y[i] = 2*values[i] - values[n+i] + r.NormFloat64()
		}
		x, err := sparse.NewDense(n, p, values)
		if err != nil {
			t.Fatal(err)
		}
		v, c := pare.Validation{Split: pare.Blocks}, pare.Config{Tol: tol}
		s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: v, Precision: true}, c)
		if err != nil {
			t.Fatal(err)
		}
		var grid [][]float64
		for k := range 401 {
			grid = append(grid, []float64{s.LogLambda[0] + 0.005*(1-float64(k)/200)})
		}
		least := math.Inf(1)
		for e, err := range pare.Validate(t.Context(), x, y, grid, v, pare.Config{Tol: 1e-12}) {
			if err != nil {
				t.Fatal(err)
			}
			least = min(least, e.Value)
		}
		if over := s.Value/least - 1; over > 100*tol { // corners closer together than the last bracket hide some of the gain
			t.Errorf("seed %d: %s, above the grid by %.2g after %d evaluations", seed, s.Status, over, len(s.Evaluations))
		}
	}
}

// TestChoicesWhereNextToNoNoiseIsLeft checks choices with almost no noise, also where the standard error is a millionth
// of the null model's value: the criterion at the choice, recomputed to the last digits, is near the least of a fine
// grid and equals the reported value.
func TestChoicesWhereNextToNoNoiseIsLeft(t *testing.T) {
	const n, p = 600, 12
	for seed := range uint64(8) {
		for _, noise := range []float64{0.03, 0.003} {
			r := rand.New(rand.NewPCG(seed, 2))
			values, y := make([]float64, n*p), make([]float64, n)
			for i := range n {
				common := 0.7 * r.NormFloat64()
				for j := range p {
					values[j*n+i] = r.NormFloat64() + common
				}
				for j := range 6 {
					y[i] += values[j*n+i] * float64(j-2) / 3
				}
				y[i] += noise * r.NormFloat64()
			}
			x, err := sparse.NewDense(n, p, values)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []pare.Config{{}, {Model: pare.SparseGroup, Groups: []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}}} {
				s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, c)
				if err != nil {
					t.Fatal(err)
				}
				grid := [][]float64{s.LogLambda}
				for depth := 3.0; depth < 12; depth += 0.2 {
					grid = append(grid, []float64{s.LogLambdaMax[0] - depth})
				}
				c.Tol = 1e-12
				least, here := math.Inf(1), math.NaN()
				for e, err := range pare.Validate(t.Context(), x, y, grid, pare.Validation{}, c) {
					if err != nil {
						t.Fatal(err)
					}
					if math.IsNaN(here) {
						here = e.Value
					}
					least = min(least, e.Value)
				}
				if !(here-least <= 0.2*s.StandardError && math.Abs(s.Value-here) <= 0.2*s.StandardError) {
					t.Errorf("seed %d, noise %g, %s: %g at %g, told %g, least %g, standard error %g", seed, noise, s.Final.Model, here, s.LogLambda, s.Value, least, s.StandardError)
				}
			}
		}
	}
}
