package pare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestSelectFindsTheMinimum checks that a selection from the default start and from three distant starts finds the
// minimum of a fine grid on the same folds, and is refitted on all rows.
func TestSelectFindsTheMinimum(t *testing.T) {
	x, y := load(t)
	splits := []pare.Validation{{InOrder: true}, {Seed: 42}, {InOrder: true, Criterion: pare.HoldOut}, {InOrder: true, Folds: 10}}
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
				precise := method != pare.GradientStep
				if precise && start != 0 {
					continue // a start at αmax
				}
				s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: v, Search: method, Start: start, Precision: precise}, pare.Config{Tol: 1e-9})
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
				// With few rows a criterion has several minima; the search finds one of them.
				if s.Value > grid.Value*1.03 && s.Status != outcome.Box {
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

// TestSearches checks that every search method comes close to the best of a grid within its budget, over one λ and over
// two, and records its evaluations.
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
			if len(s.Evaluations) > 100 || s.Value > grid.Value*1.03 || s.Final == nil || s.Final.Status != outcome.Converged {
				t.Errorf("%s, %s: %s at %g after %d evaluations, the grid has %g", m, method, s.Status, s.Value, len(s.Evaluations), grid.Value)
			}
			least := s.Value
			if slices.Contains(s.LogLambda, math.Inf(-1)) { // a Lasso or a ridge, which a mixture must beat clearly
				least -= 0.01 * s.StandardError
			}
			for _, e := range s.Evaluations {
				if len(e.LogLambda) != len(s.LogLambda) || e.Final && e.Value < least {
					t.Errorf("%s, %s: %+v, the best is %g", m, method, e, s.Value)
				}
			}
		}
	}
}

// TestSelectElasticNet checks that a selection ends no worse than a product grid, to within a thousandth.
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

// TestSelectEnds checks that a budget or a context ends the search with the best point so far.
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
	if err != nil || s.Status != outcome.Cancelled || len(s.Evaluations) != 2 || s.LogLambda == nil || s.Final != nil || outcome.KindOf(s.Err) != outcome.Limit || !errors.Is(s.Err, context.Canceled) {
		t.Errorf("cancelled after two: %v, %+v, %+v", err, s, s.Final)
	}
	s, err = pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil || s.Status != outcome.Cancelled || s.Final != nil || s.LogLambda != nil || !math.IsNaN(s.Value) {
		t.Errorf("cancelled before: %v, %+v", err, s)
	}
	if _, err := pare.Gradient(ctx, x, y, []float64{0}, pare.Validation{InOrder: true}, pare.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("gradient of a cancelled context: %v", err)
	}
	if f, err := pare.Fit(ctx, x, y, []float64{0}, pare.Config{}); err != nil || f.Status != outcome.Cancelled {
		t.Errorf("fit of a cancelled context: %v, %+v", err, f)
	}
}

var _ = flag.Bool("long", false, "starts on large data, too")

// shared reads a data set stored outside the repository, or skips the test if it is missing.
func shared(t *testing.T, name string) (sparse.Matrix, []float64) {
	t.Helper()
	if oracle.Few() {
		t.Skip("short: the embedded data are tested")
	}
	path := "../shared/data/" + name + ".svm.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here; the embedded data are tested all the same", path)
	}
	x, y, err := sparse.OpenSVMLight(context.Background(), path, sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return sparse.Compact(x), y
}

// TestStarts checks that the default search comes within a thousandth of the best of a fine grid in 8 evaluations, that
// the paper's gradient descent also gets there in more, and that one thread and two give the same bits.
func TestStarts(t *testing.T) {
	type set struct {
		name   string
		points int     // the number of points of the grid
		ratio  float64 // the smallest α/αmax of the grid
	}
	sets := []set{{"diabetes", 400, 1e-4}, {"leukemia", 400, 1e-4}}
	if oracle.Long() { // near the optimum that finer grids have found
		sets = append(sets, set{"gina_like", 20, 6e-3}, set{"reuters_places", 8, 7e-4})
	}
	for _, set := range sets {
		t.Run(set.name, func(t *testing.T) {
			var x sparse.Matrix
			var y []float64
			if set.name == "diabetes" {
				x, y = load(t)
			} else {
				x, y = shared(t, set.name)
			}
			besideGrid(t, x, y, set.points, set.ratio)
		})
	}
}

