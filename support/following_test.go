package support_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/support"
)

// TestSolveFollowing checks that the vector returned with a solution is the product of the
// columns with it, on systems with and without eliminated columns. There is no such vector if
// an iterate before the last one was better, which must occur.
func TestSolveFollowing(t *testing.T) {
	apart := 4
	if oracle.Fewest() {
		apart = 1
	}
	for _, exact := range []bool{false, true} {
		made, missing := 0, 0
		for seed := range oracle.Draws(4) {
			r := oracle.NewRandom(seed)
			const p = 450
			view := text(t, r, 600, p, seed%2 == 0)
			columns := support.NewColumns(view)
			var list []int32
			for j := range int32(p) {
				list = append(list, j)
			}
			columns.Hold(list)
			var a support.System
			a.Reset(columns, list, 1e-4)
			if exact {
				a.Factorise(support.NewGram(columns), 1e6, 1)
			}
			cg := support.CG{Kernels: view.Kernels()}
			b, x := make([]float64, p), make([]float64, p)
			for i := range b {
				b[i] = r.Normal()
			}
			for most := 1; most < 300; most += 1 + most/apart {
				x[0] = 1 // the solve starts from 0 whatever is there
				report, u := a.SolveFollowing(context.Background(), &cg, b, x, 1e-12, most)
				if a.Factorised() != exact || report.Null != nil {
					t.Fatalf("seed %d: factorised %v, null %v", seed, a.Factorised(), report.Null)
				}
				if u == nil {
					missing++
					continue
				}
				made++
				// √w·(X·x − 1·x̄ᵀx), row by row.
				want, scale, mean := make([]float64, len(u)), 0.0, 0.0
				for k, j := range list {
					mean += columns.Mean(j) * x[k]
					rows, values := columns.Column(j)
					for at, i := range rows {
						want[i] += values[at] * x[k]
					}
				}
				row := 0
				for _, w := range view.Weights() {
					if w == 0 {
						continue
					}
					want[row] -= math.Sqrt(w) * mean
					scale = max(scale, math.Abs(want[row]))
					row++
				}
				for i, v := range u { // up to the rounding of sums of 450 terms, with a margin
					if !(math.Abs(v-want[i]) <= 1e-9*(1+scale)) {
						t.Fatalf("exact %v, seed %d, %d iterations: row %d is %g, want %g", exact, seed, most, i, v, want[i])
					}
				}
			}
		}
		if made == 0 || missing == 0 {
			t.Errorf("exact %v: %d products, %d missing", exact, made, missing)
		}
	}
}
