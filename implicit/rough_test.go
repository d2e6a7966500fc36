package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestRoughSlopesAreTheGradient checks that rough slopes agree with the gradient to the tolerance of their system,
// and certify nothing. It covers systems with and without a factor, one λ, two λ's with one system for both or one
// for each, one λ per column, and copies of columns.
func TestRoughSlopesAreTheGradient(t *testing.T) {
	copies := 0
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(18000 + seed)
		q, best, rows := smooth(r)
		if cols, _ := best.Support(); seed%3 == 0 && q.Ridge == 0 && len(cols) > 0 { // another column becomes a copy that shares the coefficient
			for j := range best.Beta {
				if k := int(cols[0]); best.Beta[j] == 0 && j != k {
					for i := range q.X {
						q.X[i][j] = q.X[i][k]
					}
					best.Beta[j], best.Beta[k] = 0.5*best.Beta[k], 0.5*best.Beta[k]
					copies++
					break
				}
			}
		}
		fit, g := fixture.Squared(t, q, seed%2 == 0), scalar(t, q)
		if seed%5 == 0 && q.Ridge == 0 {
			g = weighted(t, q)
		}
		solver := implicit.New
		if seed/2%2 == 0 {
			solver = implicit.NewIterative
		}
		o := implicit.Options{Tol: 1e-11}
		full := gradientAt(t, solver(fit), g, q, best.Beta, rows, o)
		o.Rough = true
		if q.Ridge > 0 && seed%7 > 2 {
			o.Motion = [][]float64{make([]float64, len(q.Y)), make([]float64, len(q.Y))}
		}
		got := gradientAt(t, solver(fit), g, q, best.Beta, rows, o)
		if full.Status == outcome.Flat {
			if got.Status != outcome.Flat {
				t.Errorf("seed %d: %s, in full flat", seed, got.Status)
			}
			continue
		}
		if got.Status != outcome.SupportUncertified || got.Bound != implicit.Estimated || !math.IsInf(got.ErrorBound, 1) || got.InjectivityMargin != 0 {
			t.Errorf("seed %d: %s, a bound of %g, %s", seed, got.Status, got.ErrorBound, got.Bound)
		}
		if len(got.Gradient) != len(full.Gradient) {
			t.Fatalf("seed %d: %d slopes, in full %d", seed, len(got.Gradient), len(full.Gradient))
		}
		var size float64
		for _, v := range full.Gradient {
			size = max(size, math.Abs(v))
		}
		for i, v := range full.Gradient {
			if !(math.Abs(got.Gradient[i]-v) <= full.ErrorBound+1e-8*size) {
				t.Errorf("seed %d: ∂%d = %.16g, in full %.16g within %.2e", seed, i, got.Gradient[i], v, full.ErrorBound)
			}
		}
	}
	if copies == 0 {
		t.Error("no problem had copies")
	}
}

// TestRoughSlopesOfBlocks checks the same for groups and for a softmax, with and without intercepts, dense and
// sparse; the system of a penalty that is not convex is factorised as for the full gradient.
func TestRoughSlopesOfBlocks(t *testing.T) {
	const p, scores = 8, 3
	pairs, err := model.NewPartition([]int{0, 0, 1, 1, 2, 2, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range oracle.Cases(24) {
		r := oracle.NewRandom(18500 + seed)
		q := r.Problem(oracle.Shape{N: 60, P: p, Density: r.Pick(0.5, 1)})
		q.Intercept = seed%2 == 0
		rows := holdOut(r, q)
		view := fixture.View(t, q, seed/2%2 == 0)
		var fit model.Scores
		if seed%4 > 1 {
			class := make([]int32, len(q.Y))
			for i, y := range q.Y {
				class[i] = int32(i % 2)
				if y > 0 {
					class[i] = 2
				}
			}
			if fit, err = model.NewSoftmax(view, class, []float64{1, 2, 3}); err != nil {
				t.Fatal(err)
			}
		} else {
			fit = fixture.OneScore(t, fixture.Squared(t, q, seed/2%2 == 0))
		}
		part := pairs
		if seed%3 == 0 || fit.Count() > 1 {
			part = model.Singletons(p)
		}
		_, z := cd.NewBlocks(fit, part).Null()
		top := math.Log(view.Kernels().MaxAbs(z))
		g := blocksOf(t, fit.Count(), int(seed), top)
		solver := cd.NewBlocks(fit, part)
		sol, err := solver.Solve(t.Context(), g, cd.Options{Tol: 1e-13})
		if err != nil {
			t.Fatal(err)
		}
		at := implicit.BlockPoint{Support: sol.Support, Beta: sol.Beta, Correlation: solver.Correlation(), Point: sol.Point, KKT: sol.KKT, Margin: sol.Margin}
		slope, curvature := make([]float64, len(q.Y)*fit.Count()), make([]float64, len(q.Y)*fit.Count())
		for _, i := range rows {
			for k := range fit.Count() {
				slope[i*fit.Count()+k] = r.Normal()
			}
		}
		slopes := func(o implicit.Options) implicit.Hypergradient {
			h, err := implicit.NewBlocks(fit, part, solver.System()).Solve(t.Context(), g, at, slope, curvature, o)
			if err != nil {
				t.Fatal(err)
			}
			return *h
		}
		full := slopes(implicit.Options{})
		at.Margin = 0 // an entry about to leave 0 makes no difference
		got := slopes(implicit.Options{Rough: true, Tol: 1e-11})
		if full.Status == outcome.Flat {
			if got.Status != outcome.Flat {
				t.Errorf("seed %d: %s, in full flat", seed, got.Status)
			}
			continue
		}
		if got.Status != outcome.SupportUncertified || !math.IsInf(got.ErrorBound, 1) || got.InjectivityMargin != 0 {
			t.Errorf("seed %d: %s, a bound of %g; in full %s", seed, got.Status, got.ErrorBound, full.Status)
		}
		for i, v := range full.Gradient {
			if !(math.Abs(got.Gradient[i]-v) <= 1e-8*(1+math.Abs(v))) {
				t.Errorf("seed %d: ∂%d = %.16g, in full %.16g", seed, i, got.Gradient[i], v)
			}
		}
	}
}

// blocksOf returns a random penalty for the given number of scores.
func blocksOf(t *testing.T, scores, seed int, top float64) (g model.Blocks) {
	var err error
	switch {
	case scores > 1 && seed%3 == 0:
		g, err = model.ScoresLasso(scores, []float64{top - 2})
	case scores > 1 && seed%3 == 1:
		g, err = model.ScoresNet(scores, top-2, top-3)
	case scores > 1:
		g, err = model.ScoresGroup(scores, top-1)
	case seed%3 == 0:
		var mcp model.MCP
		mcp, err = model.NewMCP(top-1.5, math.Log(6))
		g = model.Elementwise{Of: mcp}
	default:
		g, err = model.GroupNet(nil, top-1, top-2)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}
