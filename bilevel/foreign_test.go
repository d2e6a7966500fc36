package bilevel_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// calling is a caller's criterion that runs a function at one of its calls, counted from 0. Its value is the mean
// of (m − y)² + (m − y)⁴, whose curvature varies.
type calling struct {
	at    int
	does  func()
	calls *int
}

func (calling) Name() string { return "a caller's" }

func (c calling) Eval(rows []int32, y, m, slope, curvature []float64) (mean float64) {
	*c.calls++
	if *c.calls-1 == c.at && c.does != nil {
		c.does()
	}
	share := 1 / float64(len(rows))
	for _, i := range rows {
		r := m[i] - y[i]
		mean += share * (r*r + r*r*r*r)
		if slope != nil {
			slope[i], curvature[i] = share*(2*r+4*r*r*r), share*(2+12*r*r)
		}
	}
	return mean
}

// TestCriteriaOfTheCaller checks that a caller's criterion may panic or end its goroutine at any call: for the
// null model, for a value, or for the curvature around it. Evaluate then returns an error that says which of the
// two happened, and the process goes on.
func TestCriteriaOfTheCaller(t *testing.T) {
	q := oracle.NewRandom(12).Problem(oracle.Shape{N: 20, P: 4})
	folds := make(bilevel.Folds, 20)
	for i := range folds {
		if folds[i] = bilevel.AlwaysTrain; i < 6 {
			folds[i] = 0
		}
	}
	folds[19] = bilevel.TestOnly
	forward := iterdiff.ForwardPCD
	at := search.Request{LogLambda: []float64{math.Log(q.AlphaMax()) - 2}}
	for name, iterate := range map[string]*iterdiff.Method{"implicit": nil, "iterated": &forward} {
		run := func(call int, does func()) (report bilevel.Report, calls int, err error) {
			spec := bilevel.Spec{Folds: folds, Penalty: lasso, Iterate: iterate, Threads: 1}
			spec.Criterion = calling{call, does, &calls}
			defer func() {
				if cause := recover(); cause != nil {
					t.Errorf("%s, call %d: %v comes through", name, call, cause)
				}
			}()
			spec.Intercept = q.Intercept
			p, err := bilevel.New(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, spec)
			if err == nil {
				report, err = p.Evaluate(t.Context(), at)
			}
			return report, calls, err
		}
		want, all, err := run(-1, nil)
		if err != nil || all < 5 || !(want.Value > 0) {
			t.Fatalf("%s: %d calls, %v", name, all, err)
		}
		for call := range all {
			_, _, err := run(call, func() { panic("what for") })
			var cause *outcome.PanicError
			if outcome.KindOf(err) != outcome.Internal || !errors.As(err, &cause) || cause.Value != "what for" || len(cause.Stack) == 0 || !strings.Contains(err.Error(), "the criterion a caller's panicked") {
				t.Errorf("%s, call %d panics: %v", name, call, err)
			}
			if _, _, err = run(call, runtime.Goexit); outcome.KindOf(err) != outcome.Internal || !strings.Contains(err.Error(), "the criterion a caller's ended its goroutine") {
				t.Errorf("%s, call %d ends its goroutine: %v", name, call, err)
			}
			again, _, err := run(call, func() {})
			if err != nil || again.Value != want.Value || !slices.Equal(again.Gradient, want.Gradient) {
				t.Errorf("%s, call %d does nothing else: %g, %v", name, call, again.Value, err)
			}
		}
	}
}

