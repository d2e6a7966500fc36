package pare_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// shifted returns the λ's ln αmax − by, or 2 − by for a λ without an αmax.
func shifted(top []float64, by float64) []float64 {
	at := make([]float64, len(top))
	for i, l := range top {
		if math.IsNaN(l) {
			l = 2
		}
		at[i] = l - by
	}
	return at
}

// TestFitterIsFit checks that a Fitter returns the bits of Fit, whatever it has solved before.
func TestFitterIsFit(t *testing.T) {
	for _, model := range pare.Models() {
		x, y := drawn(t, 60, 13, model)
		concave := !model.Traits().Convex // γ and a are in units of standardised columns
		configs := []pare.Config{{Model: model, Standardize: concave}, {Model: model, Standardize: concave, Certify: true}}
		if traits := model.Traits(); traits.Factors && traits.Strengths == pare.OneStrength && traits.Certified && !traits.Dense {
			factors := slices.Repeat([]float64{1}, 13)
			factors[2], factors[7] = 0, 0
			configs = append(configs, pare.Config{Model: model, PenaltyFactors: factors})
		}
		for _, c := range configs {
			fitter, err := pare.NewFitter(x, y, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, by := range []float64{2, 4, 0.5, 2} {
				lambda := shifted(fitter.LogLambdaMax(), by)
				got, err := fitter.Fit(context.Background(), lambda)
				if err != nil {
					t.Fatal(err)
				}
				want, err := pare.Fit(context.Background(), x, y, lambda, c)
				if err != nil {
					t.Fatal(err)
				}
				got.SecondsCertify = want.SecondsCertify
				for k := range got.PerClass {
					got.PerClass[k].SecondsCertify = want.PerClass[k].SecondsCertify
				}
				if !(want.Work > 0) || !(0 <= want.Shared && want.Shared <= want.Work) {
					t.Errorf("%s, %+v: work %g, of which %g is shared", model, c, want.Work, want.Shared)
				}
				if !sameFit(got, want) {
					t.Errorf("%s, %+v: %+v, want %+v", model, c, got, want)
				}
			}
		}
	}
}

// TestFittersOfManyRowsAreFit checks Fitters that solve on condensed rows, or start there: the fits equal those of Fit
// and, except for MCP, allocate nothing.
func TestFittersOfManyRowsAreFit(t *testing.T) {
	x, y, weights := manyRows(t)
	configs := []pare.Config{{}, {Tol: 1e-13}, {Model: pare.Ridge, Weights: weights}, {Model: pare.ElasticNet}, {Model: pare.MCP, Standardize: true}}
	for _, c := range configs[:oracle.Draws(len(configs))] {
		fitter, err := pare.NewFitter(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range []float64{2, 4, 0.5, 2} {
			lambda := shifted(fitter.LogLambdaMax(), by)
			got, err := fitter.Fit(t.Context(), lambda)
			if err != nil {
				t.Fatal(err)
			}
			want, err := pare.Fit(t.Context(), x, y, lambda, c)
			if err != nil {
				t.Fatal(err)
			}
			if !sameFit(got, want) {
				t.Errorf("%s: %+v, want %+v", c.Model, got, want)
			}
		}
		if c.Model == pare.MCP {
			continue
		}
		lambda := shifted(fitter.LogLambdaMax(), 3)
		if n := testing.AllocsPerRun(3, func() { _, _ = fitter.Fit(t.Context(), lambda) }); n != 0 {
			t.Errorf("%s: %g allocations", c.Model, n)
		}
	}
}

// sameFit compares all fields; it treats NaN as equal to NaN, and an empty slice as equal to nil.
func sameFit(a, b *pare.Fitted) bool {
	for _, f := range []*pare.Fitted{a, b} {
		for i, l := range f.LogLambdaMax {
			if math.IsNaN(l) {
				f.LogLambdaMax[i] = -1e300
			}
		}
		if math.IsNaN(f.Gap) { // no gap is known
			f.Gap, f.RelativeGap = -1, -1
		}
		if len(f.Support) == 0 {
			f.Support, f.Coef = nil, nil
		}
	}
	return reflect.DeepEqual(a, b)
}

// TestFitterAllocatesNothing checks that, after the first calls, fits allocate nothing.
func TestFitterAllocatesNothing(t *testing.T) {
	for _, model := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.Ridge, pare.Logistic, pare.Poisson, pare.Huber, pare.SVM} {
		x, y := drawn(t, 60, 13, model)
		fitter, err := pare.NewFitter(x, y, pare.Config{Model: model})
		if err != nil {
			t.Fatal(err)
		}
		points := [][]float64{shifted(fitter.LogLambdaMax(), 1), shifted(fitter.LogLambdaMax(), 3)}
		fits := func() {
			for _, lambda := range points {
				if f, err := fitter.Fit(context.Background(), lambda); err != nil || f.Status != outcome.Converged {
					t.Fatal(f, err)
				}
			}
		}
		fits()
		if n := testing.AllocsPerRun(10, fits); n != 0 {
			t.Errorf("%s: %g allocations in %d fits", model, n, len(points))
		}
	}
}

// TestLiveUnderLoad checks that, while predictors are swapped, every prediction is that of one of them.
func TestLiveUnderLoad(t *testing.T) {
	x, y := drawn(t, 60, 13, pare.Lasso)
	var live pare.Live
	if _, err := live.Predict(x); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("without a predictor: %v", err)
	}
	var all [2]*pare.Predictor
	var want [2][]float64
	for k := range all {
		f, err := pare.Fit(context.Background(), x, y, []float64{float64(-2 * k)}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		all[k] = f.Predictor()
		if want[k], err = all[k].Predict(x); err != nil {
			t.Fatal(err)
		}
	}
	if last := live.Swap(all[0]); last != nil {
		t.Errorf("at first there was %v", last)
	}
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for range 200 {
				got, err := live.Predict(x)
				if err != nil || !reflect.DeepEqual(got, want[0]) && !reflect.DeepEqual(got, want[1]) {
					t.Errorf("neither of both: %v", err)
					return
				}
			}
		})
	}
	for k := range 400 {
		if last := live.Swap(all[(k+1)%2]); last != all[k%2] {
			t.Fatal("not the predictor swapped in last")
		}
	}
	clients.Wait()
	if _, err := live.Predict(other(t, x)); outcome.KindOf(err) != outcome.Shape || live.Predictor() != all[0] {
		t.Errorf("other columns: %v", err)
	}
}

// other draws a matrix with one column fewer than x.
func other(t *testing.T, x sparse.Matrix) sparse.Matrix {
	t.Helper()
	_, p := x.Dims()
	fewer, _ := drawn(t, 5, p-1, pare.Lasso)
	return fewer
}
