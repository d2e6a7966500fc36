package support_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/support"
)

// TestRowSystemSolves checks that the system of the rows gives the solution of the system
// of the columns, dense and sparse, weighted and centred, for strengths over eight
// decades.
func TestRowSystemSolves(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 3 + r.Intn(20), P: 30 + r.Intn(40), Density: r.Pick(0.2, 1), Mean: r.Pick(0, 2), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		_, p := q.Dims()
		var list []int32
		for j := range p {
			if q.Norm2(j) > 0 {
				list = append(list, int32(j))
			}
		}
		for _, dense := range []bool{true, false} {
			store := support.NewColumns(fixture.View(t, q, dense))
			store.Hold(list)
			rows := support.NewRowSystem(store, list)
			for _, alpha := range []float64{1e-4, 1, 1e4} {
				if !rows.Factorise(alpha) {
					t.Fatalf("seed %d, α %g: not factorised", seed, alpha)
				}
				b, x := make([]float64, len(list)), make([]float64, len(list))
				for k := range b {
					b[k] = r.Normal()
				}
				rows.Solve(b, x)
				q.Ridge = alpha
				var worst float64
				for k, row := range q.System(list) {
					var sum oracle.Sum
					sum.Add(-b[k])
					for l, v := range row {
						sum.AddProduct(v, x[l])
					}
					worst = math.Max(worst, math.Abs(sum.Value()))
				}
				if worst > 1e-12*(1+1e2/alpha) {
					t.Errorf("seed %d, dense %v, α %g: residual %g", seed, dense, alpha, worst)
				}
			}
		}
	}
}
