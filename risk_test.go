package pare_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestInformationCriteria: slopes of SURE, AIC and BIC against differences, their
// minima, and that AIC is SURE in other units.
func TestInformationCriteria(t *testing.T) {
	x, y := load(t)
	ctx := context.Background()
	top := lambdaMax(t, x, y, pare.Config{})
	at := func(v pare.Validation, l float64) *pare.Hypergradient {
		g, err := pare.Gradient(ctx, x, y, []float64{l}, v, pare.Config{Tol: 1e-13})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, c := range []pare.Criterion{pare.SURE, pare.AIC, pare.BIC} {
		v := pare.Validation{Criterion: c, Sigma: 54, Seed: 3}
		const h = 1e-5
		g, want := at(v, top-2), (at(v, top-2+h).Value-at(v, top-2-h).Value)/(2*h)
		if g.Status != outcome.Converged || g.Sigma != 54 || math.Abs(g.Gradient[0]-want) > 1e-6*math.Abs(want) {
			t.Errorf("%s: %+v, differences %g", c, g, want)
		}
		s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: v}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Status.OK() || s.Value >= s.NullValue || s.Sigma != 54 {
			t.Errorf("%s: %+v", c, s)
		}
	}
	sure, aic := at(pare.Validation{Criterion: pare.SURE, Sigma: 54}, top-3), at(pare.Validation{Criterion: pare.AIC, Sigma: 54}, top-3)
	if want := sure.Value/(54*54) + float64(len(y)); math.Abs(aic.Value-want) > 1e-9*want {
		t.Errorf("AIC %g, SURE/σ² + n = %g", aic.Value, want)
	}
}

// TestNoiseLevel: what is estimated is the residual standard deviation of a Lasso
// chosen by cross-validation; models of other losses have none.
func TestNoiseLevel(t *testing.T) {
	x, y := load(t)
	ctx := context.Background()
	g, err := pare.Gradient(ctx, x, y, []float64{-1}, pare.Validation{Criterion: pare.SURE, Seed: 7}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Shuffle: true, Seed: 7}}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	q := problemOf(x, y, true)
	_, p := x.Dims()
	beta := make([]float64, p)
	for k, j := range s.Final.Support {
		beta[j] = s.Final.Coef[k]
	}
	var square float64
	for _, r := range q.Residual(beta, s.Final.Intercept) {
		square += r * r
	}
	if want := math.Sqrt(square / float64(len(y)-len(s.Final.Support)-1)); math.Abs(g.Sigma-want) > 1e-9*want {
		t.Errorf("σ = %.12g, want %.12g", g.Sigma, want)
	}
	px, py := patients(t)
	for _, m := range []pare.Model{pare.Logistic, pare.SVM, pare.Multiclass} {
		if _, err := pare.Select(ctx, px, py, pare.SelectOptions{Validation: pare.Validation{Criterion: pare.SURE}}, pare.Config{Model: m}); !isKind(err, outcome.Usage) {
			t.Errorf("SURE of %s: %v", m, err)
		}
	}
	if _, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Criterion: "tea"}}, pare.Config{}); !isKind(err, outcome.Usage) {
		t.Errorf("an unknown criterion: %v", err)
	}
	for _, sigma := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Criterion: pare.AIC, Sigma: sigma}}, pare.Config{}); !isKind(err, outcome.BadParameter) {
			t.Errorf("σ = %g: %v", sigma, err)
		}
	}
}
