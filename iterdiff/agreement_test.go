package iterdiff_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

var long = flag.Bool("long", false, "all golden rows")

// fitOf returns the datafit of an oracle's problem.
func fitOf(tb testing.TB, q *oracle.Problem, l kind, dense bool) model.Datafit {
	tb.Helper()
	view := fixture.View(tb, q, dense)
	var fit model.Datafit
	var err error
	if l == squared {
		fit, err = model.NewSquared(view, q.Y)
	} else {
		fit, err = model.NewLogistic(view, q.Y)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return fit
}

// TestThreeWays checks that at convergence the four methods and implicit differentiation agree (G2).
func TestThreeWays(t *testing.T) {
	worst, compared := 0.0, 0
	seeds := uint64(40)
	if oracle.Few() {
		seeds = 12
	}
	for seed := range seeds {
		r := oracle.NewRandom(300 + seed)
		q := r.Problem(oracle.Shape{N: 40 + r.Intn(20), P: 5 + r.Intn(30), Density: r.Pick(0.3, 1), Correlation: r.Pick(0, 0.5), Mean: r.Pick(0, 0.3), Weights: r.Intn(2) == 0})
		q.Intercept = r.Intn(2) == 0
		l := []kind{squared, logistic}[seed%2]
		if l == logistic {
			for i := range q.Y {
				q.Y[i] = math.Copysign(1, q.Y[i]+2*r.Normal())
			}
		}
		fit := fitOf(t, q, l, seed%3 == 0)
		var held []int
		target := make([]float64, len(q.Y))
		for i := range q.Y {
			if target[i] = q.Y[i] + r.Normal(); i%3 == 0 {
				held = append(held, i)
			}
		}
		outer := quadratic(target, held)
		top := math.Log(model.AlphaMax(fit))
		_, p := q.Dims()
		var g model.Penalty
		var err error
		switch seed / 2 % 3 {
		case 0:
			g, err = model.Lasso(top - 0.5 - 2*r.Float64())
		case 1:
			g, err = model.ElasticNet(top-0.5-2*r.Float64(), top-2*r.Float64())
		default:
			each := make([]float64, p)
			for j := range each {
				each[j] = top - 0.5 - 2*r.Float64()
			}
			g, err = model.WeightedLasso(each)
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := iterdiff.New(fit)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range allMethods {
			got, err := s.Solve(t.Context(), g, outer, iterdiff.Options{Method: method, Tol: 1e-11, MaxEpochs: 20000})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.Converged {
				if got.Change > 1e-7 {
					t.Logf("seed %d, %s: %s, change %.1e, gap %.1e", seed, method, got.Status, got.Change, got.Gap)
					continue
				}
			}
			beta := &oracle.Solution{Beta: make([]float64, p), Intercept: got.Intercept}
			for k, j := range got.Support {
				beta.Beta[j] = got.Coef[k]
			}
			o := implicit.Outer{Slope: make([]float64, len(q.Y)), Curvature: make([]float64, len(q.Y))}
			value := outer(q.Predictions(beta), o.Slope)
			for _, i := range held {
				o.Curvature[i] = 2 / float64(len(held))
			}
			if math.Abs(value-got.Value) > 1e-9*value {
				t.Errorf("seed %d, %s: criterion %.12g, of the predictions of β and the intercept %.12g", seed, method, got.Value, value)
			}
			want, err := implicit.New(fit).Solve(t.Context(), g, implicit.Point{Support: got.Support, Coef: got.Coef, KKT: -1}, o, implicit.Options{Tol: 1e-13})
			if err != nil {
				t.Fatal(err)
			}
			if want.InjectivityMargin < 1e-3 {
				continue
			}
			if math.Abs(got.KKT-want.KKT) > 1e-12 {
				t.Errorf("seed %d, %s: KKT residual %g, implicit's %g", seed, method, got.KKT, want.KKT)
			}
			d := apart(got.Gradient, want.Gradient)
			if worst = max(worst, d); d > 1e-7 {
				t.Errorf("seed %d, %s: off by %.1e from implicit; change %.1e, gap %.1e, %d epochs", seed, method, d, got.Change, got.Gap, got.Epochs)
			}
			compared++
		}
	}
	if compared < int(seeds)*3 {
		t.Errorf("only %d comparisons", compared)
	}
	t.Logf("%d comparisons, off by at most %.1e", compared, worst)
}

type goldenCase struct {
	Data      string          `json:"data"`
	Model     string          `json:"model"`
	Split     string          `json:"split"`
	Folds     int             `json:"folds"`
	Mod       int             `json:"mod"`
	C         float64         `json:"C"`
	Ratio     []float64       `json:"ratio"`
	AlphaMax  json.RawMessage `json:"alpha_max"`
	LogLambda []float64       `json:"log_lambda"`
	Value     float64         `json:"value"`
	Gradient  json.RawMessage `json:"gradient"`
}

// slow reports whether the plain descents take seconds for a case.
func (c *goldenCase) slow() bool {
	return c.Split == "cv" && c.Data != "diabetes" || c.Data == "gina_like" || c.Data == "leukemia" && c.Model != "wlasso"
}

// TestGolden checks values and hypergradients to 1e-7 against values computed elsewhere.
func TestGolden(t *testing.T) {
	for _, where := range []struct{ rows, data string }{
		{"../testdata/golden/diabetes.jsonl", "../internal/embedded"},
		{"../../shared/golden/hypergradients.jsonl", "../../shared/data"},
	} {
		t.Run(filepath.Base(where.rows), func(t *testing.T) {
			for _, c := range fixture.Golden[goldenCase](t, where.rows) {
				if c.Model == "multiclass" || c.slow() && !*long || oracle.Few() && c.Data != "diabetes" && c.Model != "svm" {
					continue
				}
				for _, method := range []iterdiff.Method{iterdiff.BackwardPCD, iterdiff.ForwardPCD} {
					t.Run(fmt.Sprintf("%s/%s/%s/%v", c.Data, c.Model, c.Split, method), func(t *testing.T) {
						checkGolden(t, c, filepath.Join(where.data, c.Data+".svm.gz"), method)
					})
				}
			}
		})
	}
}

// wanted returns the λ's of a case with p columns, and the gradient there.
func (c *goldenCase) wanted(t *testing.T, p int) (lambda, want []float64) {
	t.Helper()
	lambda, want = c.LogLambda, make([]float64, len(c.LogLambda))
	if c.Model == "wlasso" {
		var alphaMax float64
		var g struct {
			Index []int
			Value []float64
		}
		if err := errors.Join(json.Unmarshal(c.AlphaMax, &alphaMax), json.Unmarshal(c.Gradient, &g)); err != nil {
			t.Fatal(err)
		}
		lambda, want = make([]float64, p), make([]float64, p)
		for j := range lambda {
			lambda[j] = math.Log(c.Ratio[0] * alphaMax * (1 + 0.5*math.Sin(float64(j))))
		}
		for k, j := range g.Index {
			want[j] = g.Value[k]
		}
	} else if err := json.Unmarshal(c.Gradient, &want); err != nil {
		t.Fatal(err)
	}
	return lambda, want
}

// differentiate returns the value and the gradient of one fold.
func (c *goldenCase) differentiate(t *testing.T, matrix sparse.Matrix, y, weights []float64, rows []int32, lambda []float64, o iterdiff.Options) *iterdiff.Result {
	t.Helper()
	n, _ := matrix.Dims()
	var judge criterion.Criterion = criterion.MeanSquaredError{}
	if c.Model == "logreg" {
		judge = criterion.Of(loss.Logistic{})
	}
	curvature := make([]float64, n)
	outer := func(m, slope []float64) float64 { return judge.Eval(rows, y, m, slope, curvature) }
	if c.Model == "svm" {
		fit, err := model.NewSVM(fixture.Kernels(t), sparse.Transpose(matrix), y, weights)
		if err != nil {
			t.Fatal(err)
		}
		outer = func(m, slope []float64) (value float64) {
			for _, i := range rows {
				v, d := smoothedHinge(y[i] * m[i])
				value += v / float64(len(rows))
				slope[i] = d * y[i] / float64(len(rows))
			}
			return value
		}
		h, err := iterdiff.NewSVM(fit).Solve(t.Context(), math.Log(c.C), outer, o)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	view, err := sparse.NewView(fixture.Kernels(t), matrix, weights, false)
	if err != nil {
		t.Fatal(err)
	}
	var fit model.Datafit
	var g model.Penalty
	switch c.Model {
	case "logreg":
		fit, err = model.NewLogistic(view, y)
	default:
		fit, err = model.NewSquared(view, y)
	}
	if err != nil {
		t.Fatal(err)
	}
	switch c.Model {
	case "enet":
		g, err = model.ElasticNet(lambda[0], lambda[1])
	case "wlasso":
		g, err = model.WeightedLasso(lambda)
	default:
		g, err = model.Lasso(lambda[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := iterdiff.New(fit)
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.Solve(t.Context(), g, outer, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func checkGolden(t *testing.T, c goldenCase, path string, method iterdiff.Method) {
	x, y, err := sparse.OpenSVMLight(t.Context(), path, sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, p := x.Dims()
	matrix := sparse.Compact(x)
	folds, count := max(c.Mod, 3), 1
	if c.Split == "cv" {
		folds, count = c.Folds, c.Folds
	}
	lambda, want := c.wanted(t, p)
	got := make([]float64, len(want))
	var value float64
	o := iterdiff.Options{Method: method, Tol: 1e-9, MaxEpochs: 200000}
	for fold := range count {
		held := folds - 1
		if c.Split == "cv" {
			held = fold
		}
		weights := make([]float64, n)
		var rows []int32
		for i := range weights {
			weights[i] = 1
			if i%folds == held {
				weights[i] = 0
				rows = append(rows, int32(i))
			}
		}
		h := c.differentiate(t, matrix, y, weights, rows, lambda, o)
		t.Logf("%s: %d epochs (support found at %d), gap %.1e, KKT %.1e, change %.1e, margin %.1e, %d entries forward, %d back",
			h.Status, h.Epochs, h.Identified, h.Gap, h.KKT, h.Change, h.Margin, h.ForwardEntries, h.ReverseEntries)
		if h.Status != outcome.Converged {
			t.Errorf("status %s", h.Status)
		}
		value += h.Value / float64(count)
		if c.Model == "wlasso" {
			for k, j := range h.Support {
				got[j] += h.Gradient[k] / float64(count)
			}
			continue
		}
		for i, v := range h.Gradient {
			got[i] += v / float64(count)
		}
	}
	if d := math.Abs(value-c.Value) / c.Value; !(d <= 1e-9) {
		t.Errorf("value %.15g, want %.15g", value, c.Value)
	}
	if d := apart(got, want); !(d <= 1e-7) {
		t.Errorf("gradient off by %.1e", d)
	} else {
		t.Logf("gradient off by %.1e", d)
	}
}

func smoothedHinge(t float64) (value, slope float64) {
	switch {
	case t <= 0:
		return 0.5 - t, -1
	case t < 1:
		return 0.5 * (1 - t) * (1 - t), t - 1
	default:
		return 0, 0
	}
}
