package support_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/support"
)

// TestNormalIsTheProductOfColumns checks products, linear combinations and the matrix
// itself against the columns listed, one list after another, sparse and dense, before and
// after many products.
func TestNormalIsTheProductOfColumns(t *testing.T) {
	for seed := range oracle.Cases(30) {
		r := oracle.NewRandom(4000 + seed)
		q := r.Problem(oracle.Shape{N: 1 + r.Intn(30), P: 1 + r.Intn(40), Density: r.Pick(0.1, 0.5, 1)})
		n, p := q.Dims()
		for _, dense := range []bool{false, true} {
			view := fixture.View(t, q, dense)
			a := support.Normal{Kernels: view.Kernels()}
			for range 3 {
				var list []int32
				for _, j := range view.Matrix().Order() {
					if r.Intn(2) == 0 {
						list = append(list, j)
					}
				}
				size := len(list)
				x := make([]float64, n*size) // column by column
				for k, j := range list {
					for i := range n {
						x[k*n+i] = q.X[i][j]
					}
				}
				near := func(what string, got float64, pairs ...float64) {
					t.Helper()
					var sum oracle.Sum
					scale := 0.0
					for k := 0; k < len(pairs); k += 2 {
						sum.AddProduct(pairs[k], pairs[k+1])
						scale += math.Abs(pairs[k] * pairs[k+1])
					}
					if math.Abs(got-sum.Value()) > 1e-13*scale {
						t.Errorf("seed %d, dense %v, %d of %d columns: %s is %g, want %g", seed, dense, size, p, what, got, sum.Value())
					}
				}
				v, out := make([]float64, size), make([]float64, size)
				for k := range v {
					v[k] = r.Normal()
				}
				w := make([]float64, n)
				for i := range w {
					w[i] = r.Normal()
				}
				a.Take(view.Matrix(), list)
				for range 2 { // with the columns as listed, and ranked
					sum := slices.Clone(w)
					a.Add(v, sum)
					for i, got := range sum {
						pairs := []float64{1, w[i]}
						for k := range v {
							pairs = append(pairs, x[k*n+i], v[k])
						}
						near("a combination", got, pairs...)
					}
					gram := make([]float64, size*size)
					a.Gram(gram)
					a.Apply(v, out)
					for k := range size {
						var pairs []float64
						for l := range size {
							var entry []float64
							for i := range n {
								entry = append(entry, x[k*n+i], x[l*n+i])
								pairs = append(pairs, x[k*n+i]*x[l*n+i], v[l])
							}
							if l <= k {
								near("an entry", gram[k*size+l], entry...)
							}
						}
						near("a product", out[k], pairs...)
					}
					for range 100 {
						a.Apply(v, out)
					}
				}
			}
		}
	}
}
