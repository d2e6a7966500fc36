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

// patients returns the embedded data with label 1 for the half of the patients with the larger targets and −1 for the
// rest.
func patients(t *testing.T) (sparse.Matrix, []float64) {
	t.Helper()
	x, y := load(t)
	for i, v := range y {
		y[i] = math.Copysign(1, v-140.5)
	}
	return x, y
}

// TestSVM checks fits, hypergradients and a choice of an SVM as for the other models.
func TestSVM(t *testing.T) {
	x, y := patients(t)
	ctx := context.Background()
	c := pare.Config{Model: pare.SVM, Tol: 1e-12}
	top, err := pare.LogLambdaMax(x, y, c)
	if err != nil || len(top) != 1 || !math.IsNaN(top[0]) {
		t.Errorf("ln αmax = %v, %v", top, err)
	}
	for f, err := range pare.Path(ctx, x, y, [][]float64{{3}, {1}, {-4}}, c) {
		if err != nil {
			t.Fatal(err)
		}
		alone, err := pare.Fit(ctx, x, y, f.LogLambda, c)
		if err != nil {
			t.Fatal(err)
		}
		if f.Status != outcome.Converged || f.RelativeGap > 1e-12 || f.Free+f.Bound == 0 || math.Abs(f.Objective/alone.Objective-1) > 1e-11 {
			t.Errorf("%+v, alone %+v", f, alone)
		}
	}
	value := func(l float64) *pare.Hypergradient {
		g, err := pare.Gradient(ctx, x, y, []float64{l}, pare.Validation{InOrder: true, Folds: 4}, c)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	const h = 1e-4
	g, want := value(1.3), (value(1.3+h).Value-value(1.3-h).Value)/(2*h)
	if g.Status != outcome.Converged || math.Abs(g.Gradient[0]-want) > 1e-5*math.Abs(want) {
		t.Errorf("slope %g, differences %g: %+v", g.Gradient[0], want, g)
	}
	s, err := pare.Select(ctx, x, y, pare.SelectOptions{Precision: true, Validation: pare.Validation{InOrder: true}}, pare.Config{Model: pare.SVM})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Status.OK() || math.Abs(s.Evaluations[0].LogLambda[0]-straight(x, y, 5)) > 2e-3 || s.NullValue != 0.5 || s.Value >= 0.5 || s.Final.Status != outcome.Converged {
		t.Errorf("%+v", s)
	}
	for l := -6.0; l <= 4; l++ {
		for e, err := range pare.Validate(ctx, x, y, [][]float64{{l}}, pare.Validation{InOrder: true}, c) {
			if err != nil || e.Value < s.Value*(1-1e-4) {
				t.Errorf("%g at ln C = %g, chosen %g at %g: %v", e.Value, l, s.Value, s.LogLambda[0], err)
			}
		}
	}
}

// straight returns the least ln C at which, with w = CΣyᵢxᵢ, the margin of a training row of some fold is 1. Rows are
// dealt to the folds in turn.
func straight(x sparse.Matrix, y []float64, folds int) float64 {
	n, p := x.Dims()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, p)
	}
	for j := range p {
		at, values := x.Column(j)
		for k, v := range values {
			i := k
			if at != nil {
				i = int(at[k])
			}
			rows[i][j] = v
		}
	}
	most := 0.0
	for fold := range folds {
		w := make([]float64, p)
		for i, row := range rows {
			for j, v := range row {
				if i%folds != fold {
					w[j] += y[i] * v
				}
			}
		}
		for i, row := range rows {
			margin := 0.0
			for j, v := range row {
				margin += y[i] * v * w[j]
			}
			if i%folds != fold {
				most = max(most, margin)
			}
		}
	}
	return -math.Log(most)
}