// TestCriteriaEndWithTheCall checks that if the call is cancelled while a criterion runs, the evaluation returns
// the error of the call and does not blame the criterion.
func TestCriteriaEndWithTheCall(t *testing.T) {
	q := oracle.NewRandom(12).Problem(oracle.Shape{N: 20, P: 4})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k, calls := fixture.Kernels(t).Until(ctx), 0
	ends := calling{3, func() { cancel(); k.Look() }, &calls}
	p, err := bilevel.New(k, fixture.Matrix(t, q, true), q.Y, bilevel.Spec{Folds: slices.Repeat(bilevel.Folds{0, 1}, 10), Penalty: lasso, Criterion: ends, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Evaluate(t.Context(), search.Request{LogLambda: []float64{-2}}); !errors.Is(err, context.Canceled) || outcome.KindOf(err) == outcome.Internal || calls != 4 {
		t.Errorf("after %d calls: %v", calls, err)
	}
}

// TestStandardErrorOfWeightedRows checks that the standard error is that of the weighted mean: a row counts by its
// share of the weight, so that a row of negligible weight has a negligible effect.
func TestStandardErrorOfWeightedRows(t *testing.T) {
	const n, held = 30, 12
	q := oracle.NewRandom(6).Problem(oracle.Shape{N: n, P: 2})
	q.Intercept = false
	folds, weights := make(bilevel.Folds, n), make([]float64, n)
	var total, mean, square float64
	for i := range folds {
		folds[i], weights[i] = bilevel.AlwaysTrain, 1+float64(i%3)
		if i >= held {
			continue
		}
		if folds[i] = 0; i%4 == 1 {
			weights[i], q.Y[i] = 1e-9, 100
		}
		total += weights[i]
		mean += weights[i] * q.Y[i] * q.Y[i]
	}
	mean /= total
	for i, y := range q.Y[:held] {
		off := weights[i] / total * (y*y - mean)
		square += off * off
	}
	want := math.Sqrt(square * held / (held - 1))
	if got := newProblem(t, q, true, bilevel.Spec{Folds: folds, Weights: weights, Penalty: lasso}).Null(); !(math.Abs(got.StandardError-want) <= 1e-9*want) {
		t.Errorf("%.15g ± %.15g, want ± %.15g", got.Value, got.StandardError, want)
	}
}

// TestStandardErrorsOfManyRows checks that with more than twenty held-out rows the standard error is that of the
// mean of twenty interleaved batches, each weighted by its share of the rows. A criterion that is not a mean over
// rows has no standard error, nor has a single one of several folds.
func TestStandardErrorsOfManyRows(t *testing.T) {
	const n = 60
	q := oracle.NewRandom(6).Problem(oracle.Shape{N: n, P: 2})
	q.Intercept = false
	for _, held := range []int{21, 45, 59} {
		folds := make(bilevel.Folds, n)
		sum, count := make([]float64, 20), make([]float64, 20)
		for i := range folds {
			if folds[i] = bilevel.AlwaysTrain; i < held {
				folds[i] = 0
				sum[i%20] += q.Y[i] * q.Y[i]
				count[i%20]++
			}
		}
		var mean, square float64
		for _, s := range sum {
			mean += s / float64(held)
		}
		for b := range sum {
			off := count[b] / float64(held) * (sum[b]/count[b] - mean)
			square += off * off
		}
		want := math.Sqrt(square * 20 / 19)
		if got := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: lasso}).Null().StandardError; !(math.Abs(got-want) <= 1e-13*want) {
			t.Errorf("%d rows: %.15g, want %.15g", held, got, want)
		}
		if got := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: lasso, Criterion: criterion.RankError{}}).Null().StandardError; got != 0 {
			t.Errorf("%d rows: a rank error has the standard error %g", held, got)
		}
	}
	folds, err := bilevel.KFold(nil, n, 2, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	lanes, err := bilevel.NewLanes(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, bilevel.Spec{Folds: folds, Penalty: lasso})
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []bilevel.LaneRequest{{}, {Ask: bilevel.AskSolve, LogLambda: []float64{-1}}} {
		r, err := lanes.Run(context.Background(), []bilevel.LaneRequest{request}, nil)
		if err != nil || r[0].NullError != 0 || r[0].ValueError != 0 || r[0].Null+r[0].Value <= 0 {
			t.Errorf("one fold of two: %+v, %v", r[0], err)
		}
	}
}
