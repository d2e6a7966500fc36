package implicit_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// heldOut returns the embedded data with every third row held out, standardised on the other rows.
func heldOut(t *testing.T, l loss.Loss) (fit model.Datafit, y []float64, rows []int32) {
	t.Helper()
	x, y, err := embedded.Diabetes(t.Context(), sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if (l == loss.Loss(loss.Logistic{})) {
		for i := range y {
			y[i] = math.Copysign(1, y[i]-140)
		}
	}
	weights := make([]float64, len(y))
	for i := range weights {
		if i%3 == 2 {
			rows = append(rows, int32(i))
		} else {
			weights[i] = 1
		}
	}
	view, err := sparse.NewView(fixture.Kernels(t), x, weights, true)
	if err != nil {
		t.Fatal(err)
	}
	if fit, err = model.NewDatafit(view.Standardised(), y, l); err != nil {
		t.Fatal(err)
	}
	return fit, y, rows
}

// solveMCP solves from β = 0, or from a given point.
func solveMCP(t *testing.T, fit model.Datafit, from *cd.BlockSolution, logAlpha, logGamma float64) (*cd.BlockSolution, model.MCP) {
	t.Helper()
	g, err := model.NewMCP(logAlpha, logGamma)
	if err != nil {
		t.Fatal(err)
	}
	_, p := fit.View().Dims()
	solver := cd.NewBlocks(fixture.OneScore(t, fit), model.Singletons(p))
	if from != nil {
		solver.Start(from.Support, from.Coef)
	}
	s, err := solver.Solve(context.Background(), model.Elementwise{Of: g}, cd.Options{Tol: 1e-13})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != outcome.Stationary {
		t.Fatalf("%s, violation %g", s.Status, s.KKT)
	}
	return s, g
}

// TestMCPAgainstAnIndependentComputation checks the solution, the value and the derivatives in ln α and ln γ on
// the embedded data against reference values computed with NumPy.
func TestMCPAgainstAnIndependentComputation(t *testing.T) {
	fit, y, rows := heldOut(t, loss.Squared{})
	// Which of several stationary points is reached depends on the path: down from αmax, each from the last.
	top := kernels.Log(1.2 * model.AlphaMax(fit))
	var s *cd.BlockSolution
	var g model.MCP
	const steps = 60
	for k := range steps + 1 {
		s, g = solveMCP(t, fit, s, top+(1.507627311045009-top)*float64(k)/steps, math.Log(3))
	}
	want := map[int]float64{1: -12.448328759624959, 2: 25.557222885264466, 3: 16.56526383227982, 4: -1.0829387472764116, 6: -12.900885706111048, 8: 22.349631688537315}
	for j, b := range s.Beta {
		if math.Abs(b-want[j]) > 1e-9*25 {
			t.Errorf("β%d = %.12g, want %.12g", j, b, want[j])
		}
	}
	if math.Abs(s.Objective/1605.9731106716408-1) > 1e-12 {
		t.Errorf("objective %.15g", s.Objective)
	}
	value, h := gradientMCP(t, fit, s, g, y, rows, criterion.MeanSquaredError{})
	if math.Abs(value/2943.4164932325584-1) > 1e-10 {
		t.Errorf("value %.15g", value)
	}
	if h.Status != outcome.Converged || math.Abs(h.Gradient[0]+173.85914893818102) > 1e-8*296 || math.Abs(h.Gradient[1]+295.61797208322423) > 1e-8*296 {
		t.Errorf("%s, gradient %.12g", h.Status, h.Gradient)
	}
}

func gradientMCP(t *testing.T, fit model.Datafit, s *cd.BlockSolution, g model.MCP, y []float64, rows []int32, c criterion.Criterion) (float64, *implicit.Hypergradient) {
	t.Helper()
	slope, curvature, outer := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(s.Beta))
	state := model.NewState(fit)
	fit.Fit(s.Support, s.Coef, state)
	value := c.Eval(rows, y, state.Prediction, slope, curvature)
	f := implicit.OfDatafit(fit, state)
	f.Outer(slope, outer)
	h, err := implicit.Generic(context.Background(), fixture.Kernels(t), f, g, s.Beta, outer, 0.09, implicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return value, h
}

// TestMCPOfAClassifier checks that under the logistic loss derivatives agree with differences along the branch of
// solutions.
func TestMCPOfAClassifier(t *testing.T) {
	fit, y, rows := heldOut(t, loss.Logistic{})
	const h = 1e-4
	lambda := [2]float64{math.Log(0.03), math.Log(30)}
	here, g := solveMCP(t, fit, nil, lambda[0], lambda[1])
	judge := criterion.Of(loss.Logistic{})
	_, got := gradientMCP(t, fit, here, g, y, rows, judge)
	for i := range lambda {
		at := func(step float64) float64 {
			moved := lambda
			moved[i] += step
			s, _ := solveMCP(t, fit, here, moved[0], moved[1])
			state := model.NewState(fit)
			fit.Fit(s.Support, s.Coef, state)
			return judge.Eval(rows, y, state.Prediction, nil, nil)
		}
		if want := (at(h) - at(-h)) / (2 * h); math.Abs(got.Gradient[i]-want) > 1e-6*(math.Abs(want)+1e-3) {
			t.Errorf("∂/∂λ%d = %.9g, differences %.9g", i+1, got.Gradient[i], want)
		}
	}
}

// TestMCPWhereItIsNoMinimum checks that at a stationary point whose reduced Hessian is not positive definite there
// is no gradient, and the status says so. An example is two equal columns that share a coefficient: moving it from
// one to the other decreases a concave penalty.
func TestMCPWhereItIsNoMinimum(t *testing.T) {
	values := []float64{1, -1, 1, -1, 1, -1, 1, -1}
	x, err := sparse.NewDense(4, 2, values)
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(fixture.Kernels(t), x, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := model.NewSquared(view, []float64{1, -1, 1, -1})
	if err != nil {
		t.Fatal(err)
	}
	g, err := model.NewMCP(math.Log(0.5), math.Log(3))
	if err != nil {
		t.Fatal(err)
	}
	// 1 − 2b = 0.5 − b/3 for both columns.
	b := 0.5 / (2 - 1./3)
	state := model.NewState(fit)
	fit.Fit([]int32{0, 1}, []float64{b, b}, state)
	for j := range 2 {
		if lack := view.Dot(j, state.Weighted)/4 - g.Slope(j, b); math.Abs(lack) > 1e-15 {
			t.Fatalf("β%d lacks %g", j, lack)
		}
	}
	h, err := implicit.Generic(context.Background(), fixture.Kernels(t), implicit.OfDatafit(fit, state), g, []float64{b, b}, []float64{1, 0}, 0.4, implicit.Options{})
	if err != nil || h.Status != outcome.NotDifferentiable {
		t.Errorf("%v, %v", h, err)
	}
	solver := cd.NewBlocks(fixture.OneScore(t, fit), model.Singletons(2))
	if steep, err := model.NewMCP(0, math.Log(0.9)); err != nil {
		t.Fatal(err)
	} else if _, err := solver.Solve(context.Background(), model.Elementwise{Of: steep}, cd.Options{}); err == nil {
		t.Error("a penalty more concave than the loss is convex is taken")
	}
}
