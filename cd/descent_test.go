package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestDescentMakesFewPasses: where a path from above begins at the point that it has just certified,
// most of its points take one pass over X.
func TestDescentMakesFewPasses(t *testing.T) {
	const below = 2.2 // in λ, 21 points and the last
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
	return cd.NewBlocks(model.OneScore(fit), model.Singletons(p)), func(lambda float64) (model.Blocks, error) {
		g, err := model.NewMCP(lambda, kernels.Log(3))
		return model.Elementwise{Of: g}, err
	}
}

// TestDescentAtAnyTolerance: of several stationary points, a loose tolerance and a tight one end at
// the same, whatever was solved before.
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
