package implicit_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// TestErrorBoundOfFactorisedSystems checks a support too sparse for a Gram matrix, for whose longest columns
// products have been computed before: systems take fewer iterations, and the error bound covers the error left by
// a loose tolerance. It does so, too, if the motion of predictions is requested: these two systems are solved to
// half of the digits each, in fewer iterations than two systems solved to all digits.
func TestErrorBoundOfFactorisedSystems(t *testing.T) {
	const n, p = 1500, 1000
	for seed := range uint64(2) {
		r := oracle.NewRandom(seed)
		pointers, rows, values, y := []int64{0}, []int32(nil), []float64(nil), make([]float64, n)
		for j := range p {
			for i := range n {
				if r.Float64() < max(0.02, 0.5/(1+0.05*float64(j))) {
					rows, values = append(rows, int32(i)), append(values, 0.5+r.Float64())
				}
			}
			pointers = append(pointers, int64(len(rows)))
		}
		slope, weights := make([]float64, n), make([]float64, n)
		for i := range y {
			y[i], weights[i] = r.Normal(), 1
			if i%5 == 0 {
				weights[i], slope[i] = 0, r.Normal()
			}
		}
		x, err := sparse.NewCSC(n, p, pointers, rows, values)
		if err != nil {
			t.Fatal(err)
		}
		view, err := sparse.NewView(fixture.Kernels(t), x, weights, seed == 0)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := model.NewSquared(view, y)
		if err != nil {
			t.Fatal(err)
		}
		top := math.Log(model.AlphaMax(fit))
		g, err := model.ElasticNet(top-3, top-5)
		if err != nil {
			t.Fatal(err)
		}
		solution, err := cd.New(fit).Solve(context.Background(), g, cd.Options{Tol: 1e-12, Polish: true})
		if err != nil {
			t.Fatal(err)
		}
		at := implicit.Point{Support: solution.Support, Coef: solution.Coef, KKT: solution.KKT}
		outer := implicit.Outer{Slope: slope, Curvature: make([]float64, n)}
		solve := func(s *implicit.Solver, tol float64, motion ...[]float64) implicit.Hypergradient {
			h, err := s.Solve(context.Background(), g, at, outer, implicit.Options{Tol: tol, Motion: motion})
			if err != nil {
				t.Fatal(err)
			}
			out := *h
			out.Gradient = slices.Clone(h.Gradient)
			return out
		}
		cache := support.NewGram(support.NewColumns(view))
		cache.Columns().Hold(at.Support)
		cache.Hold(at.Support)
		sharing := implicit.NewSharing(fit, cache)
		truth := solve(implicit.New(fit), 1e-13)
		for _, tol := range []float64{1e-1, 1e-2, 1e-3, 1e-6} {
			diagonal, got := solve(implicit.New(fit), tol), solve(sharing, tol)
			if got.Iterations > diagonal.Iterations || tol >= 1e-2 && got.Iterations == diagonal.Iterations {
				t.Errorf("seed %d, tolerance %g, support %d: %d iterations, %d with the diagonal", seed, tol, len(at.Support), got.Iterations, diagonal.Iterations)
			}
			pair := solve(sharing, tol, make([]float64, n), make([]float64, n))
			if tol <= 1e-3 && pair.Iterations >= 2*got.Iterations {
				t.Errorf("seed %d, tolerance %g: %d iterations with motion, %d without", seed, tol, pair.Iterations, got.Iterations)
			}
			for _, h := range []implicit.Hypergradient{got, pair} {
				miss := 0.0
				for i, v := range h.Gradient {
					miss = max(miss, math.Abs(v-truth.Gradient[i])-float64(1e-12*math.Abs(v)))
				}
				if !(miss <= h.ErrorBound) || h.ErrorBound > 1e4*miss && miss > 1e-9 {
					t.Errorf("seed %d, tolerance %g: off by %.2e, bound %.2e", seed, tol, miss, h.ErrorBound)
				}
			}
		}
	}
}