func besideGrid(t *testing.T, x sparse.Matrix, y []float64, points int, ratio float64) {
	t.Helper()
	c := pare.Config{NoIntercept: true}
	grid, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}, Search: pare.Grid, Points: points, MinRatio: ratio}, c)
	if err != nil {
		t.Fatal(err)
	}
	near := func(evaluations []search.Evaluation) int {
		for k, e := range evaluations {
			if e.Value <= grid.Value*(1+1e-3) && e.Trusted {
				return k + 1
			}
		}
		return math.MaxInt
	}
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}}, c)
	if err != nil {
		t.Fatal(err)
	}
	if took := near(s.Evaluations); took > 8 || !s.Status.OK() || s.Value > grid.Value*(1+1e-3) {
		t.Errorf("%s at %.8g after %d, near after %d; the grid has %.8g", s.Status, s.Value, len(s.Evaluations), took, grid.Value)
	}
	for _, e := range s.Evaluations {
		if e.Final && e.Value < s.Value {
			t.Errorf("%g is returned, %g was seen", s.Value, e.Value)
		}
	}
	if points < 400 {
		return // slow
	}
	c.Threads = 1
	again, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}}, c)
	c.Threads = 2
	two, err2 := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}}, c)
	if err != nil || err2 != nil || fmt.Sprint(again.LogLambda, again.Value, again.Final.Coef) != fmt.Sprint(two.LogLambda, two.Value, two.Final.Coef) {
		t.Errorf("one thread %v %.17g, two %v %.17g", again.LogLambda, again.Value, two.LogLambda, two.Value)
	}
	for _, start := range []float64{0.01, 0.5} {
		paper, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}, Search: pare.GradientStep, Start: start}, c)
		if err != nil || near(paper.Evaluations) > 50 {
			t.Errorf("gradient descent from %g: near after %d: %v", start, near(paper.Evaluations), err)
		}
	}
}

// TestSelectionsMarshal checks that every selection can be written as JSON, also with λ = −∞, with NaN or with an
// error.
func TestSelectionsMarshal(t *testing.T) {
	x, y := load(t)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, run := range map[string]func() (*pare.Selection, error){
		"enet": func() (*pare.Selection, error) {
			return pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{Model: pare.ElasticNet})
		},
		"cancelled": func() (*pare.Selection, error) {
			return pare.Select(cancelled, x, y, pare.SelectOptions{}, pare.Config{})
		},
		"one-SE": func() (*pare.Selection, error) {
			return pare.Select(context.Background(), x, y, pare.SelectOptions{TakeOneSE: true}, pare.Config{})
		},
	} {
		s, err := run()
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var back struct {
			Status      string
			LogLambda   []*float64
			Value       *float64
			Evaluations []struct{ Value *float64 }
			Final       *struct{ Coef []float64 }
		}
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if back.Status != string(s.Status) || len(back.LogLambda) != len(s.LogLambda) || len(back.Evaluations) != len(s.Evaluations) || (back.Final == nil) != (s.Final == nil) {
			t.Errorf("%s: %s", name, data)
		}
		if s.Final != nil && (len(back.Final.Coef) != len(s.Final.Coef) || *back.Value != s.Value) {
			t.Errorf("%s: %s", name, data)
		}
	}
}

