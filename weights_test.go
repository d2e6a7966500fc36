package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// repeated is a problem with integer weights, and the equivalent problem in which each row is repeated as often as its
// weight says.
type repeated struct {
	x, rowsX     sparse.Matrix
	y, rowsY     []float64
	weights      []float64
	folds, times []int // by row, and by repeated row
}

func drawRepeated(t *testing.T, m pare.Model, seed uint64) *repeated {
	t.Helper()
	const n, p = 60, 12
	r := oracle.NewRandom(seed)
	q := r.Problem(oracle.Shape{N: n, P: p, Density: 0.5, Active: 5})
	out := &repeated{x: matrixOf(t, q.X, p, false)}
	var rows [][]float64
	for i, y := range targetsFor(m, q.Y) {
		if m.Traits().Classes {
			y = float64(r.Intn(3))
		}
		weight := r.Intn(4)
		out.y, out.weights, out.folds = append(out.y, y), append(out.weights, float64(weight)), append(out.folds, i%3)
		for range weight {
			rows, out.rowsY, out.times = append(rows, q.X[i]), append(out.rowsY, y), append(out.times, i%3)
		}
	}
	out.rowsX = matrixOf(t, rows, p, false)
	return out
}

// matrixOf stores rows of p numbers in a matrix.
func matrixOf(t *testing.T, rows [][]float64, p int, dense bool) sparse.Matrix {
	t.Helper()
	return fixture.Matrix(t, &oracle.Problem{X: rows, Y: make([]float64, len(rows)), Alpha: make([]float64, p)}, dense)
}

// somewhere returns a λ well inside the range of a model.
func somewhere(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) []float64 {
	t.Helper()
	l, err := pare.LogLambdaMax(x, y, c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range l {
		if l[i] -= 2 + 0.1*float64(i%3); math.IsNaN(l[i]) {
			l[i] = -2
		}
	}
	return l
}

// TestWeightIsRepetition checks that integer weights have the effect of repeated rows, for the fits and gradients of
// every model.
func TestWeightIsRepetition(t *testing.T) {
	ctx := context.Background()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-10*(1e-3+math.Abs(b)) }
	for k, m := range pare.Models() {
		for seed := range uint64(3) {
			if !oracle.Turn(k+int(seed), 1) {
				continue
			}
			q := drawRepeated(t, m, seed)
			c := pare.Config{Model: m, Tol: 1e-15, NoIntercept: seed == 2, Standardize: !m.Traits().Convex}
			w := c
			w.Weights = q.weights
			lambda := somewhere(t, q.rowsX, q.rowsY, c)
			if l := somewhere(t, q.x, q.y, w); !slices.EqualFunc(l, lambda, near) {
				t.Fatalf("%s: λmax − 2 is %v with weights, %v repeated", m, l, lambda)
			}
			a, err := pare.Fit(ctx, q.x, q.y, lambda, w)
			if err != nil {
				t.Fatal(err)
			}
			b, err := pare.Fit(ctx, q.rowsX, q.rowsY, lambda, c)
			if err != nil {
				t.Fatal(err)
			}
			all, each := []*pare.Fitted{a}, []*pare.Fitted{b}
			if a.PerClass != nil {
				all, each = a.PerClass, b.PerClass
			}
			for k, f := range all {
				g := each[k]
				if !slices.Equal(f.Support, g.Support) || !near(f.Intercept, g.Intercept) || !near(f.Objective, g.Objective) {
					t.Errorf("%s, seed %d: %+v with weights, %+v repeated", m, seed, f, g)
				}
				for i := range f.Coef {
					if math.Abs(f.Coef[i]-g.Coef[i]) > 1e-10 {
						t.Errorf("%s, seed %d: coefficient %g with weights, %g repeated", m, seed, f.Coef[i], g.Coef[i])
					}
				}
			}
			h, err := pare.Gradient(ctx, q.x, q.y, lambda, pare.Validation{FoldIDs: q.folds}, w)
			if err != nil {
				t.Fatal(err)
			}
			i, err := pare.Gradient(ctx, q.rowsX, q.rowsY, lambda, pare.Validation{FoldIDs: q.times}, c)
			if err != nil {
				t.Fatal(err)
			}
			if m == pare.Lasso || m == pare.Logistic || m == pare.SVM {
				w.Method, w.Tol = pare.BackwardPCD, 1e-10
				along, err := pare.Gradient(ctx, q.x, q.y, lambda, pare.Validation{FoldIDs: q.folds}, w)
				if err != nil || math.Abs(along.Gradient[0]-h.Gradient[0]) > 1e-5*math.Abs(h.Gradient[0]) {
					t.Errorf("%s, seed %d: %v, gradient %v along the iterates, %v at the solution", m, seed, err, along, h.Gradient)
				}
			}
			if !near(h.Value, i.Value) || !slices.EqualFunc(h.Gradient, i.Gradient, near) {
				t.Errorf("%s, seed %d: value %.15g and gradient %v with weights, %.15g and %v repeated", m, seed, h.Value, h.Gradient, i.Value, i.Gradient)
			}
		}
	}
}

