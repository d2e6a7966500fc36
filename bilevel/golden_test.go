package bilevel_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// goldenCase is a value and hypergradient computed independently of this
// project; see testdata/golden/README.md.
type goldenCase struct {
	Data      string          `json:"data"`
	Model     string          `json:"model"`
	Split     string          `json:"split"`
	Folds     int             `json:"folds"`
	Mod       int             `json:"mod"`
	Ratio     []float64       `json:"ratio"`
	AlphaMax  json.RawMessage `json:"alpha_max"`
	LogLambda []float64       `json:"log_lambda"`
	Value     float64         `json:"value"`
	Gradient  json.RawMessage `json:"gradient"`
}

// sharedDir holds reference material beside the checkout; it may be absent.
const sharedDir = "../../shared"

func TestGoldenDiabetes(t *testing.T) {
	for _, c := range fixture.Golden[goldenCase](t, "../testdata/golden/diabetes.jsonl") {
		checkGolden(t, c, "../internal/embedded/diabetes.svm.gz")
	}
}

func TestGoldenShared(t *testing.T) {
	for k, c := range fixture.Golden[goldenCase](t, filepath.Join(sharedDir, "golden/hypergradients.jsonl")) {
		if oracle.Turn(k, 1) {
			checkGolden(t, c, filepath.Join(sharedDir, "data", c.Data+".svm.gz"))
		}
	}
}

func checkGolden(t *testing.T, c goldenCase, path string) {
	kind := c.Model
	if kind == "logreg" {
		kind = "lasso"
	}
	penalty, ok := penalties[kind]
	if !ok {
		return
	}
	t.Run(c.Data+"/"+c.Model+"/"+c.Split, func(t *testing.T) {
		x, y, err := sparse.OpenSVMLight(context.Background(), path, sparse.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n, p := x.Dims()
		var folds bilevel.Folds
		if c.Split == "cv" {
			folds, err = bilevel.KFold(nil, n, c.Folds, false, 0)
		} else {
			folds, err = bilevel.HoldOut(nil, n, max(c.Mod, 3), false, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		k := fixture.Kernels(t)
		spec := bilevel.Spec{Folds: folds, Penalty: penalty, Solver: cd.Options{Tol: 1e-12}}
		if c.Model == "logreg" {
			spec.Criterion = criterion.Of(loss.Logistic{})
			spec.Datafit = func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(view, y) }
		}
		problem, err := bilevel.New(k, sparse.Compact(x), y, spec)
		if err != nil {
			t.Fatal(err)
		}
		lambda := c.LogLambda
		want := map[int]float64{}
		if c.Model == "wlasso" {
			var alphaMax float64
			var g struct {
				Index []int
				Value []float64
			}
			if err := errors.Join(json.Unmarshal(c.AlphaMax, &alphaMax), json.Unmarshal(c.Gradient, &g)); err != nil {
				t.Fatal(err)
			}
			lambda = make([]float64, p)
			for j := range lambda {
				lambda[j] = math.Log(c.Ratio[0] * alphaMax * (1 + 0.5*math.Sin(float64(j))))
			}
			for i, j := range g.Index {
				want[j] = g.Value[i]
			}
		} else {
			var g []float64
			if err := json.Unmarshal(c.Gradient, &g); err != nil {
				t.Fatal(err)
			}
			for i, v := range g {
				want[i] = v
			}
		}
		report, err := problem.Evaluate(context.Background(), search.Request{LogLambda: lambda})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("gap %.1e, kkt %.1e, epochs %d, passes %d, CG %d, bound %.1e, margin %.1e, %.3f + %.3f s",
			report.RelativeGap, report.KKT, report.Epochs, report.Passes, report.Iterations,
			report.ErrorBound, report.InjectivityMargin, report.SecondsSolve, report.SecondsGradient)
		if report.Status != outcome.Converged {
			t.Errorf("status %s, want converged", report.Status)
		}
		if d := math.Abs(report.Value-c.Value) / math.Abs(c.Value); !(d <= 1e-9) {
			t.Errorf("value %.15g, want %.15g (relative difference %.1e)", report.Value, c.Value, d)
		}
		var norm, distance float64
		for j, g := range report.Gradient {
			norm += want[j] * want[j]
			distance += (g - want[j]) * (g - want[j])
		}
		if d := math.Sqrt(distance / norm); !(d <= 1e-7) {
			t.Errorf("gradient differs from the golden one by %.1e relative", d)
		}
	})
}

func TestGoldenMulticlass(t *testing.T) {
	for _, c := range fixture.Golden[goldenCase](t, filepath.Join(sharedDir, "golden/hypergradients.jsonl")) {
		if c.Model != "multiclass" {
			continue
		}
		x, y, err := sparse.OpenSVMLight(context.Background(), filepath.Join(sharedDir, "data", c.Data+".svm.gz"), sparse.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n, _ := x.Dims()
		folds, err := bilevel.HoldOut(nil, n, max(c.Mod, 3), false, 0)
		if err != nil {
			t.Fatal(err)
		}
		k := fixture.Kernels(t)
		problem, err := bilevel.NewMulticlass(k, sparse.Compact(x), y, bilevel.Spec{
			Folds:   folds,
			Penalty: lasso,
			Solver:  cd.Options{Tol: 1e-12},
		})
		if err != nil {
			t.Fatal(err)
		}
		report, err := problem.Evaluate(context.Background(), search.Request{LogLambda: c.LogLambda})
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		if err := json.Unmarshal(c.Gradient, &want); err != nil {
			t.Fatal(err)
		}
		t.Logf("gap %.1e, epochs %d, CG %d, %.3f + %.3f s", report.RelativeGap, report.Epochs, report.Iterations, report.SecondsSolve, report.SecondsGradient)
		if d := math.Abs(report.Value-c.Value) / c.Value; !(d <= 1e-9) {
			t.Errorf("value %.15g, want %.15g", report.Value, c.Value)
		}
		for j, g := range report.Gradient {
			if d := math.Abs(g-want[j]) / math.Abs(want[j]); !(d <= 1e-7) {
				t.Errorf("class %d: gradient %.12g, want %.12g", j, g, want[j])
			}
		}
	}
}