// TestSelectionsAreReadAgain checks that a selection read from JSON has the same numbers and error text, and that
// another selection can start from it.
func TestSelectionsAreReadAgain(t *testing.T) {
	x, y := load(t)
	s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.Err = errors.New("the log is full")
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back pare.Selection
	if err := json.Unmarshal(text, &back); err != nil || back.Err == nil || back.Err.Error() != s.Err.Error() || back.Value != s.Value || !slices.Equal(back.Final.Coef, s.Final.Coef) || len(back.Evaluations) != len(s.Evaluations) {
		t.Errorf("%v: %+v", err, back)
	}
	next, err := pare.Select(t.Context(), x, y, pare.SelectOptions{From: &back}, pare.Config{})
	if err != nil || len(next.Evaluations) >= len(s.Evaluations) || math.Abs(next.Value-s.Value) > 0.01*s.StandardError {
		t.Errorf("from it: %v, %+v", err, next)
	}
	s.Err, s.Value, s.RelaxedValue, s.LogLambdaMax = nil, math.NaN(), math.NaN(), []float64{math.NaN()}
	if err := json.Unmarshal(written(t, s), &back); err != nil || !bytes.Equal(written(t, back), written(t, s)) {
		t.Errorf("%v: numbers that are not finite become others:\n%s\n%s", err, written(t, s), written(t, back))
	}
	if text, err = json.Marshal(*s); err != nil || json.Unmarshal(text, &back) != nil || back.Err != nil {
		t.Errorf("without an error: %v, %v", err, back.Err)
	}
}

