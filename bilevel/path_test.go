package bilevel_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/search"
)

// along returns a problem of five folds and a path of ten λ's.
func along(t *testing.T, threads int) (*bilevel.Problem, [][]float64) {
	t.Helper()
	q := oracle.NewRandom(7).Problem(oracle.Shape{N: 60, P: 20, Density: 0.5})
	q.Weights, q.Ridge, q.Intercept = nil, 0, true
	folds, err := bilevel.KFold(nil, 60, 5, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := newProblem(t, q, false, bilevel.Spec{Folds: folds, Intercept: true, Penalty: penalties["lasso"], Threads: threads})
	return p, search.Geometric(math.Log(q.AlphaMax()), math.Log(0.01), 10)
}

// TestAlongIsEvaluateInTurn checks that a path has the bits of evaluations one after the other, for any number of
// threads.
func TestAlongIsEvaluateInTurn(t *testing.T) {
	p, path := along(t, 1)
	var want []bilevel.Report
	for _, l := range path {
		want = append(want, evaluate(t, p, search.Request{LogLambda: l, ValueOnly: true}))
	}
	for _, threads := range []int{1, 2, 3, 8} {
		p, path := along(t, threads)
		k := 0
		for got, err := range p.Path(t.Context(), path) {
			if err != nil {
				t.Fatal(err)
			}
			w := want[k]
			if got.Value != w.Value || !slices.Equal(got.FoldValues, w.FoldValues) || got.Tol != w.Tol || got.Epochs != w.Epochs || got.Status != w.Status || !slices.Equal(got.LogLambda, path[k]) || got.Gradient != nil {
				t.Errorf("%d threads, λ %d: %+v, want %+v", threads, k, got, w)
			}
			k++
		}
		if k != len(path) {
			t.Errorf("%d threads: %d reports", threads, k)
		}
	}
}

// TestAlongStops checks that a path stops when its caller stops, or with the error of ctx, and leaves no goroutine
// behind.
func TestAlongStops(t *testing.T) {
	before := runtime.NumGoroutine()
	p, path := along(t, 2)
	k := 0
	for _, err := range p.Path(t.Context(), path) {
		if err != nil {
			t.Fatal(err)
		}
		if k++; k == 3 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	k = 0
	for _, err := range p.Path(ctx, slices.Repeat(path, 200)) {
		if last != nil {
			t.Fatal("went on after an error")
		}
		if last = err; k == 2 {
			cancel()
		}
		k++
	}
	if !errors.Is(last, context.Canceled) || k >= 200*len(path) {
		t.Errorf("%v after %d λ's", last, k)
	}
	bad := slices.Clone(path)
	bad[4] = []float64{math.NaN()}
	last = nil
	for _, err := range p.Path(t.Context(), bad) {
		last = err
	}
	if last == nil || errors.Is(last, context.Canceled) {
		t.Errorf("a λ that is not a number: %v", last)
	}
	oracle.GoroutinesEnd(t, before)
}

// untilTheEnd is a Runner that answers at once, but at λ = 3 only when the call ends.
type untilTheEnd struct{}

func (untilTheEnd) Run(ctx context.Context, requests []bilevel.LaneRequest, _ func()) ([]bilevel.LaneResult, error) {
	if l := requests[0].LogLambda; len(l) > 0 && l[0] == 3 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return make([]bilevel.LaneResult, len(requests)), nil
}

// TestAlongEndsLanes checks that lanes that are still at work when the caller stops are cancelled.
func TestAlongEndsLanes(t *testing.T) {
	p, err := bilevel.NewOver(t.Context(), untilTheEnd{}, bilevel.Spec{Folds: bilevel.Folds{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range p.Path(t.Context(), [][]float64{{1}, {2}, {3}}) {
			if err != nil {
				t.Error(err)
			}
			break
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("waits for a lane that nobody asks any more")
	}
}

// failing is a Runner whose lanes fail at λ = 2: lane 1 first, and lane 0 after it.
type failing struct{ last chan struct{} }

func (f failing) Run(ctx context.Context, requests []bilevel.LaneRequest, _ func()) ([]bilevel.LaneResult, error) {
	switch r := requests[0]; {
	case len(r.LogLambda) == 0 || r.LogLambda[0] != 2:
		return make([]bilevel.LaneResult, len(requests)), nil
	case r.Lane.Fold == 1:
		close(f.last)
		return nil, errors.New("lane 1")
	default:
		<-f.last
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond): // long enough for the error of lane 1 to arrive
			return nil, errors.New("lane 0")
		}
	}
}

// TestAlongTellsTheFirstError checks that a path returns the error that successive calls of
// [bilevel.Problem.Evaluate] would return first, whichever lane fails first.
func TestAlongTellsTheFirstError(t *testing.T) {
	p, err := bilevel.NewOver(t.Context(), failing{make(chan struct{})}, bilevel.Spec{Folds: bilevel.Folds{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	reports := 0
	for _, err := range p.Path(t.Context(), [][]float64{{1}, {2}, {3}}) {
		switch {
		case err == nil:
			reports++
		case err.Error() != "lane 0" || reports != 1:
			t.Errorf("%v after %d reports", err, reports)
		}
	}
}
