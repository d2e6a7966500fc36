package implicit

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/support"
)

// TestLeverageIsTheLargestOfTheRows checks the leverage against its definition, max x̃ᵢᵀA⁻¹x̃ᵢ over the rows of
// positive weight plus the leverage of the intercept.
func TestLeverageIsTheLargestOfTheRows(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 15, P: 9, Density: r.Pick(0.4, 1), Mean: 1, Weights: seed%3 > 0}).Classes(r)
		q.Intercept, q.Ridge = seed%2 == 0, 0.1
		fit := fixture.Logistic(t, q, seed%4 < 2)
		s := New(fit)
		e := []int32{7, 0, 3, 4}
		curvature := q.Clone()
		curvature.Weights = make([]float64, len(q.Y))
		for i := range curvature.Weights {
			curvature.Weights[i] = q.Weight(i) * (0.01 + r.Float64())
		}
		share := curvature.Total() / q.Total() // the system divides by N, not by the sum of the curvature
		curvature.Ridge = q.Ridge / share
		system := curvature.System(e)
		want := 0.0
		for i, row := range q.X {
			if q.Weight(i) == 0 {
				continue
			}
			x := make([]float64, len(e))
			for k, j := range e {
				if x[k] = row[j]; q.Intercept {
					x[k] -= curvature.Mean(int(j))
				}
			}
			solution, _ := oracle.SolveDense(system, x)
			var sum oracle.Sum
			for k, v := range x {
				sum.AddProduct(v/share, solution[k])
			}
			want = math.Max(want, sum.Value())
		}
		if q.Intercept {
			want += 1 / share
		}
		columns := support.NewColumns(fit.View())
		columns.Reweigh(curvature.Weights)
		columns.Hold(e)
		gram := support.NewGram(columns)
		gram.Hold(e)
		l := make([]float64, len(e)*len(e))
		gram.Submatrix(e, q.Ridge, l)
		if rows := support.Cholesky(s.k, l, len(e)); rows < len(e) {
			t.Fatalf("seed %d: %d rows factorised", seed, rows)
		}
		if got := s.leverage(columns, e, l); math.Abs(got-want) > 1e-11*want {
			t.Errorf("seed %d: %.15g, want %.15g", seed, got, want)
		}
	}
}
