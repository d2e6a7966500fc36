package pare_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/subject"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// diabetes reads the embedded data, as sparse storage has them.
func diabetes() (*sparse.CSC, []float64, error) {
	text, err := gzip.NewReader(embedded.Diabetes())
	if err != nil {
		return nil, nil, err
	}
	return sparse.ReadSVMLight(context.Background(), text, sparse.ReadOptions{})
}

func load(t *testing.T) (sparse.Matrix, []float64) {
	t.Helper()
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	return sparse.Compact(x), y
}

// text makes a sparse problem with the look of text: short columns, some empty.
func text(t *testing.T) (sparse.Matrix, []float64) {
	t.Helper()
	r := oracle.NewRandom(20)
	q := r.Problem(oracle.Shape{N: 150, P: 400, Density: 0.03, Active: 25})
	return subject.Matrix(t, q, false), q.Y
}

// squared are the models of the squared loss.
var squared = []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge}

// fingerprint hashes every number of X and y.
func fingerprint(x sparse.Matrix, y []float64) uint64 {
	h := fnv.New64a()
	word := func(v uint64) {
		var b [8]byte
		for i := range b {
			b[i] = byte(v >> (8 * i))
		}
		h.Write(b[:])
	}
	_, p := x.Dims()
	for j := range p {
		rows, values := x.Column(j)
		for _, i := range rows {
			word(uint64(i))
		}
		for _, v := range values {
			word(math.Float64bits(v))
		}
	}
	for _, v := range y {
		word(math.Float64bits(v))
	}
	return h.Sum64()
}

// problemOf is the oracle's view of the same data.
func problemOf(x sparse.Matrix, y []float64, intercept bool) *oracle.Problem {
	n, p := x.Dims()
	q := &oracle.Problem{X: make([][]float64, n), Y: y, Alpha: make([]float64, p), Intercept: intercept}
	for i := range q.X {
		q.X[i] = make([]float64, p)
	}
	for j := range p {
		rows, values := x.Column(j)
		for k, v := range values {
			i := k
			if rows != nil {
				i = int(rows[k])
			}
			q.X[i][j] = v
		}
	}
	return q
}

func lambdaMax(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) float64 {
	t.Helper()
	top, err := pare.LogLambdaMax(x, y, c)
	if err != nil {
		t.Fatal(err)
	}
	return top[0]
}

// repeat returns n times v.
func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestFitAgainstTheOracle: every model on the embedded data, with and without
// intercept: λmax, certificate, coefficients.
func TestFitAgainstTheOracle(t *testing.T) {
	x, y := load(t)
	_, p := x.Dims()
	for _, without := range []bool{false, true} {
		q := problemOf(x, y, !without)
		top := lambdaMax(t, x, y, pare.Config{NoIntercept: without})
		if want := math.Log(q.AlphaMax()); math.Abs(top-want) > 1e-13 {
			t.Errorf("ln αmax = %.16g, want %.16g", top, want)
		}
		for _, m := range squared {
			for _, below := range []float64{0.5, 2, 5} {
				lambda := []float64{top - below}
				c := q.Clone().Uniform(math.Exp(top - below))
				switch m {
				default:
				case pare.ElasticNet:
					lambda = append(lambda, top-6)
					c.Ridge = math.Exp(top - 6)
				case pare.WeightedLasso:
					lambda = repeat(top-below, p)
					lambda[2], lambda[3] = math.Inf(1), math.Inf(-1)
					c.Alpha[2], c.Alpha[3] = math.Inf(1), 0
				case pare.Ridge:
					c.Uniform(0).Ridge = math.Exp(top - below)
				}
				name := fmt.Sprintf("%s at λmax − %g, intercept %v", m, below, !without)
				f, err := pare.Fit(context.Background(), x, y, lambda, pare.Config{Model: m, NoIntercept: without, Tol: 1e-13})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				best, null := c.Solve(), c.Null()
				if f.Status != outcome.Converged || f.RelativeGap > 1e-13 || !slices.Equal(f.LogLambda, lambda) || len(f.LogLambdaMax) != len(lambda) {
					t.Errorf("%s: %+v", name, f)
				}
				if math.Abs(f.Objective-best.Objective) > 1e-12*null {
					t.Errorf("%s: objective %.16g, want %.16g", name, f.Objective, best.Objective)
				}
				got := make([]float64, p)
				for k, j := range f.Support {
					got[j] = f.Coef[k]
				}
				for j := range got {
					if math.Abs(got[j]-best.Beta[j]) > 1e-4 { // coefficients are of the order of 500
						t.Errorf("%s: β_%d = %.10g, want %.10g", name, j, got[j], best.Beta[j])
					}
				}
				if math.Abs(f.Intercept-best.Intercept) > 1e-6 {
					t.Errorf("%s: intercept %.10g, want %.10g", name, f.Intercept, best.Intercept)
				}
			}
		}
	}
}

