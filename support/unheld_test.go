package support_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// TestBoundedStoresAreTheWholeOne checks that a store that may hold one byte or some of the
// columns gives the bits of one that holds all: columns, their Gram matrix over several blocks of
// rows, products with a system and its solution, for a fold, weights and curvatures.
func TestBoundedStoresAreTheWholeOne(t *testing.T) {
	const n, p = 9000, 450
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []int32
	var values []float64
	colPtr := []int64{0}
	for range p {
		for i := rng.IntN(300); i < n; i += 1 + rng.IntN(300) {
			rows, values = append(rows, int32(i)), append(values, rng.NormFloat64())
		}
		colPtr = append(colPtr, int64(len(rows)))
	}
	x, err := sparse.NewCSC(n, p, colPtr, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	fold, weights, curvature := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		fold[i], weights[i], curvature[i] = float64(min(1, i%5)), float64(i%4), rng.Float64()
	}
	list, v := make([]int32, p), make([]float64, p)
	for j := range list {
		list[j], v[j] = int32(j), rng.NormFloat64()
	}
	for name, w := range map[string][]float64{"none": nil, "fold": fold, "weights": weights} {
		view, err := sparse.NewView(fixture.Kernels(t), x, w, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, view := range []*sparse.View{view, view.Standardised()} {
			for _, curved := range []bool{false, true} {
				of := func(bytes int64) (all [][]float64, partial bool) {
					c := support.NewColumns(view)
					c.Bound(bytes)
					if curved {
						c.Reweigh(curvature)
					}
					gram := support.NewGram(c)
					c.Hold(list[:100])
					gram.Hold(list[:50])
					c.Hold(list)
					gram.Hold(list)
					for k, j := range list {
						_, column := c.Column(j)
						all = append(all, slices.Clone(column), slices.Clone(gram.Row(k)), []float64{c.Mean(j), c.Square(j), float64(c.Length(j))})
					}
					out, solution := make([]float64, p), make([]float64, p)
					var a support.System
					a.Reset(c, list, 0.01)
					a.Apply(v, out)
					a.Factorise(gram, 1e6, 1)
					if !a.Factorised() {
						t.Fatal("no column was eliminated: the systems are too small for this test")
					}
					a.Solve(context.Background(), &support.CG{Kernels: view.Kernels()}, v, solution, 1e-8, 300)
					return append(all, out, solution, c.Unweighted(list[:3])), c.Partial()
				}
				want, partial := of(1 << 40)
				if partial {
					t.Fatal("a store with room for all columns does not hold them")
				}
				for _, bytes := range []int64{1, 90_000} {
					got, partial := of(bytes)
					if name == "none" && !curved && !view.Scaled() {
						continue // the store uses X itself
					}
					if !partial || !reflect.DeepEqual(got, want) {
						t.Errorf("weights %s, scaled %v, curved %v, %d bytes: not the bits of all columns held, or they are (%v)", name, view.Scaled(), curved, bytes, !partial)
					}
				}
			}
		}
	}
}