// TestResultsAreWritableByValue checks that results with NaN or ±∞ can be written by value and by pointer, and inside
// other types.
func TestResultsAreWritableByValue(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	fit := pare.Fitted{LogLambdaMax: []float64{nan}, Certificate: outcome.Certificate{Gap: nan}}
	at := search.Evaluation{LogLambda: []float64{-inf}, Value: nan, Support: 3}
	out := pare.LeftOut{Scores: []float64{1, nan}, Value: inf, GCV: 2}
	slope := pare.Hypergradient{InjectivityMargin: nan}
	choice := pare.Selection{Value: nan, Final: &fit, Evaluations: []search.Evaluation{at}}
	report := bilevel.Report{Evaluation: at, InjectivityMargin: nan, Iterations: 7}
	for name, result := range map[string]any{
		"fit": fit, "evaluation": at, "left out": out, "gradient": slope, "selection": choice, "report": report,
		"a pointer": &out, "a slice": []search.Evaluation{at}, "a field": struct{ Of pare.Fitted }{fit}, "none": (*pare.Fitted)(nil),
	} {
		if text, err := json.Marshal(map[string]any{"result": result}); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if name == "report" && (!strings.Contains(string(text), `"Iterations":7`) || !strings.Contains(string(text), `"Support":3`)) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestFitsAreWritable checks that every result of a fit and of a gradient can be written as JSON, with its fields under
// their names.
func TestFitsAreWritable(t *testing.T) {
	x, y := load(t)
	for i := range y {
		y[i] = math.Copysign(1, y[i]-140)
	}
	for model, logLambda := range map[pare.Model][]float64{
		pare.SVM: {-2}, pare.SVR: {-2, -2}, pare.MCP: {-4}, pare.ElasticNet: {math.Inf(-1), -4}, pare.Multiclass: {-4, -4},
	} {
		c := pare.Config{Model: model, Standardize: model == pare.MCP}
		f, err := pare.Fit(t.Context(), x, y, logLambda, c)
		if err != nil {
			t.Fatal(err)
		}
		var back pare.Fitted
		if text, err := json.Marshal(f); err != nil || json.Unmarshal(text, &back) != nil {
			t.Errorf("%s: %v", model, err)
		}
		if !slices.Equal(back.Coef, f.Coef) || back.Objective != f.Objective || back.KKT != f.KKT || back.Passes != f.Passes || len(back.Classes) != len(f.Classes) {
			t.Errorf("%s: %+v, want %+v", model, back, f)
		}
		if !slices.Equal(back.LogLambda, f.LogLambda) || math.IsNaN(back.RelativeGap) != math.IsNaN(f.RelativeGap) {
			t.Errorf("%s: read λ %g and a gap of %g, written %g and %g", model, back.LogLambda, back.RelativeGap, f.LogLambda, f.RelativeGap)
		}
		if text, err := json.Marshal(f); err != nil || !bytes.Equal(text, written(t, back)) {
			t.Errorf("%s: written again it is %s, not %s", model, written(t, back), text)
		}
		h, err := pare.Gradient(t.Context(), x, y, logLambda, pare.Validation{}, c)
		if err != nil {
			t.Fatal(err)
		}
		var slope pare.Hypergradient
		if text, err := json.Marshal(h); err != nil || json.Unmarshal(text, &slope) != nil || slope.Value != h.Value || !slices.Equal(slope.Gradient, h.Gradient) {
			t.Errorf("%s: %v, %+v, want %+v", model, err, slope, h)
		}
	}
}

// written returns a result as JSON.
func written(t *testing.T, result any) []byte {
	t.Helper()
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSolvedCountsInnerProblems checks that Solved counts the inner problems of each evaluation, at most the number of
// folds and classes, and along a path those of all points, and that evaluations keep the values of their folds.
func TestSolvedCountsInnerProblems(t *testing.T) {
	x, y, err := embedded.Diabetes(t.Context(), sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	three := make([]float64, len(y))
	for i := range three {
		three[i] = float64(i % 3)
	}
	for _, test := range []struct {
		model  pare.Model
		y      []float64
		solves int
	}{{pare.Lasso, y, 5}, {pare.Multiclass, three, 15}} {
		var told []int
		c := pare.Config{Model: test.model, Solved: func(done, of int, _ []float64) {
			if told = append(told, done); of != test.solves {
				t.Errorf("%s: %d inner problems, want %d", test.model, of, test.solves)
			}
		}}
		s, err := pare.Select(t.Context(), x, test.y, pare.SelectOptions{}, c)
		if err != nil {
			t.Fatal(err)
		}
		if want := test.solves * len(s.Evaluations); len(told) != want || slices.Max(told) != test.solves {
			t.Errorf("%s: told %d times up to %d, want %d up to %d", test.model, len(told), slices.Max(told), want, test.solves)
		}
		for _, e := range s.Evaluations {
			var sum float64
			for _, v := range e.FoldValues {
				sum += v
			}
			if len(e.FoldValues) != 5 || sum/5 < e.Value*(1-1e-12) || sum/5 > e.Value*(1+1e-12) {
				t.Errorf("%s: folds %v, value %g", test.model, e.FoldValues, e.Value)
			}
		}
		told = nil
		top, err := pare.LogLambdaMax(x, y, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c = pare.Config{Solved: func(done, of int, _ []float64) { told = append(told, done, of) }}
		for _, err := range pare.Validate(t.Context(), x, y, [][]float64{{top[0] - 1}, {top[0] - 2}}, pare.Validation{InOrder: true}, c) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(told) != 20 || told[18] != 10 || told[19] != 10 {
			t.Errorf("along a path: %v", told)
		}
	}
}

// TestSoftStops checks that a soft stop of a search leaves a converged model at the best λ so far and no goroutine, and
// that an ended context leaves no goroutine.
func TestSoftStops(t *testing.T) {
	x, y := load(t)
	before := runtime.NumGoroutine()
	stop := make(chan struct{})
	seen := 0
	o := pare.SelectOptions{Stop: stop, Search: pare.Grid, Points: 5000, Progress: func(search.Evaluation) {
		if seen++; seen == 3 {
			close(stop)
		}
	}}
	s, err := pare.Select(context.Background(), x, y, o, pare.Config{})
	if err != nil || s.Status != outcome.Cancelled || s.Final == nil || s.Final.Status != outcome.Converged || len(s.Evaluations) >= 5000 || s.Err != nil {
		t.Errorf("stopped: %v, %+v", err, s)
	}
	o = pare.SelectOptions{MaxDuration: 30 * time.Millisecond, Search: pare.Grid, Points: 100_000}
	s, err = pare.Select(context.Background(), x, y, o, pare.Config{Tol: 1e-12})
	if err != nil || s.Status != outcome.Budget || s.LogLambda != nil && (s.Final == nil || s.Final.Status != outcome.Converged) {
		t.Errorf("out of time: %v, %+v", err, s)
	}
	oracle.GoroutinesEnd(t, before)
}

// TestSoftStopsEndAfterTheEvaluation checks that a stop during an evaluation's progress, or the end of the time allowed
// before it, is noticed before the next evaluation, however short evaluations are.
func TestSoftStopsEndAfterTheEvaluation(t *testing.T) {
	x, y := load(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that no other goroutine runs between short evaluations
	for range 5 {
		stop, seen := make(chan struct{}), 0
		s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Stop: stop, Progress: func(search.Evaluation) {
			if seen++; seen == 2 {
				close(stop)
			}
		}}, pare.Config{Threads: 1})
		if err != nil || s.Status != outcome.Cancelled || len(s.Evaluations) != 2 || s.Final == nil || s.Err != nil {
			t.Fatalf("stopped: %v, %+v", err, s)
		}
		s, err = pare.Select(t.Context(), x, y, pare.SelectOptions{MaxDuration: 1}, pare.Config{Threads: 1})
		if err != nil || s.Status != outcome.Budget || len(s.Evaluations) > 1 {
			t.Fatalf("out of time: %v, %+v", err, s)
		}
	}
}

// TestChoicesOfLittleNoise checks choices where the columns explain nearly everything. There the solution at one λ can
// be within a thousandth of the null model's objective at the next λ although the criterion differs, and a hundredth of
// that loss may still be far above the noise.
func TestChoicesOfLittleNoise(t *testing.T) {
	for seed := range oracle.Draws(20) {
		q := oracle.NewRandom(seed).Problem(oracle.Shape{N: 160, P: 150, Correlation: 0.7, Active: 100, Noise: 0.05})
		x := fixture.Matrix(t, q, true)
		v := pare.Validation{Criterion: pare.HoldOut}
		s, err := pare.Select(t.Context(), x, q.Y, pare.SelectOptions{Validation: v}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		var grid [][]float64
		for k := range 60 {
			grid = append(grid, []float64{s.LogLambdaMax[0] - 13*float64(k)/59})
		}
		least, spread := s.NullValue, 0.0
		for e, err := range pare.Validate(t.Context(), x, q.Y, grid, v, pare.Config{Tol: 1e-8}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Value < least {
				least, spread = e.Value, e.StandardError
			}
		}
		if !(s.Value <= least+0.3*spread) {
			t.Errorf("seed %d: %g after %d evaluations, %g ± %g on a grid", seed, s.Value, len(s.Evaluations), least, spread)
		}
	}
}

// TestChoicesOfGroupsOfManyScales checks groups whose columns have very different scales. All columns enter with their
// groups, long before the columns of a small scale explain anything. A path that ended there would choose nearly the
// null model, although the columns explain all but a hundredth of a percent.
func TestChoicesOfGroupsOfManyScales(t *testing.T) {
	for _, scale := range []float64{10, 30, 100, 300, 1500} { // the last scale counts as wide
		for seed := range uint64(8) {
			q := oracle.NewRandom(seed).Problem(oracle.Shape{N: 120, P: 10, Active: 10, Noise: 0.01})
			for j := range 5 { // the other columns explain the target
				for i := range q.X {
					q.X[i][j] *= scale
				}
			}
			x := fixture.Matrix(t, q, true)
			s, err := pare.Select(t.Context(), x, q.Y, pare.SelectOptions{}, pare.Config{Model: pare.GroupLasso, Groups: []int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}})
			if err != nil {
				t.Fatal(err)
			}
			if !(s.Value < 1e-2*s.NullValue) {
				t.Errorf("scale %g, seed %d: %g after %d evaluations, the null model %g", scale, seed, s.Value, len(s.Evaluations), s.NullValue)
			}
		}
	}
}

// TestChoicesOfLargeCounts checks that a search takes few evaluations where the standard error is tiny beside the gain
// of the best point over the null model. With a unit larger than the standard error it would also refine around points
// that are many standard errors above the best.
func TestChoicesOfLargeCounts(t *testing.T) {
	evaluations := 0
	for seed := range uint64(6) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 80, P: 70, Active: 5, Noise: 1e-3})
		for i, score := range q.Y {
			mean := 1e5 * math.Exp(score/2)
			q.Y[i] = math.Round(max(0, mean+math.Sqrt(mean)*r.Normal()))
		}
		s, err := pare.Select(t.Context(), fixture.Matrix(t, q, true), q.Y, pare.SelectOptions{}, pare.Config{Model: pare.Poisson})
		if err != nil {
			t.Fatal(err)
		}
		evaluations += len(s.Evaluations)
	}
	if evaluations > 90 {
		t.Errorf("%d evaluations", evaluations)
	}
}
