package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// mixture is a target that is a mixture of columns, with noise.
func mixture(t *testing.T) (sparse.Matrix, []float64) {
	t.Helper()
	r := oracle.NewRandom(77)
	const n, p = 90, 12
	values, y := make([]float64, n*p), make([]float64, n)
	for j := range p {
		for i := range n {
			values[j*n+i] = r.Normal()
			y[i] += values[j*n+i] * max(0, 0.4-0.1*float64(j))
		}
	}
	for i := range y {
		y[i] += 0.3 * r.Normal()
	}
	x, err := sparse.NewDense(n, p, values)
	if err != nil {
		t.Fatal(err)
	}
	return x, y
}

// TestSimplexSVR: slopes are what differences say, the choice is as good as the best of a grid, the
// coefficients are on the simplex, and what has no meaning is refused by name.
func TestSimplexSVR(t *testing.T) {
	ctx := context.Background()
	x, y := mixture(t)
	c, v := pare.Config{Model: pare.SimplexSVR, Tol: 1e-12}, pare.Validation{InOrder: true, Folds: 3}
	for i := range y {
		c.Weights = append(c.Weights, float64(i%4))
	}
	at := []float64{math.Log(0.06), math.Log(0.15)}
	h, err := pare.Gradient(ctx, x, y, at, v, c)
	if err != nil || h.Status != outcome.Converged {
		t.Fatalf("%+v, %v", h, err)
	}
	for i, got := range h.Gradient {
		const step = 1e-5
		var values []float64
		for _, d := range []float64{step, -step} {
			moved := []float64{at[0], at[1]}
			moved[i] += d
			for e, err := range pare.Validate(ctx, x, y, [][]float64{moved}, v, c) {
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, e.Value)
			}
		}
		if want := (values[0] - values[1]) / (2 * step); math.Abs(got-want) > 1e-7*h.Value {
			t.Errorf("slope %d is %.12g, by differences %.12g", i, got, want)
		}
	}
	s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: v}, pare.Config{Model: pare.SimplexSVR})
	if err != nil || !s.Status.OK() || s.Final.Status != outcome.Converged {
		t.Fatalf("%+v, %v", s, err)
	}
	sum := 0.0
	for _, b := range s.Final.Coef {
		if sum += b; b < 0 {
			t.Errorf("coefficients %v", s.Final.Coef)
		}
	}
	if math.Abs(sum-1) > 1e-12 || s.Final.Intercept != 0 {
		t.Errorf("coefficients have the sum %g, the intercept is %g", sum, s.Final.Intercept)
	}
	var grid [][]float64
	for k := range 8 {
		for l := range 6 {
			grid = append(grid, []float64{-7 + float64(k), -5 + float64(l)})
		}
	}
	best := math.Inf(1)
	for e, err := range pare.Validate(ctx, x, y, grid, v, pare.Config{Model: pare.SimplexSVR}) {
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, e.Value)
	}
	if s.Value > best*(1+1e-3) {
		t.Errorf("%g was chosen after %d evaluations, a grid has %g", s.Value, len(s.Evaluations), best)
	}
	for flag, wrong := range map[string]pare.Config{"intercept": {Intercept: true}, "standardize": {Standardize: true}, "positive": {Positive: true}, "offset": {Offset: y}} {
		wrong.Model = pare.SimplexSVR
		_, err := pare.Fit(ctx, x, y, at, wrong)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Flag != flag || e.Kind != outcome.Usage {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestSimplexSVRIsFlatInAWideTube: no row is outside, and all columns have the same share.
func TestSimplexSVRIsFlatInAWideTube(t *testing.T) {
	x, y := mixture(t)
	h, err := pare.Gradient(context.Background(), x, y, []float64{0, 3}, pare.Validation{}, pare.Config{Model: pare.SimplexSVR})
	if err != nil || h.Status != outcome.Flat {
		t.Errorf("%+v, %v", h, err)
	}
	f, err := pare.Fit(context.Background(), x, y, []float64{0, 3}, pare.Config{Model: pare.SimplexSVR})
	if err != nil || f.Status != outcome.Converged || len(f.Coef) != 12 || math.Abs(f.Coef[5]-1./12) > 1e-15 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestVectorsHaveMeasures: a choice of support vectors with a tube or an intercept is reported by
// other measures too.
func TestVectorsHaveMeasures(t *testing.T) {
	numbers, y := mixture(t)
	labels := make([]float64, len(y))
	for i, v := range y {
		labels[i] = math.Copysign(1, v)
	}
	for want, c := range map[string]pare.Config{
		"mse": {Model: pare.SVR},
		"mae": {Model: pare.SimplexSVR},
		"auc": {Model: pare.SVM, Intercept: true},
	} {
		target := y
		if c.Model == pare.SVM {
			target = labels
		}
		s, err := pare.Select(t.Context(), numbers, target, pare.SelectOptions{Measures: true, Evaluations: 4}, c)
		if err != nil || !slices.ContainsFunc(s.Measures, func(m pare.Measure) bool { return m.Name == want && m.Value > 0 }) {
			t.Errorf("%s: no %s in %+v, %v", c.Model, want, s, err)
		}
	}
}