// TestWeightsAreChecked checks that invalid weights are refused, and that information criteria refuse weights.
func TestWeightsAreChecked(t *testing.T) {
	ctx := context.Background()
	x, y := load(t)
	one := func(at int, v float64) []float64 {
		w := slices.Repeat([]float64{1}, len(y))
		w[at] = v
		return w
	}
	for name, c := range map[string]struct {
		weights []float64
		kind    outcome.Kind
		row     int
	}{
		"too few":  {[]float64{1, 2}, outcome.Shape, -1},
		"negative": {one(3, -1), outcome.BadParameter, 3},
		"NaN":      {one(5, math.NaN()), outcome.BadParameter, 5},
		"infinite": {one(7, math.Inf(1)), outcome.BadParameter, 7},
		"all zero": {make([]float64, len(y)), outcome.Shape, -1},
	} {
		_, err := pare.Fit(ctx, x, y, []float64{-1}, pare.Config{Weights: c.weights})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != c.kind || e.HasRow != (c.row >= 0) || e.HasRow && e.Row != c.row {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := slices.Repeat([]float64{1}, len(y))
	for i := range 5 {
		w[i] = 0 // these rows are fold 2 below
	}
	ids := make([]int, len(y))
	for i := range ids {
		ids[i] = i % 2
		if i < 5 {
			ids[i] = 2
		}
	}
	if _, err := pare.Gradient(ctx, x, y, []float64{-1}, pare.Validation{FoldIDs: ids}, pare.Config{Weights: w}); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("a fold of weight 0: %v", err)
	}
	if _, err := pare.Gradient(ctx, x, y, []float64{-1}, pare.Validation{Criterion: pare.SURE, Sigma: 1}, pare.Config{Weights: w}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("SURE with weights: %v", err)
	}
}

// TestClassWeightsAreOfTheFit checks that a fit with class weights is one with the corresponding row weights, that the
// criterion ignores class weights, and that its slope agrees with finite differences.
func TestClassWeightsAreOfTheFit(t *testing.T) {
	ctx := context.Background()
	for _, m := range []pare.Model{pare.Logistic, pare.SquaredHinge, pare.SVM, pare.Multiclass, pare.Multinomial} {
		for _, balanced := range []bool{true, false} {
			q := drawRepeated(t, m, 5)
			c := pare.Config{Model: m, Tol: 1e-13, Weights: q.weights, Balanced: balanced}
			kinds := slices.Compact(slices.Sorted(slices.Values(q.y)))
			if !balanced {
				c.ClassWeights = []float64{2, 0.5, 3}[:len(kinds)]
			}
			train, rows := make([]float64, len(q.y)), slices.Clone(q.folds)
			var all float64
			held := make([]float64, len(kinds))
			for i, fold := range q.folds {
				k, _ := slices.BinarySearch(kinds, q.y[i])
				if rows[i] = -1; fold == 0 {
					rows[i] = 0
					continue
				}
				train[i] = q.weights[i]
				held[k] += train[i]
				all += train[i]
			}
			for i, y := range q.y {
				k, _ := slices.BinarySearch(kinds, y)
				if balanced {
					train[i] *= all / (float64(len(kinds)) * held[k])
				} else {
					train[i] *= c.ClassWeights[k]
				}
			}
			plain := c
			plain.Weights, plain.ClassWeights, plain.Balanced = train, nil, false
			lambda := somewhere(t, q.x, q.y, plain)
			fold := c
			fold.Weights = slices.Clone(q.weights)
			for i, of := range rows {
				if of == 0 {
					fold.Weights[i] = 0
				}
			}
			want, err := pare.Fit(ctx, q.x, q.y, lambda, plain)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pare.Fit(ctx, q.x, q.y, lambda, fold)
			if err != nil || math.Abs(got.Objective-want.Objective) > 1e-12*want.Objective {
				t.Errorf("%s, balanced %t: Φ = %.15g, %v; %.15g with weights of the rows", m, balanced, got.Objective, err, want.Objective)
			}
			v := pare.Validation{Criterion: pare.HoldOut, FoldIDs: rows}
			h, err := pare.Gradient(ctx, q.x, q.y, lambda, v, c)
			if err != nil {
				t.Fatal(err)
			}
			if m == pare.Logistic {
				scores := make([]float64, len(q.y))
				if err := want.Predictor().Decide(q.x, scores); err != nil {
					t.Fatal(err)
				}
				var out []int32
				for i, of := range rows {
					if of == 0 {
						out = append(out, int32(i))
					}
				}
				judge := criterion.Weighted{Criterion: criterion.Of(loss.Logistic{}), Weights: q.weights}
				if value := judge.Eval(out, q.y, scores, nil, nil); math.Abs(h.Value-value) > 1e-6*value {
					t.Errorf("balanced %t: the criterion is %g, with the weights of the rows %g", balanced, h.Value, value)
				}
			}
			const step = 1e-4
			var values []float64
			for _, d := range []float64{step, -step} {
				moved := slices.Clone(lambda)
				moved[0] += d
				for e, err := range pare.Validate(ctx, q.x, q.y, [][]float64{moved}, v, c) {
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, e.Value)
				}
			}
			if slope := (values[0] - values[1]) / (2 * step); math.Abs(h.Gradient[0]-slope) > 1e-5*(math.Abs(slope)+0.01*h.Value) {
				t.Errorf("%s, balanced %t: slope %g, by differences %g", m, balanced, h.Gradient[0], slope)
			}
		}
	}
}

