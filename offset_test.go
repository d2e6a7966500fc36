package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// offsets are small numbers, one a row.
func offsets(n int) []float64 {
	o := make([]float64, n)
	for i := range o {
		o[i] = 0.3 * math.Sin(float64(i))
	}
	return o
}

// TestOffsetOfTheSquaredLoss: a target with an offset is the target less that, but for
// predictions.
func TestOffsetOfTheSquaredLoss(t *testing.T) {
	ctx := context.Background()
	x, y := load(t)
	o := offsets(len(y))
	for i := range o {
		o[i] *= 100
	}
	less := slices.Clone(y)
	for i := range y {
		less[i] -= o[i]
	}
	for _, m := range []pare.Model{pare.Lasso, pare.Ridge, pare.WeightedLasso} {
		lambda := somewhere(t, x, y, pare.Config{Model: m})
		want, err := pare.Fit(ctx, x, less, lambda, pare.Config{Model: m})
		if err != nil {
			t.Fatal(err)
		}
		got, err := pare.Fit(ctx, x, y, lambda, pare.Config{Model: m, Offset: o})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Support, want.Support) || got.Objective != want.Objective || got.Intercept != want.Intercept {
			t.Errorf("%s: %g at %v, want %g at %v", m, got.Objective, got.Support, want.Objective, want.Support)
		}
	}
	v := pare.Validation{InOrder: true}
	want, err := pare.OutOfFold(ctx, x, less, []float64{-2}, v, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := pare.OutOfFold(ctx, x, y, []float64{-2}, v, pare.Config{Offset: o})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range got.Scores {
		if d := s[0] - want.Scores[i][0] - o[i]; math.Abs(d) > 1e-9 {
			t.Fatalf("row %d is predicted %g off", i, d)
		}
	}
}

// TestExposure: counts with the logarithms of exposures as offsets are rates weighted by
// exposures, with strengths in proportion to the mean exposure.
func TestExposure(t *testing.T) {
	ctx := context.Background()
	x, y := diabetesFor(t, loss.Poisson{})
	logs := offsets(len(y))
	rates, exposures, mean := slices.Clone(y), make([]float64, len(y)), 0.0
	for i := range y {
		exposures[i] = math.Exp(logs[i])
		rates[i] /= exposures[i]
		mean += exposures[i] / float64(len(y))
	}
	lambda := -4.0
	for _, m := range []pare.Model{pare.Lasso, pare.Ridge} {
		counts, err := pare.Fit(ctx, x, y, []float64{lambda}, pare.Config{Model: m, Loss: loss.Poisson{}, Offset: logs, Tol: 1e-14})
		if err != nil {
			t.Fatal(err)
		}
		weighted, err := pare.Fit(ctx, x, rates, []float64{lambda - math.Log(mean)}, pare.Config{Model: m, Loss: loss.Poisson{}, Weights: exposures, Tol: 1e-14})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(counts.Support, weighted.Support) || counts.Status != outcome.Converged || math.Abs(counts.Intercept-weighted.Intercept) > 1e-6 {
			t.Fatalf("%s: %v, weighted rates %v", m, counts, weighted)
		}
		for k, b := range counts.Coef {
			if math.Abs(b-weighted.Coef[k]) > 1e-5*(1+math.Abs(b)) {
				t.Errorf("%s: %g, weighted rates %g", m, b, weighted.Coef[k])
			}
		}
	}
}

// TestOffsetsThatCannotBe are refused by name.
func TestOffsetsThatCannotBe(t *testing.T) {
	ctx := context.Background()
	x, y := load(t)
	o := offsets(len(y))
	broken := slices.Clone(o)
	broken[7] = math.NaN()
	signs := signs(y)
	for name, c := range map[string]struct {
		config pare.Config
		y      []float64
		v      pare.Validation
		flag   string
	}{
		"svm":        {config: pare.Config{Model: pare.SVM, Offset: o}, y: signs, flag: "offset"},
		"multiclass": {config: pare.Config{Model: pare.Multiclass, Offset: o}, y: signs, flag: "offset"},
		"method":     {config: pare.Config{Method: pare.ForwardPCD, Offset: o}, y: y, flag: "method"},
		"sure":       {config: pare.Config{Offset: o}, y: y, v: pare.Validation{Criterion: pare.SURE}, flag: "criterion"},
		"short":      {config: pare.Config{Offset: o[1:]}, y: y, flag: "offset"},
		"NaN":        {config: pare.Config{Offset: broken, Model: pare.Huber}, y: y, flag: "offset"},
	} {
		lambda := []float64{-2}
		_, err := pare.Gradient(ctx, x, c.y, lambda, c.v, c.config)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Flag != c.flag {
			t.Errorf("%s: %v", name, err)
		}
	}
}
