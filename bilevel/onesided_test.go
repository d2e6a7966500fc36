package bilevel_test

import (
	"context"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestSearchesTakeTheSideThatFalls checks that at a knot a search gets the slope of the side on which the
// criterion decreases, and the slope 0 in a minimum that is a corner.
func TestSearchesTakeTheSideThatFalls(t *testing.T) {
	// Two orthogonal columns on four training rows, with correlations ¾ and ½, and their values on the single held-out
	// row, whose target determines on which side the criterion decreases.
	columns := []float64{1, -1, 0, 0, 1, 0, 0, 1, -1, 3}
	at := kernels.Log(0.5)
	for _, c := range []struct {
		target float64
		choose func(below, above []float64) []float64
	}{
		{4, func(below, _ []float64) []float64 { return below }},
		{-4, func(_, above []float64) []float64 { return above }},
		{0.5, func(_, _ []float64) []float64 { return []float64{0} }},
	} {
		y := []float64{1.5, -1.5, 1, -1, c.target}
		x, err := sparse.NewDense(5, 2, columns)
		if err != nil {
			t.Fatal(err)
		}
		folds := bilevel.Folds{bilevel.AlwaysTrain, bilevel.AlwaysTrain, bilevel.AlwaysTrain, bilevel.AlwaysTrain, 0}
		problem, err := bilevel.New(fixture.Kernels(t), x, y, bilevel.Spec{Folds: folds, Penalty: lasso, Solver: cd.Options{Tol: 1e-12}})
		if err != nil {
			t.Fatal(err)
		}
		r := search.Request{LogLambda: []float64{at}}
		report, err := problem.Evaluate(context.Background(), r)
		if err != nil || report.Status != outcome.NotDifferentiable {
			t.Fatalf("target %g: %v, %s", c.target, err, report.Status)
		}
		below, above, ok, err := bilevel.OneSided(context.Background(), problem, r.LogLambda)
		if err != nil || !ok {
			t.Fatalf("target %g: %v, %v", c.target, err, ok)
		}
		e, err := problem.Eval(context.Background(), r)
		if err != nil || !e.Trusted || !slices.Equal(e.Gradient, c.choose(below, above)) {
			t.Errorf("target %g: %v, gradient %v of %v and %v, trusted %v", c.target, err, e.Gradient, below, above, e.Trusted)
		}
	}
}
