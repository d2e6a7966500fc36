package pare_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// flowers draws a sparse problem of four classes, labelled −2, 0, 1 and 30.
func flowers(t *testing.T) (sparse.Matrix, []float64) {
	t.Helper()
	x, y := text(t)
	order := slices.Sorted(slices.Values(y))
	labels := []float64{-2, 0, 1, 30}
	out := make([]float64, len(y))
	for i, v := range y {
		at, _ := slices.BinarySearch(order, v)
		out[i] = labels[at*len(labels)/len(y)]
	}
	return x, out
}

// against returns the target of the binary problem of one class against all other classes.
func against(y []float64, class float64) []float64 {
	out := repeat(-1, len(y))
	for i, v := range y {
		if v == class {
			out[i] = 1
		}
	}
	return out
}

// TestMulticlassIsOneVersusRest checks that each class has the λmax and the solution of its own
// logistic regression, also along a path.
func TestMulticlassIsOneVersusRest(t *testing.T) {
	x, y := flowers(t)
	c := pare.Config{Model: pare.Multiclass, Tol: 1e-10}
	top, err := pare.LogLambdaMax(x, y, c)
	if err != nil || len(top) != 4 {
		t.Fatalf("%v, %v", top, err)
	}
	var grid [][]float64
	for _, below := range []float64{0.5, 1, 2} {
		grid = append(grid, []float64{top[0] - below, top[1] - 2*below, top[2], top[3] - 0.1})
	}
	step := 0
	for f, err := range pare.Path(context.Background(), x, y, grid, c) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Status != outcome.Converged || !slices.Equal(f.Classes, []float64{-2, 0, 1, 30}) || !slices.Equal(f.LogLambda, grid[step]) || !slices.Equal(f.LogLambdaMax, top) {
			t.Errorf("point %d: %+v", step, f)
		}
		var objective float64
		for k, one := range f.PerClass {
			alone, err := pare.Fit(context.Background(), x, against(y, f.Classes[k]), []float64{grid[step][k]}, pare.Config{Model: pare.Logistic, Tol: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			objective += one.Objective
			if !slices.Equal(one.LogLambdaMax, alone.LogLambdaMax) || math.Abs(one.Objective-alone.Objective) > 1e-10 || one.RelativeGap > f.RelativeGap {
				t.Errorf("point %d, class %g: %+v, alone %+v", step, f.Classes[k], one, alone)
			}
			for _, j := range one.Support {
				if !slices.Contains(f.Support, j) {
					t.Errorf("point %d: column %d of class %g is not among those of all", step, j, f.Classes[k])
				}
			}
		}
		if math.Abs(objective-f.Objective) > 1e-14 || len(f.PerClass[2].Support) != 0 {
			t.Errorf("point %d: %+v", step, f)
		}
		step++
	}
	if step != len(grid) {
		t.Errorf("%d points", step)
	}
}

// TestMulticlassGradientAgainstDifferences checks the derivative in the λ of each class.
func TestMulticlassGradientAgainstDifferences(t *testing.T) {
	x, y := flowers(t)
	for _, c := range []pare.Config{{Model: pare.Multiclass, Tol: 1e-13}, {Model: pare.Multiclass, Tol: 1e-13, NoIntercept: true}} {
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		lambda := []float64{top[0] - 0.5, top[1] - 1, top[2] - 0.7, top[3] - 0.6}
		value := func(l []float64) *pare.Hypergradient {
			g, err := pare.Gradient(context.Background(), x, y, l, pare.Validation{InOrder: true, Folds: 3}, c)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		g := value(lambda)
		if g.Status != outcome.Converged || len(g.Gradient) != 4 {
			t.Errorf("%+v", g)
		}
		for i := range lambda {
			const h = 1e-5
			up, down := slices.Clone(lambda), slices.Clone(lambda)
			up[i] += h
			down[i] -= h
			want := (value(up).Value - value(down).Value) / (2 * h)
			if math.Abs(g.Gradient[i]-want) > 1e-5*(math.Abs(want)+0.01) {
				t.Errorf("∂/∂λ%d = %.10g, differences %.10g", i+1, g.Gradient[i], want)
			}
		}
	}
}

// TestMulticlassSelect checks that all evaluations lie on the ray on which every class has the
// same ratio α/αmax, or start from the best point of the ray with one λ per class, and that
// budgets count both stages together.
func TestMulticlassSelect(t *testing.T) {
	x, y := load(t)
	for i, v := range y {
		y[i] = math.Floor(v / 120)
	}
	c := pare.Config{Model: pare.Multiclass}
	var seen []search.Evaluation
	choose := func(o pare.SelectOptions) *pare.Selection {
		seen = nil
		o.Validation = pare.Validation{InOrder: true, Folds: 2}
		if o.Search == pare.GradientStep {
			o.Start = 0.3
		}
		o.Progress = func(e search.Evaluation) { seen = append(seen, e) }
		s, err := pare.Select(context.Background(), x, y, o, c)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range s.Evaluations {
			if e.Final && e.Value < s.Value || len(e.LogLambda) != 3 || !slices.Equal(e.LogLambda, seen[i].LogLambda) {
				t.Errorf("%+v: evaluation %d is %+v, the best has %g", o, i, e, s.Value)
			}
		}
		if len(seen) != len(s.Evaluations) || len(s.Final.PerClass) != 3 || !slices.Equal(s.Final.LogLambda, s.LogLambda) {
			t.Errorf("%+v: %d seen, %+v", o, len(seen), s)
		}
		return s
	}
	share := func(s *pare.Selection, l []float64, k int) float64 { return l[k] - s.Final.LogLambdaMax[k] }
	one := choose(pare.SelectOptions{})
	for _, e := range one.Evaluations {
		for k := range 3 {
			if math.Abs(share(one, e.LogLambda, k)-share(one, e.LogLambda, 0)) > 1e-14 {
				t.Errorf("off the ray: %v", e.LogLambda)
			}
		}
	}
	if len(one.Gradient) != 1 || !one.Status.OK() || one.Value >= one.NullValue {
		t.Errorf("%+v", one)
	}
	each := choose(pare.SelectOptions{PerClass: true})
	if each.Value > one.Value || len(each.Evaluations) <= len(one.Evaluations) {
		t.Errorf("%g for each, %g for all", each.Value, one.Value)
	}
	for _, budget := range []int{1, len(one.Evaluations), len(one.Evaluations) + 2} {
		if s := choose(pare.SelectOptions{PerClass: true, Evaluations: budget}); len(s.Evaluations) != budget {
			t.Errorf("a budget of %d, %d evaluations, %s", budget, len(s.Evaluations), s.Status)
		}
	}
	grid := choose(pare.SelectOptions{Search: pare.Grid, Points: 12, MinRatio: 0.1})
	if len(grid.Evaluations) != 12 || one.Value > grid.Value*(1+1e-3) {
		t.Errorf("the grid has %g, the search %g", grid.Value, one.Value)
	}
}

// TestMulticlassArguments checks that invalid labels and strengths are refused.
func TestMulticlassArguments(t *testing.T) {
	x, y := flowers(t)
	c := pare.Config{Model: pare.Multiclass}
	bad := slices.Clone(y)
	bad[3] = math.Inf(1)
	rare := slices.Clone(y)
	rare[0] = 99 // a class of a single row cannot be both in training and held out
	fit := func(y, lambda []float64) error { _, err := pare.Fit(context.Background(), x, y, lambda, c); return err }
	choose := func(o pare.SelectOptions, c pare.Config, y []float64) error {
		_, err := pare.Select(context.Background(), x, y, o, c)
		return err
	}
	for name, test := range map[string]struct {
		err  error
		kind outcome.Kind
	}{
		"one λ for four":     {fit(y, []float64{-1}), outcome.Shape},
		"a NaN λ":            {fit(y, []float64{-1, -1, math.NaN(), -1}), outcome.BadParameter},
		"one class":          {fit(repeat(4, len(y)), []float64{-1}), outcome.SingleClass},
		"infinite label":     {fit(bad, repeat(-1, 4)), outcome.NonFinite},
		"short labels":       {fit(y[:9], repeat(-1, 4)), outcome.Shape},
		"a class of one row": {choose(pare.SelectOptions{}, c, rare), outcome.SingleClass},
		"per class, Lasso":   {choose(pare.SelectOptions{PerClass: true}, pare.Config{}, y), outcome.Usage},
		"per class, grid":    {choose(pare.SelectOptions{PerClass: true, Search: pare.Grid}, c, y), outcome.Usage},
		"unknown search":     {choose(pare.SelectOptions{Search: "luck"}, c, y), outcome.Usage},
	} {
		if outcome.KindOf(test.err) != test.kind {
			t.Errorf("%s: %v", name, test.err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if f, err := pare.Fit(ctx, x, y, repeat(-9, 4), c); err != nil || f.Status != outcome.Cancelled {
		t.Errorf("cancelled: %v, %+v", err, f)
	}
}

// TestMulticlassBits checks that the bits do not depend on the number of threads or the kernel
// set.
func TestMulticlassBits(t *testing.T) {
	x, y := flowers(t)
	var want *pare.Selection
	for _, k := range kernels.Available() {
		for _, threads := range []int{1, 3} {
			if threads == 1 && oracle.Few() {
				continue
			}
			s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Evaluations: 2, Validation: pare.Validation{InOrder: true, Folds: 2}},
				pare.Config{Model: pare.Multiclass, Kernels: k.Name, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			s = timeless(s)
			s.Final.Kernels = ""
			for _, one := range s.Final.PerClass {
				one.Kernels = ""
			}
			if want == nil {
				want = s
			}
			if !reflect.DeepEqual(s, want) {
				t.Errorf("%s with %d threads differs", k.Name, threads)
			}
		}
	}
}

// TestSlopesOfClassesOnSharedData checks on real data that the hypergradient of the
// cross-entropy in the λ of a class agrees with finite differences.
func TestSlopesOfClassesOnSharedData(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the oracle's problems are tested in bilevel all the same")
	}
	for name, ratio := range map[string]float64{"usps_t": 0.05, "reuters_multi53": 0.1} {
		x, y := shared(t, name)
		c := pare.Config{Model: pare.Multiclass, Tol: 1e-11}
		v := pare.Validation{InOrder: true, Criterion: pare.HoldOut, Split: pare.Stratified, Folds: 3}
		at, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		for k := range at {
			at[k] += math.Log(ratio)
		}
		g, err := pare.Gradient(context.Background(), x, y, at, v, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{len(at) / 3, 2 * len(at) / 3} {
			const h = 1e-4
			var values []float64
			up, down := append([]float64(nil), at...), append([]float64(nil), at...)
			up[k] += h
			down[k] -= h
			for e, err := range pare.Validate(context.Background(), x, y, [][]float64{up, down}, v, c) {
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, e.Value)
			}
			if want := (values[0] - values[1]) / (2 * h); math.Abs(g.Gradient[k]-want) > 0.01*math.Abs(want)+1e-9 {
				t.Errorf("%s, class %d: slope %g, by differences %g (%s)", name, k, g.Gradient[k], want, g.Status)
			}
		}
	}
}
