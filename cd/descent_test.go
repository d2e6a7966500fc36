package cd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestDescentMakesFewPasses checks that most points of a descent take one pass over X, since a solve
// begins at the point that has just been certified.
func TestDescentMakesFewPasses(t *testing.T) {
	const below = 2.2 // αmax, in λ: 21 points and the last one
	solver, g := diabetesMCP(t)
	_, z := solver.Null()
	top := kernels.Log(fixture.Kernels(t).MaxAbs(z))
	d := cd.NewDescent(solver, g, top)
	s, err := d.Solve(t.Context(), top-below, cd.Options{Tol: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != outcome.Stationary || s.Passes > 40 {
		t.Errorf("%s after %d passes", s.Status, s.Passes)
	}
}

// TestDescentVisitsWhatMatters checks that skipping columns changes no bit of the result of a descent,
// whatever was solved before, also with weights, intercepts and short columns.
func TestDescentVisitsWhatMatters(t *testing.T) {
	const step, tol = 0.1, 1e-3 // of the path of a descent
	for seed := range oracle.Cases(12) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 200, Density: r.Pick(0.3, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		of := func(lambda float64) (model.Blocks, error) {
			g, err := model.NewSCAD(lambda, kernels.Log(3.7))
			return model.Elementwise{Of: g}, err
		}
		one, err := model.NewDatafit(fixture.View(t, q, seed%4 == 1).Standardised(), q.Y, loss.Squared{})
		if err != nil {
			t.Fatal(err)
		}
		fit := fixture.OneScore(t, one)
		all, some := cd.NewBlocks(fit, model.Singletons(200)), cd.NewBlocks(fit, model.Singletons(200))
		_, z := all.Null()
		top := kernels.Log(fit.View().Kernels().MaxAbs(z))
		solve := func(lambda, tol float64) *cd.BlockSolution {
			g, err := of(lambda)
			if err != nil {
				t.Fatal(err)
			}
			s, err := all.Solve(t.Context(), g, cd.Options{Tol: tol})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		d := cd.NewDescent(some, of, top)
		for _, below := range []float64{0.95, 2.25} {
			all.Start(nil, nil)
			for k := 1; float64(k)*step < below; k++ {
				solve(top-float64(float64(k)*step), tol)
			}
			want := solve(top-below, 1e-6)
			got, err := d.Solve(t.Context(), top-below, cd.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Support, want.Support) || !slices.Equal(got.Coef, want.Coef) || got.KKT != want.KKT || got.Margin != want.Margin {
				t.Errorf("seed %d, %g below: %d columns at %g, not %d at %g", seed, below, len(got.Support), got.KKT, len(want.Support), want.KKT)
			}
		}
	}
}

// diabetesMCP returns a solver on the diabetes data and an MCP for it at any λ.
func diabetesMCP(t *testing.T) (*cd.Blocks, func(lambda float64) (model.Blocks, error)) {
	t.Helper()
	x, y, err := embedded.Diabetes(t.Context(), sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(fixture.Kernels(t), x, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := model.NewDatafit(view.Standardised(), y, loss.Squared{})
	if err != nil {
		t.Fatal(err)
	}
	_, p := view.Dims()
	return cd.NewBlocks(fixture.OneScore(t, fit), model.Singletons(p)), func(lambda float64) (model.Blocks, error) {
		g, err := model.NewMCP(lambda, kernels.Log(3))
		return model.Elementwise{Of: g}, err
	}
}

// TestDescentAtAnyTolerance checks that, of several stationary points, a descent at a loose tolerance
// ends at the same one as a descent at a tight tolerance, whatever was solved before.
func TestDescentAtAnyTolerance(t *testing.T) {
	descent := func() (d *cd.Descent, top float64) {
		solver, g := diabetesMCP(t)
		_, z := solver.Null()
		top = kernels.Log(fixture.Kernels(t).MaxAbs(z))
		return cd.NewDescent(solver, g, top), top
	}
	tight, top := descent()
	loose, _ := descent()
	for _, below := range []float64{4.3, 0.5, 2.2, 1.1, 3.2} {
		want, err := tight.Solve(t.Context(), top-below, cd.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		got, err := loose.Solve(t.Context(), top-below, cd.Options{Tol: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		scale := fixture.Kernels(t).MaxAbs(want.Beta)
		for j, b := range want.Beta {
			if d := got.Beta[j] - b; math.Abs(d) > 1e-4*scale {
				t.Errorf("%g below αmax: coefficient %d is %g at a loose tolerance, %g at a tight one", below, j, got.Beta[j], b)
			}
		}
	}
}
