package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// onColumn returns a problem with a column of ones and no intercept: three rows with the targets 0.5, 0.8 and 1.1,
// one with target 1.5 and a given weight w, and a held-out row whose prediction the criterion uses.
func onColumn(weight float64) *oracle.Problem {
	return &oracle.Problem{Alpha: []float64{1}, X: [][]float64{{1}, {1}, {1}, {1}, {1}}, Y: []float64{0.5, 0.8, 1.1, 1.5, 0}, Weights: []float64{1, 1, 1, weight, 0}}
}

// TestRowsWithinReachOfAJumpCount checks the Huber loss with δ = 1 by hand. With Nα = 1.05 + w the coefficient is
// 0.45, where the row of weight w has the residual 1.05 and hence no curvature, so ∂β/∂λ = −Nα/3. At 0.52 this row
// has curvature, which gives a different gradient; at 0.48 the solution may lie on either side of the jump.
// Gradients must be within their bounds or not trusted; they are trusted where the row is light or the point
// close.
func TestRowsWithinReachOfAJumpCount(t *testing.T) {
	part, err := model.NewPartition([]int{0})
	if err != nil {
		t.Fatal(err)
	}
	outer := implicit.Outer{Slope: []float64{0, 0, 0, 0, 1}, Curvature: make([]float64, 5)}
	for _, weight := range []float64{1, 0.1} {
		q := onColumn(weight)
		right, lambda := -(1.05+weight)/3, math.Log((1.05+weight)/(3+weight))
		fit, err := model.NewRowwise(fixture.View(t, q, true), q.Y, loss.Huber{Delta: 1})
		if err != nil {
			t.Fatal(err)
		}
		lasso, err := model.Lasso(lambda)
		if err != nil {
			t.Fatal(err)
		}
		group, err := model.GroupLasso([]float64{1}, lambda)
		if err != nil {
			t.Fatal(err)
		}
		scores := fixture.OneScore(t, fit)
		for _, coef := range []float64{0.45, 0.4501, 0.48, 0.52} {
			one, err := implicit.New(fit).Solve(t.Context(), lasso, implicit.Point{Support: []int32{0}, Coef: []float64{coef}, Clearance: math.Inf(1)}, outer, implicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			at := implicit.BlockPoint{Support: []int32{0}, Beta: []float64{coef}, Correlation: make([]float64, 1), Point: scores.NewPoint(), Margin: 1}
			scores.Fit(at.Support, at.Beta, at.Point)
			model.Correlate(scores.View(), nil, at.Point.Weighted, at.Correlation)
			many, err := implicit.NewBlocks(scores, part, support.NewBlockSystem(support.NewHessian(scores.View(), 1))).Solve(t.Context(), group, at, outer.Slope, outer.Curvature, implicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string]*implicit.Hypergradient{"lasso": one, "group": many} {
				off := math.Abs(got.Gradient[0] - right)
				if got.Status.OK() && !(off <= got.ErrorBound+1e-15) {
					t.Errorf("%s at %g, weight %g: %s, off by %g, bound %g", name, coef, weight, got.Status, off, got.ErrorBound)
				}
				if trusted := coef < 0.48 || name == "lasso" && weight < 1; got.Status.OK() != trusted || !trusted && got.Status != outcome.SupportUncertified {
					t.Errorf("%s at %g, weight %g: %s", name, coef, weight, got.Status)
				}
			}
		}
	}
}

// TestBlockBoundsKnowWhereTheCriterionBends checks the bound by hand: with α = 0.35 and the squared loss the
// coefficient is 0.45, and the derivative of the criterion ½(m − 0.44)₊² is −0.01·0.35. At 0.43 the computed
// derivative is 0, and its error is within the bound.
func TestBlockBoundsKnowWhereTheCriterionBends(t *testing.T) {
	part, err := model.NewPartition([]int{0})
	if err != nil {
		t.Fatal(err)
	}
	scores := fixture.OneScore(t, fixture.Squared(t, onColumn(0), true))
	g, err := model.GroupLasso([]float64{1}, math.Log(0.35))
	if err != nil {
		t.Fatal(err)
	}
	at := implicit.BlockPoint{Support: []int32{0}, Beta: []float64{0.43}, Correlation: make([]float64, 1), Point: scores.NewPoint(), Margin: 1}
	at.CurvatureWithin = func(reach float64) []float64 {
		if reach > 0.01 {
			return []float64{0, 0, 0, 0, 1}
		}
		return make([]float64, 5)
	}
	scores.Fit(at.Support, at.Beta, at.Point)
	model.Correlate(scores.View(), nil, at.Point.Weighted, at.Correlation)
	got, err := implicit.NewBlocks(scores, part, support.NewBlockSystem(support.NewHessian(scores.View(), 1))).Solve(t.Context(), g, at, make([]float64, 5), make([]float64, 5), implicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if off := math.Abs(got.Gradient[0] + 0.0035); got.Status != outcome.Converged || !(off <= got.ErrorBound) || got.ErrorBound > 100*off {
		t.Errorf("%s, gradient %g, want -0.0035 to %g", got.Status, got.Gradient[0], got.ErrorBound)
	}
}