// TestZeroAtLambdaMax: from the λmax returned on, every coefficient is 0.
func TestZeroAtLambdaMax(t *testing.T) {
	x, y := load(t)
	top := lambdaMax(t, x, y, pare.Config{})
	for _, above := range []float64{0, 1e-9, 1, 20} {
		f, err := pare.Fit(context.Background(), x, y, []float64{top + above}, pare.Config{})
		if err != nil || len(f.Support) != 0 || f.Status != outcome.Converged || f.Epochs != 0 {
			t.Errorf("λmax + %g: %v, %+v", above, err, f)
		}
		g, err := pare.Gradient(context.Background(), x, y, []float64{top + 1 + above}, pare.Validation{}, pare.Config{})
		if err != nil || g.Status != outcome.Flat || g.Gradient[0] != 0 {
			t.Errorf("gradient at λmax + 1 + %g: %v, %+v", above, err, g)
		}
	}
}

// TestPathIsFits: a path gives, to its tolerance, what separate fits give, and
// ends where it is told to, at an error, or with its context.
func TestPathIsFits(t *testing.T) {
	x, y := text(t)
	top := lambdaMax(t, x, y, pare.Config{})
	grid := search.Geometric(top, -4, 12)
	null := problemOf(x, y, true).Null()
	count := 0
	for f, err := range pare.Path(context.Background(), x, y, grid, pare.Config{Tol: 1e-8}) {
		if err != nil {
			t.Fatal(err)
		}
		alone, err := pare.Fit(context.Background(), x, y, grid[count], pare.Config{Tol: 1e-8})
		if err != nil {
			t.Fatal(err)
		}
		if f.Status != outcome.Converged || f.RelativeGap > 1e-8 || math.Abs(f.Objective-alone.Objective) > 1e-8*null || f.LogLambda[0] != grid[count][0] {
			t.Errorf("point %d: %+v, alone %+v", count, f, alone)
		}
		count++
	}
	if count != len(grid) {
		t.Errorf("%d of %d points", count, len(grid))
	}
	count = 0
	for _, err := range pare.Path(context.Background(), x, y, grid, pare.Config{}) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count == 3 {
			break
		}
	}
	if count != 3 {
		t.Errorf("went on after the end: %d", count)
	}
	var failures []error
	for f, err := range pare.Path(context.Background(), x, y, [][]float64{{top}, {math.NaN()}, {top}}, pare.Config{}) {
		if (f == nil) != (err != nil) {
			t.Errorf("%v and %v", f, err)
		}
		failures = append(failures, err)
	}
	if len(failures) != 2 || failures[0] != nil || !isKind(failures[1], outcome.BadParameter) {
		t.Errorf("a NaN in the middle: %v", failures)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var statuses []outcome.Status
	for f, err := range pare.Path(ctx, x, y, [][]float64{{top - 1}, {top - 2}}, pare.Config{}) {
		if err != nil {
			t.Fatal(err)
		}
		statuses = append(statuses, f.Status)
	}
	if !slices.Equal(statuses, []outcome.Status{outcome.Cancelled}) {
		t.Errorf("cancelled: %v", statuses)
	}
}