// TestSVMArguments checks that invalid arguments are refused.
func TestSVMArguments(t *testing.T) {
	x, y := patients(t)
	_, numbers := load(t)
	c := pare.Config{Model: pare.SVM}
	fit := func(y, lambda []float64) error { _, err := pare.Fit(context.Background(), x, y, lambda, c); return err }
	choose := func(o pare.SelectOptions) error {
		_, err := pare.Select(context.Background(), x, y, o, c)
		return err
	}
	for name, test := range map[string]struct {
		err  error
		kind outcome.Kind
	}{
		"two λ":        {fit(y, []float64{0, 0}), outcome.Shape},
		"a NaN λ":      {fit(y, []float64{math.NaN()}), outcome.BadParameter},
		"short labels": {fit(y[:9], []float64{0}), outcome.Shape},
		"real labels":  {fit(numbers, []float64{0}), outcome.BadParameter},
		"one class":    {fit(repeat(1, len(y)), []float64{0}), outcome.SingleClass},
		"a grid":       {choose(pare.SelectOptions{Search: pare.Grid}), outcome.Usage},
		"per class":    {choose(pare.SelectOptions{PerClass: true}), outcome.Usage},
		"start of −1":  {choose(pare.SelectOptions{Start: -1}), outcome.BadParameter},
		"tolerance NaN": {func() error {
			_, err := pare.Fit(context.Background(), x, y, []float64{0}, pare.Config{Model: pare.SVM, Tol: math.NaN()})
			return err
		}(), outcome.BadParameter},
	} {
		if outcome.KindOf(test.err) != test.kind {
			t.Errorf("%s: %v", name, test.err)
		}
	}
}

// TestSVMOfFewColumns checks that an SVM works on one column and refuses a matrix without columns.
func TestSVMOfFewColumns(t *testing.T) {
	y := []float64{-1, 1, 1}
	one, err := sparse.NewDense(3, 1, []float64{-1, 1, 3})
	if err != nil {
		t.Fatal(err)
	}
	f, err := pare.Fit(context.Background(), one, y, []float64{4}, pare.Config{Model: pare.SVM, Tol: 1e-12})
	if err != nil || len(f.Coef) != 1 || math.Abs(f.Coef[0]-1) > 1e-6 {
		t.Errorf("%+v, %v", f, err)
	}
	none, err := sparse.NewDense(3, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pare.Fit(context.Background(), none, y, []float64{4}, pare.Config{Model: pare.SVM}); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("without columns: %v", err)
	}
}

// mixture draws a target that is a convex combination of columns, plus noise.
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

// TestSimplexSVR checks that hypergradients agree with finite differences, that the choice is as good as the best of a
// grid, that the coefficients are on the simplex, and that options without a meaning are refused by name.
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

// TestSimplexSVRIsFlatInAWideTube checks that, if no row is outside the tube, all columns have the same coefficient.
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

// TestVectorsHaveMeasures checks that a choice of support vectors with a tube or an intercept also reports other
// measures.
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

// TestSimplexGradientsAreConfirmed checks that a hypergradient is that of the exact solution, or is not called
// converged. Next to a large column the free rows are nearly dependent, and active sets other than the solution's leave
// a gap that is just as small.
func TestSimplexGradientsAreConfirmed(t *testing.T) {
	confirmed := 0
	for _, seed := range []uint64{14, 22, 42, 44, 46, 47} {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 4 + r.Intn(12), P: 60, Density: r.Pick(0.1, 0.1, 0.3, 1)})
		for i, row := range q.X {
			row[7] = 1e4
			for j := 1; j < 60; j++ {
				switch j % 4 {
				case 0:
					row[j] = -0.1 * row[j-1]
				case 1:
					row[j] = row[j/2] + row[j/3]
				}
			}
			if seed%2 == 0 {
				q.Y[i] = 0.7
			}
		}
		x, c, v := matrixOf(t, q.X, 60, true), pare.Config{Model: pare.SimplexSVR, Tol: 1e-12}, pare.Validation{Folds: 2}
		at := []float64{r.Float64()*5 - 2, -1 - r.Float64()*2}
		g, err := pare.Gradient(t.Context(), x, q.Y, at, v, c)
		if err != nil {
			t.Fatal(err)
		}
		const h = 1e-3
		c.Tol = 1e-15
		above := validated(t, x, q.Y, []float64{at[0], at[1] + h}, v, c).Value
		below := validated(t, x, q.Y, []float64{at[0], at[1] - h}, v, c).Value
		if g.Status != outcome.Converged {
			continue
		}
		confirmed++
		if slope := (above - below) / (2 * h); !(math.Abs(g.Gradient[1]-slope) <= 0.02*math.Abs(slope)) {
			t.Errorf("seed %d: ∂/∂ln ε %g ± %g, by differences %g", seed, g.Gradient[1], g.ErrorBound, slope)
		}
	}
	if confirmed < 3 {
		t.Errorf("%d of 6 are called converged", confirmed)
	}
}