// TestClassWeightsAreRefused checks that models for which class weights have no meaning refuse them by the name of the
// flag.
func TestClassWeightsAreRefused(t *testing.T) {
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 12, P: 3})
	x := matrixOf(t, q.X, 3, true)
	labels := make([]float64, 12)
	for i := range labels {
		labels[i] = float64(i%2*2 - 1)
	}
	for _, c := range []pare.Config{
		{Model: pare.Lasso, Balanced: true},
		{Model: pare.SVR, ClassWeights: []float64{1, 1}},
		{Model: pare.Logistic, ClassWeights: []float64{1}},
		{Model: pare.Logistic, ClassWeights: []float64{1, 0}},
		{Model: pare.Logistic, ClassWeights: []float64{1, math.Inf(1)}},
		{Model: pare.Logistic, ClassWeights: []float64{1, 1}, Balanced: true},
	} {
		y := labels
		if c.Model != pare.Logistic {
			y = q.Y
		}
		_, err := pare.LogLambdaMax(x, y, c)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Flag != "class-weight" {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// offsets returns one small number per row.
func offsets(n int) []float64 {
	o := make([]float64, n)
	for i := range o {
		o[i] = 0.3 * math.Sin(float64(i))
	}
	return o
}

// TestOffsetOfTheSquaredLoss checks that, for the squared loss, an offset is the same as subtracting it from the
// target, except in predictions.
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

// TestExposure checks that counts whose offsets are the logarithms of exposures are equivalent to rates weighted by the
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

// TestOffsetsThatCannotBe checks that invalid offsets are refused by name.
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

// TestRowsOfWeight0HaveNoLoss checks that rows of weight 0 have no effect, even if their predictions overflow:
// objectives, criteria and their slopes are those of the other rows, and measures and refits use the other rows alone.
func TestRowsOfWeight0HaveNoLoss(t *testing.T) {
	q := drawRepeated(t, pare.Poisson, 3)
	n, p := q.x.Dims()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, p)
	}
	for j := range p {
		at, values := q.x.Column(j)
		for k, i := range at {
			rows[i][j] = values[k]
		}
		for i, w := range q.weights {
			if w == 0 {
				rows[i][j] = 1e6
			}
		}
	}
	c := pare.Config{Model: pare.Poisson, Weights: q.weights}
	o := pare.SelectOptions{Validation: pare.Validation{FoldIDs: q.folds}, Search: pare.Grid, Points: 8, Measures: true, Relaxed: true}
	plain, err := pare.Select(t.Context(), q.x, q.y, o, c)
	if err != nil {
		t.Fatal(err)
	}
	x := matrixOf(t, rows, p, false)
	far, err := pare.Select(t.Context(), x, q.y, o, c)
	if err != nil || far.Status != plain.Status {
		t.Fatalf("%+v, %v", far, err)
	}
	slope := func(x sparse.Matrix) float64 {
		h, err := pare.Gradient(t.Context(), x, q.y, plain.LogLambda, o.Validation, c)
		if err != nil || h.Status != outcome.Converged {
			t.Fatalf("%+v, %v", h, err)
		}
		return h.Gradient[0]
	}
	leftOut := func(x sparse.Matrix) float64 {
		l, err := pare.LeaveOneOut(t.Context(), x, q.y, plain.LogLambda, c)
		if err != nil {
			t.Fatal(err)
		}
		return l.Value
	}
	for k, pair := range [][2]float64{{far.Value, plain.Value}, {far.Final.Objective, plain.Final.Objective}, {leftOut(x), leftOut(q.x)}, {slope(x), slope(q.x)}, {far.Measures[0].Value, plain.Measures[0].Value}, {far.RelaxedValue, plain.RelaxedValue}} {
		if !(math.Abs(pair[0]-pair[1]) <= 1e-6*plain.Value) {
			t.Errorf("%d: %.12g, as they were %.12g", k, pair[0], pair[1])
		}
	}
}