// TestValidateIsTheValueOfGradient: along a grid, and at its errors.
func TestValidateIsTheValueOfGradient(t *testing.T) {
	x, y := text(t)
	top := lambdaMax(t, x, y, pare.Config{})
	grid := search.Geometric(top, -3, 6)
	v := pare.Validation{Folds: 4, Shuffle: true, Seed: 3}
	count := 0
	for e, err := range pare.Validate(context.Background(), x, y, grid, v, pare.Config{Tol: 1e-10}) {
		if err != nil {
			t.Fatal(err)
		}
		g, err := pare.Gradient(context.Background(), x, y, grid[count], v, pare.Config{Tol: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Value-g.Value) > 1e-8*g.Value || e.Gradient != nil {
			t.Errorf("point %d: %+v, gradient's value %.15g", count, e, g.Value)
		}
		count++
	}
	if count != len(grid) {
		t.Errorf("%d of %d points", count, len(grid))
	}
}

// TestGradientAgainstDifferences, through the façade, for each model.
func TestGradientAgainstDifferences(t *testing.T) {
	x, y := load(t)
	_, p := x.Dims()
	top := lambdaMax(t, x, y, pare.Config{})
	for _, m := range squared {
		for _, hold := range []bool{false, true} {
			lambda := []float64{top - 2.3}
			switch m {
			default:
			case pare.ElasticNet:
				lambda = append(lambda, top-7)
			case pare.WeightedLasso:
				lambda = repeat(top-2.3, p)
			}
			c := pare.Config{Model: m, Tol: 1e-13}
			v := pare.Validation{Folds: 3, Shuffle: true, Seed: 1}
			if hold {
				v.Criterion = pare.HoldOut
			}
			value := func(lambda []float64) *pare.Hypergradient {
				g, err := pare.Gradient(context.Background(), x, y, lambda, v, c)
				if err != nil {
					t.Fatal(err)
				}
				return g
			}
			g := value(lambda)
			if g.Status != outcome.Converged || len(g.Gradient) != len(lambda) || len(g.LogLambdaMax) != len(lambda) {
				t.Errorf("%s: %+v", m, g)
			}
			for i := range lambda {
				const h = 1e-4
				up, down := slices.Clone(lambda), slices.Clone(lambda)
				up[i] += h
				down[i] -= h
				want := (value(up).Value - value(down).Value) / (2 * h)
				if math.Abs(g.Gradient[i]-want) > 1e-5*(math.Abs(want)+1e-3*g.Value) {
					t.Errorf("%s, hold-out %v: ∂/∂λ%d = %.10g, differences %.10g", m, hold, i+1, g.Gradient[i], want)
				}
			}
		}
	}
}

// TestSelectFindsTheMinimum: against a fine grid on the same folds; from the
// default start and from three far ones; refitted on all rows.
func TestSelectFindsTheMinimum(t *testing.T) {
	x, y := load(t)
	splits := []pare.Validation{{}, {Shuffle: true, Seed: 42}, {Criterion: pare.HoldOut}, {Folds: 10}}
	starts := []float64{0, 0.3, 0.01, 2, 1e-4}
	for _, v := range splits[:min(len(splits), int(oracle.Cases(len(splits))))] {
		grid, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: v, Search: pare.Grid, Points: 200}, pare.Config{Tol: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		if len(grid.Evaluations) != 200 || grid.Gradient != nil {
			t.Errorf("grid: %d evaluations", len(grid.Evaluations))
		}
		for _, method := range []pare.Search{"", pare.Auto, pare.GradientStep} {
			for _, start := range starts[:min(len(starts), int(oracle.Cases(len(starts))))] {
				name := fmt.Sprintf("%+v, search %q from %g", v, method, start)
				s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: v, Search: method, Start: start}, pare.Config{Tol: 1e-9})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !s.Status.OK() && s.Status != outcome.Budget {
					t.Errorf("%s: %s", name, s.Status)
				}
				for _, e := range s.Evaluations {
					if e.Final && e.Value < s.Value {
						t.Errorf("%s: %g was seen, %g returned", name, e.Value, s.Value)
					}
				}
				if !slices.Equal(s.Final.LogLambda, s.LogLambda) || s.Final.Status != outcome.Converged || s.Final.RelativeGap > 1e-9 {
					t.Errorf("%s: refitted at %v with %s, chosen %v", name, s.Final.LogLambda, s.Final.Status, s.LogLambda)
				}
				if s.NullValue != grid.NullValue || s.Value > s.NullValue {
					t.Errorf("%s: value %g, null value %g and %g", name, s.Value, s.NullValue, grid.NullValue)
				}
				// Curves of few rows have several minima; one of them is found.
				if s.Value > grid.Value*1.02 && s.Status != outcome.Box {
					t.Errorf("%s: %s at %.8g (λ %.4f), the grid has %.8g (λ %.4f)", name, s.Status, s.Value, s.LogLambda[0], grid.Value, grid.LogLambda[0])
				}
				if s.Status != outcome.Stationary && s.Status != outcome.Kink {
					continue
				}
				at := s.LogLambda[0]
				for e, err := range pare.Validate(context.Background(), x, y, [][]float64{{at + 0.005}, {at - 0.005}}, v, pare.Config{Tol: 1e-9}) {
					if err != nil {
						t.Fatal(err)
					}
					if e.Value < s.Value*(1-2e-6) {
						t.Errorf("%s: %s at λ %.4f with %.9g, but %.9g at %.4f", name, s.Status, at, s.Value, e.Value, e.LogLambda[0])
					}
				}
			}
		}
	}
}

