package pare_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// patients are the embedded data with the sicker half labelled 1, the other −1.
func patients(t *testing.T) (sparse.Matrix, []float64) {
	t.Helper()
	x, y := load(t)
	for i, v := range y {
		y[i] = math.Copysign(1, v-140.5)
	}
	return x, y
}

// TestSVM: fits, slopes and a choice, on the terms of the other models.
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
	if !s.Status.OK() || s.Evaluations[0].LogLambda[0] != -5.75 || s.NullValue != 0.5 || s.Value >= 0.5 || s.Final.Status != outcome.Converged {
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

// TestSVMArguments: what cannot be is refused.
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

// One column is enough for an SVM, none is not.
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