// TestConstantColumnUnderFarOffsets checks that an unpenalised column of ones acts as an intercept, even if the loss at
// β = 0 is e^600 times that of the null model.
func TestConstantColumnUnderFarOffsets(t *testing.T) {
	const n = 30
	rows, alone, y := make([][]float64, n), make([][]float64, n), make([]float64, n)
	for i := range n {
		x := float64(i%7) - 3
		rows[i], alone[i], y[i] = []float64{1, x}, []float64{x}, float64(1+i*i%5)
	}
	with, without := matrixOf(t, rows, 2, true), matrixOf(t, alone, 1, true)
	for _, m := range []pare.Model{pare.Poisson, pare.Gamma, pare.Tweedie} {
		for _, far := range []float64{-300, -50, 0, 50, 100, 600} {
			c := pare.Config{Model: m, Offset: offsets(n)}
			for i := range c.Offset {
				c.Offset[i] += far
			}
			column := c
			column.NoIntercept, column.PenaltyFactors = true, []float64{0, 1}
			want, got := lambdaMax(t, without, y, c), lambdaMax(t, with, y, column)
			if !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("%s, offsets of %g: ln αmax %g, want %g", m, far, got, want)
				continue
			}
			a, err := pare.Fit(t.Context(), without, y, []float64{want - 1}, c)
			if err != nil {
				t.Fatal(err)
			}
			b, err := pare.Fit(t.Context(), with, y, []float64{want - 1}, column)
			if err != nil {
				t.Fatal(err)
			}
			if b.Status != outcome.Converged || !(math.Abs(b.Objective-a.Objective) <= 2e-6*a.Objective) {
				t.Errorf("%s, offsets of %g: %s, %g, want %g", m, far, b.Status, b.Objective, a.Objective)
			}
			v := pare.Validation{InOrder: true}
			for one, err := range pare.Validate(t.Context(), without, y, [][]float64{{want - 1}}, v, c) {
				for other, wrong := range pare.Validate(t.Context(), with, y, [][]float64{{want - 1}}, v, column) {
					if err != nil || wrong != nil || !(math.Abs(one.Value-other.Value) <= 1e-4*one.Value) {
						t.Errorf("%s, offsets of %g: criterion %g, want %g, %v, %v", m, far, other.Value, one.Value, err, wrong)
					}
				}
			}
		}
	}
}

// TestAnOutlierOfWeightZeroIsAbsent checks losses of unbounded curvature: the bits of a fit do not depend on the
// numbers in a row of weight 0, for example a held-out one.
func TestAnOutlierOfWeightZeroIsAbsent(t *testing.T) {
	ctx := context.Background()
	const absent = 7
	r := oracle.NewRandom(5)
	rows, y, weights := make([][]float64, 30), make([]float64, 30), make([]float64, 30)
	for i := range rows {
		rows[i] = []float64{r.Normal(), r.Normal(), r.Normal(), r.Normal()}
		y[i], weights[i] = kernels.Exp(float64(0.5*rows[i][0])+float64(0.3*r.Normal())), 1
	}
	weights[absent] = 0
	ordinary := rows[absent]
	for _, l := range []loss.Loss{loss.Poisson{}, loss.Gamma{}, loss.Tweedie{}} {
		for _, model := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.Ridge} {
			for _, dense := range []bool{true, false} {
				c := pare.Config{Model: model, Loss: l, Weights: weights}
				var want *pare.Fitted
				for _, size := range []float64{1, 1e3, 1e9, 1e100} {
					rows[absent] = every([][]float64{ordinary}, func(v float64) float64 { return size * v })[0]
					x := matrixOf(t, rows, 4, dense)
					lambda := somewhere(t, x, y, c)
					f, err := pare.Fit(ctx, x, y, lambda, c)
					switch {
					case err != nil || !f.Status.OK():
						t.Errorf("%s, %s, dense %v, %g: %+v, %v", l.Name(), model, dense, size, f, err)
					case want == nil:
						want = f
					case f.Objective != want.Objective || !slices.Equal(f.Coef, want.Coef) || f.Epochs != want.Epochs:
						t.Errorf("%s, %s, dense %v, %g: objective %g after %d sweeps, want %g after %d", l.Name(), model, dense, size, f.Objective, f.Epochs, want.Objective, want.Epochs)
					}
				}
			}
		}
	}
	rows[absent] = ordinary
}