// TestSearches: every method gets near the best of a grid in its budget, on the
// coordinates of one λ and of two, and says where it has been.
func TestSearches(t *testing.T) {
	x, y := load(t)
	for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet} {
		c := pare.Config{Model: m}
		grid, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Search: pare.Grid}, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range pare.Searches() {
			s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Search: method, Evaluations: 100}, c)
			if err != nil {
				t.Fatalf("%s, %s: %v", m, method, err)
			}
			if len(s.Evaluations) > 100 || s.Value > grid.Value*1.02 || s.Final == nil || s.Final.Status != outcome.Converged {
				t.Errorf("%s, %s: %s at %g after %d evaluations, the grid has %g", m, method, s.Status, s.Value, len(s.Evaluations), grid.Value)
			}
			for _, e := range s.Evaluations {
				if len(e.LogLambda) != len(s.LogLambda) || e.Final && e.Value < s.Value {
					t.Errorf("%s, %s: %+v, the best is %g", m, method, e, s.Value)
				}
			}
		}
	}
}

// TestSelectElasticNet ends no worse than a product grid, within a thousandth.
func TestSelectElasticNet(t *testing.T) {
	x, y := load(t)
	c := pare.Config{Model: pare.ElasticNet}
	grid, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Search: pare.Grid, Points: 225}, c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.LogLambda) != 2 || len(s.Gradient) != 2 || s.Value > grid.Value*(1+1e-3) {
		t.Errorf("%s at %g (%v) after %d evaluations, the grid has %g (%v)", s.Status, s.Value, s.LogLambda, len(s.Evaluations), grid.Value, grid.LogLambda)
	}
	if len(grid.Evaluations) != 225 {
		t.Errorf("a grid of %d points", len(grid.Evaluations))
	}
}

// TestSelectEnds: by budget and by context, with the best so far.
func TestSelectEnds(t *testing.T) {
	x, y := load(t)
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Evaluations: 2}, pare.Config{})
	if err != nil || s.Status != outcome.Budget || len(s.Evaluations) != 2 || s.Final == nil {
		t.Errorf("a budget of 2: %v, %+v", err, s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	seen := 0
	s, err = pare.Select(ctx, x, y, pare.SelectOptions{Progress: func(search.Evaluation) {
		if seen++; seen == 2 {
			cancel()
		}
	}}, pare.Config{})
	if err != nil || s.Status != outcome.Cancelled || len(s.Evaluations) != 2 || s.LogLambda == nil || s.Final == nil || s.Final.Status == outcome.Converged {
		t.Errorf("cancelled after two: %v, %+v, %+v", err, s, s.Final)
	}
	s, err = pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil || s.Status != outcome.Cancelled || s.Final != nil || s.LogLambda != nil {
		t.Errorf("cancelled before: %v, %+v", err, s)
	}
	if _, err := pare.Gradient(ctx, x, y, []float64{0}, pare.Validation{}, pare.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("gradient of a cancelled context: %v", err)
	}
	if f, err := pare.Fit(ctx, x, y, []float64{0}, pare.Config{}); err != nil || f.Status != outcome.Cancelled {
		t.Errorf("fit of a cancelled context: %v, %+v", err, f)
	}
}

func isKind(err error, kind outcome.Kind) bool {
	e, ok := errors.AsType[*outcome.Error](err)
	return ok && e.Kind == kind
}

// TestArguments: what cannot be done is refused with the kind and the place,
// before anything is reported as done, and X and y stay as they are.
func TestArguments(t *testing.T) {
	x, y := load(t)
	n, p := x.Dims()
	before := fingerprint(x, y)
	bad := slices.Clone(y)
	bad[7] = math.NaN()
	nan, inf := math.NaN(), math.Inf(1)
	ctx := context.Background()
	fit := func(x sparse.Matrix, y, lambda []float64, c pare.Config) error {
		f, err := pare.Fit(ctx, x, y, lambda, c)
		if (f == nil) != (err != nil) {
			t.Errorf("%v and %v", f, err)
		}
		return err
	}
	choose := func(o pare.SelectOptions, c pare.Config) error {
		o.Progress = func(search.Evaluation) { t.Errorf("%+v: evaluated", o) }
		_, err := pare.Select(ctx, x, y, o, c)
		return err
	}
	gradient := func(lambda []float64, v pare.Validation) error {
		_, err := pare.Gradient(ctx, x, y, lambda, v, pare.Config{})
		return err
	}
	ids := make([]int, n)
	ids[5], ids[6] = 1, -3
	positive := make([]int, n)
	positive[4] = 2
	for name, c := range map[string]struct {
		err  error
		kind outcome.Kind
		row  int
	}{
		"no matrix":            {fit(nil, y, []float64{0}, pare.Config{}), outcome.Shape, -1},
		"short y":              {fit(x, y[:5], []float64{0}, pare.Config{}), outcome.Shape, -1},
		"NaN in y":             {fit(x, bad, []float64{0}, pare.Config{}), outcome.NonFinite, 7},
		"no λ":                 {fit(x, y, nil, pare.Config{}), outcome.Shape, -1},
		"two λ for the Lasso":  {fit(x, y, []float64{0, 0}, pare.Config{}), outcome.Shape, -1},
		"one λ for enet":       {fit(x, y, []float64{0}, pare.Config{Model: pare.ElasticNet}), outcome.Shape, -1},
		"one λ for wlasso":     {fit(x, y, []float64{0}, pare.Config{Model: pare.WeightedLasso}), outcome.Shape, -1},
		"NaN λ":                {fit(x, y, []float64{nan}, pare.Config{}), outcome.BadParameter, -1},
		"infinite λ":           {fit(x, y, []float64{inf}, pare.Config{}), outcome.BadParameter, -1},
		"λ = 800":              {fit(x, y, []float64{800}, pare.Config{}), outcome.BadParameter, -1},
		"λ = −800":             {fit(x, y, []float64{-800}, pare.Config{}), outcome.BadParameter, -1},
		"NaN among wlasso's":   {fit(x, y, append(repeat(0, p-1), nan), pare.Config{Model: pare.WeightedLasso}), outcome.BadParameter, -1},
		"tolerance −1":         {fit(x, y, []float64{0}, pare.Config{Tol: -1}), outcome.BadParameter, -1},
		"tolerance 1e-16":      {fit(x, y, []float64{0}, pare.Config{Tol: 1e-16}), outcome.BadParameter, -1},
		"tolerance NaN":        {fit(x, y, []float64{0}, pare.Config{Tol: nan}), outcome.BadParameter, -1},
		"epochs −1":            {fit(x, y, []float64{0}, pare.Config{MaxEpochs: -1}), outcome.BadParameter, -1},
		"unknown model":        {fit(x, y, []float64{0}, pare.Config{Model: "tree"}), outcome.Usage, -1},
		"unknown kernels":      {fit(x, y, []float64{0}, pare.Config{Kernels: "gpu"}), outcome.BadParameter, -1},
		"one fold":             {choose(pare.SelectOptions{Validation: pare.Validation{Folds: 1}}, pare.Config{}), outcome.BadParameter, -1},
		"more folds than rows": {choose(pare.SelectOptions{Validation: pare.Validation{Folds: n + 1}}, pare.Config{}), outcome.BadParameter, -1},
		"fold −3":              {gradient([]float64{0}, pare.Validation{FoldIDs: ids}), outcome.BadParameter, 6},
		"short fold ids":       {gradient([]float64{0}, pare.Validation{FoldIDs: ids[:9]}), outcome.Shape, -1},
		"fold 2 in a hold-out": {gradient([]float64{0}, pare.Validation{FoldIDs: positive, Criterion: pare.HoldOut}), outcome.BadParameter, 4},
		"gradient of two λ":    {gradient([]float64{0, 0}, pare.Validation{}), outcome.Shape, -1},
		"start −1":             {choose(pare.SelectOptions{Start: -1}, pare.Config{}), outcome.BadParameter, -1},
		"start NaN":            {choose(pare.SelectOptions{Start: nan}, pare.Config{}), outcome.BadParameter, -1},
		"start +Inf":           {choose(pare.SelectOptions{Start: inf}, pare.Config{}), outcome.BadParameter, -1},
		"unknown schedule":     {choose(pare.SelectOptions{Schedule: "steep"}, pare.Config{}), outcome.BadParameter, -1},
		"unknown search":       {choose(pare.SelectOptions{Search: "luck"}, pare.Config{}), outcome.Usage, -1},
		"evaluations −1":       {choose(pare.SelectOptions{Evaluations: -1}, pare.Config{}), outcome.BadParameter, -1},
		"points −1":            {choose(pare.SelectOptions{Search: pare.Grid, Points: -1}, pare.Config{}), outcome.BadParameter, -1},
		"ratio 2":              {choose(pare.SelectOptions{Search: pare.Grid, MinRatio: 2}, pare.Config{}), outcome.BadParameter, -1},
		"ratio NaN":            {choose(pare.SelectOptions{Search: pare.Grid, MinRatio: nan}, pare.Config{}), outcome.BadParameter, -1},
		"a grid for wlasso":    {choose(pare.SelectOptions{Search: pare.Grid}, pare.Config{Model: pare.WeightedLasso}), outcome.Usage, -1},
		"SURE for wlasso":      {choose(pare.SelectOptions{Validation: pare.Validation{Criterion: pare.SURE}}, pare.Config{Model: pare.WeightedLasso}), outcome.Usage, -1},
		"select tolerance −1":  {choose(pare.SelectOptions{}, pare.Config{Tol: -1}), outcome.BadParameter, -1},
	} {
		e, ok := errors.AsType[*outcome.Error](c.err)
		if !ok || e.Kind != c.kind || (c.row >= 0) != e.HasRow || (c.row >= 0 && e.Row != c.row) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if fingerprint(x, y) != before {
		t.Error("X or y was changed")
	}
}

// TestConstantTargets: nothing to explain is said, not searched.
func TestConstantTargets(t *testing.T) {
	x, y := load(t)
	for _, value := range []float64{0, 0.1, -7e5} {
		constant := repeat(value, len(y))
		if top := lambdaMax(t, x, constant, pare.Config{}); !math.IsInf(top, -1) {
			t.Errorf("y = %g: ln αmax = %g", value, top)
		}
		f, err := pare.Fit(context.Background(), x, constant, []float64{-20}, pare.Config{})
		if err != nil || len(f.Support) != 0 || f.Gap != 0 || f.Status != outcome.Converged || f.Intercept != value {
			t.Errorf("y = %g: %v, %+v", value, err, f)
		}
		if _, err := pare.Select(context.Background(), x, constant, pare.SelectOptions{}, pare.Config{}); !isKind(err, outcome.BadParameter) {
			t.Errorf("y = %g: select: %v", value, err)
		}
	}
}

// timeless clears the times of a selection, which no two runs share.
func timeless(s *pare.Selection) *pare.Selection {
	c := *s
	c.SecondsSearch, c.SecondsRefit = 0, 0
	c.Evaluations = slices.Clone(s.Evaluations)
	for i := range c.Evaluations {
		c.Evaluations[i].Seconds = 0
	}
	return &c
}

// TestOneMatrixManyGoroutines: V1. Different problems on one matrix at once give
// the bits that they give one after another. Run it under the race detector.
func TestOneMatrixManyGoroutines(t *testing.T) {
	x, y := text(t)
	wide, target := load(t)
	before := fingerprint(x, y)
	top, ceiling := lambdaMax(t, x, y, pare.Config{}), lambdaMax(t, wide, target, pare.Config{})
	ctx := context.Background()
	job := func(k int) any {
		c := pare.Config{Tol: 1e-7, Threads: 1 + k%3, NoIntercept: k%5 == 0}
		var out any
		var err error
		switch k % 4 {
		case 0:
			out, err = pare.Fit(ctx, x, y, []float64{top - 0.1*float64(k%32)}, c)
		case 1:
			c.Model = pare.ElasticNet
			out, err = pare.Fit(ctx, wide, target, []float64{ceiling - 0.1*float64(k%32), ceiling - 3}, c)
		case 2:
			var g *pare.Hypergradient
			g, err = pare.Gradient(ctx, x, y, []float64{top - 0.05*float64(k%32)}, pare.Validation{Folds: 3, Shuffle: true, Seed: uint64(k)}, c)
			if err == nil {
				g.SecondsSolve, g.SecondsGradient = 0, 0
			}
			out = g
		default:
			var s *pare.Selection
			s, err = pare.Select(ctx, wide, target, pare.SelectOptions{Validation: pare.Validation{Folds: 2 + k%4}, Evaluations: 4}, c)
			if err == nil {
				out = timeless(s)
			}
		}
		if err != nil {
			t.Error(err)
		}
		return out
	}
	const jobs = 64
	var alone, together [jobs]any
	for k := range jobs {
		alone[k] = job(k)
	}
	var group sync.WaitGroup
	for k := range jobs {
		group.Go(func() { together[k] = job(k) })
	}
	group.Wait()
	for k := range jobs {
		if !reflect.DeepEqual(alone[k], together[k]) {
			t.Errorf("job %d: %+v alone, %+v together", k, alone[k], together[k])
		}
	}
	if fingerprint(x, y) != before {
		t.Error("X or y was changed")
	}
}

// TestNoGoroutineStays: V4.
func TestNoGoroutineStays(t *testing.T) {
	x, y := load(t)
	before := runtime.NumGoroutine()
	for range 3 {
		if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Evaluations: 3}, pare.Config{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if _, err := pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{Tol: 1e-12}); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	for range 100 { // one that has done its work may take a moment to go
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

// bits writes down every number of a selection that must not depend on the machine.
func bits(s *pare.Selection) []uint64 {
	var out []uint64
	add := func(values ...float64) {
		for _, v := range values {
			out = append(out, math.Float64bits(v))
		}
	}
	add(s.Value, s.NullValue, s.Final.Objective, s.Final.Gap, s.Final.KKT, s.Final.Intercept)
	add(s.LogLambda...)
	add(s.Gradient...)
	add(s.Final.Coef...)
	for _, j := range s.Final.Support {
		out = append(out, uint64(j))
	}
	for _, e := range s.Evaluations {
		add(e.Value)
		add(e.LogLambda...)
		add(e.Gradient...)
	}
	return out
}

// TestKernelSetsGiveTheSameBits: one selection on dense data and one on sparse
// data, the same on every kernel set here and for any number of threads.
func TestKernelSetsGiveTheSameBits(t *testing.T) {
	type data struct {
		x sparse.Matrix
		y []float64
	}
	all := map[string]data{}
	x, y := load(t)
	all["diabetes"] = data{x, y}
	x, y = text(t)
	all["sparse"] = data{x, y}
	for name, d := range all {
		for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet} {
			var want []uint64
			for _, k := range kernels.Available() {
				for _, threads := range []int{4, 1} {
					if threads == 1 && oracle.Few() {
						continue
					}
					s, err := pare.Select(context.Background(), d.x, d.y, pare.SelectOptions{Evaluations: 4},
						pare.Config{Model: m, Kernels: k.Name, Threads: threads})
					if err != nil {
						t.Fatal(err)
					}
					if s.Final.Kernels != k.Name {
						t.Errorf("asked for %s, used %s", k.Name, s.Final.Kernels)
					}
					got := bits(s)
					if want == nil {
						want = got
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s, %s: %s with %d threads differs from %s", name, m, k.Name, threads, kernels.Available()[0].Name)
					}
				}
			}
		}
	}
}
