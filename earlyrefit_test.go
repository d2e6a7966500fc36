package pare_test

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// dear draws data on which a choice is expensive enough that the search predicts the λ at which it will end.
func dear(t *testing.T, seed uint64, model pare.Model) (sparse.Matrix, []float64, pare.Config) {
	t.Helper()
	const n, p = 600, 400
	q := oracle.NewRandom(seed).Problem(oracle.Shape{N: n, P: p, Density: 0.5, Active: 60, Noise: 1})
	c := pare.Config{Model: model}
	switch model {
	case pare.Logistic:
		return matrixOf(t, q.X, p, false), signs(q.Y), c
	case pare.GroupLasso:
		for j := range p {
			c.Groups = append(c.Groups, j/3)
		}
	}
	return matrixOf(t, q.X, p, false), q.Y, c
}

var threeFolds = pare.Validation{Folds: 3}

// TestRefitsAheadHaveTheBitsOfThoseAfter checks that a refit begun before its λ was chosen has the bits of a refit
// begun after the choice, for any number of threads: whether the early refit was at the chosen λ, at another one, or
// never began, and also under the one-standard-error rule.
func TestRefitsAheadHaveTheBitsOfThoseAfter(t *testing.T) {
	for k, one := range []struct {
		model   pare.Model
		options pare.SelectOptions
		threads []int
	}{
		{pare.Logistic, pare.SelectOptions{}, []int{8}},
		{pare.Logistic, pare.SelectOptions{}, []int{2, 3, 16}},
		{pare.Logistic, pare.SelectOptions{OneSE: true}, []int{8}},
		{pare.Logistic, pare.SelectOptions{TakeOneSE: true}, []int{8}},
		{pare.Lasso, pare.SelectOptions{}, []int{8}},
		{pare.GroupLasso, pare.SelectOptions{}, []int{8}},
	} {
		if !oracle.Turn(k, 2) {
			continue
		}
		x, y, c := dear(t, 8, one.model)
		o := one.options
		o.Validation = threeFolds
		c.Threads = 1
		want, err := pare.Select(t.Context(), x, y, o, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, c.Threads = range one.threads {
			got, err := pare.Select(t.Context(), x, y, o, c)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(timeless(got), timeless(want)) {
				t.Errorf("%s, %d threads: %v with %d sweeps, want %v with %d", one.model, c.Threads, got.LogLambda, got.Final.Epochs, want.LogLambda, want.Final.Epochs)
			}
			for _, other := range []bool{false, true} {
				begun, final, err := pare.SearchedAhead(t.Context(), x, y, o, c, other)
				if err != nil || begun != (c.Threads > 3 && !o.TakeOneSE) {
					t.Errorf("%s, %d threads: ahead: %t, %v", one.model, c.Threads, begun, err)
				}
				if !reflect.DeepEqual(final, want.Final) {
					t.Errorf("%s, %d threads, another one first: %t: the refit is not that of one thread", one.model, c.Threads, other)
				}
			}
		}
	}
}

// TestRefitsAheadBeginAtYesterdays checks that refits begun ahead of the choice start from an earlier selection on
// nearly all of the rows, as refits after the search do.
func TestRefitsAheadBeginAtYesterdays(t *testing.T) {
	set, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	for k, model := range []pare.Model{pare.Logistic, pare.Lasso} {
		if !oracle.Turn(k, 1) {
			continue
		}
		x, y, c := dear(t, 11, model) // the search continues from the earlier selection, to a point that it expects to choose
		c.Threads = 1
		rows := make([]int32, len(y)-40)
		for i := range rows {
			rows[i] = int32(i)
		}
		before, err := pare.Select(t.Context(), sparse.Rows(set, x, rows), y[:len(rows)], pare.SelectOptions{Validation: threeFolds}, c)
		if err != nil {
			t.Fatal(err)
		}
		o := pare.SelectOptions{Validation: threeFolds, From: before}
		want, err := pare.Select(t.Context(), x, y, o, c)
		if err != nil {
			t.Fatal(err)
		}
		c.Threads = 8
		got, err := pare.Select(t.Context(), x, y, o, c)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(want.Evaluations, func(e search.Evaluation) bool { return e.Expected }) {
			t.Errorf("%s: no point was expected to be chosen", model)
		}
		if !reflect.DeepEqual(timeless(got), timeless(want)) {
			t.Errorf("%s: %v with %d sweeps, want %v with %d", model, got.LogLambda, got.Final.Epochs, want.LogLambda, want.Final.Epochs)
		}
	}
}

// TestNoRefitIsAhead checks that no refit begins ahead of the choice where no thread is idle, where the idle threads
// belong to a pool, where memory does not suffice, and where the refit would have to do more than fit.
func TestNoRefitIsAhead(t *testing.T) {
	oracle.Once(t)
	x, y, c := dear(t, 8, pare.Logistic)
	pool, err := pare.NewPool(pare.PoolOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	c.Threads = 8
	_, full, err := pare.SearchedAhead(t.Context(), x, y, pare.SelectOptions{Validation: threeFolds}, c, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*pare.SelectOptions, *pare.Config){
		"few threads": func(_ *pare.SelectOptions, c *pare.Config) { c.Threads = 3 },
		"a pool":      func(_ *pare.SelectOptions, c *pare.Config) { c.Pool = pool },
		"a proof":     func(_ *pare.SelectOptions, c *pare.Config) { c.Certify = true },
		"one lane at a time": func(_ *pare.SelectOptions, c *pare.Config) {
			c.MaxBytes = 12 << 20
		},
		"lanes elsewhere": func(o *pare.SelectOptions, _ *pare.Config) {
			o.Lanes = func(ctx context.Context, j pare.Job) (bilevel.Runner, error) { return pare.NewLanes(ctx, x, y, j) }
		},
		"another choice": func(o *pare.SelectOptions, _ *pare.Config) { o.TakeOneSE = true },
	} {
		o, c := pare.SelectOptions{Validation: threeFolds}, c
		change(&o, &c)
		begun, final, err := pare.SearchedAhead(t.Context(), x, y, o, c, false)
		if err != nil || begun {
			t.Errorf("%s: ahead: %t, %v", name, begun, err)
			continue
		}
		if c.MaxBytes == 0 && !c.Certify && !o.TakeOneSE && !reflect.DeepEqual(final, full) {
			t.Errorf("%s: the refit is another one", name)
		}
	}
}

// TestCallsEndWithRefitsAhead checks that, wherever the context ends, the call returns the same kind of result as on
// one thread, and leaves no goroutine behind.
func TestCallsEndWithRefitsAhead(t *testing.T) {
	x, y, c := dear(t, 8, pare.Logistic)
	o := pare.SelectOptions{Validation: threeFolds, OneSE: true}
	want, err := pare.Select(t.Context(), x, y, o, c)
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	c.Threads = 8
	whole, short, apart := 0, 0, 1
	if oracle.Few() {
		apart = 6
	}
	for left := 1; whole == 0; left += apart*left/2 + 1 {
		s, err := pare.Select(oracle.LooksOf(t.Context(), left), x, y, o, c)
		switch {
		case err != nil || s.Final == nil:
			short++
		default:
			if whole++; !reflect.DeepEqual(s.Final, want.Final) {
				t.Errorf("after %d looks the refit is another one", left)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(e search.Evaluation) {
		if e.Expected { // while the refit is under way
			cancel()
		}
	}
	if s, err := pare.Select(ctx, x, y, o, c); err != nil || s.Final == nil && s.Err == nil || s.Final != nil && !reflect.DeepEqual(s.Final, want.Final) {
		t.Errorf("cancelled beside the refit: %v, %v", s, err)
	}
	stop := make(chan struct{})
	o.Progress = func(e search.Evaluation) {
		if e.Expected {
			close(stop)
		}
	}
	o.Stop = stop
	if s, err := pare.Select(t.Context(), x, y, o, c); err != nil || s.Final == nil || !slices.Equal(s.LogLambda, want.LogLambda) || !reflect.DeepEqual(s.Final, want.Final) {
		t.Errorf("stopped beside the refit: %v, %v", s, err)
	}
	if short == 0 {
		t.Error("no call has ended early")
	}
	oracle.GoroutinesEnd(t, before)
}

// TestResumedSearchesRefitAlike checks that a search answered from its log, which begins no refit ahead, ends with the
// refit of the original search.
func TestResumedSearchesRefitAlike(t *testing.T) {
	x, y, c := dear(t, 8, pare.Logistic)
	c.Threads = 8
	o := pare.SelectOptions{Validation: threeFolds, Log: search.NewLog("")}
	begun, want, err := pare.SearchedAhead(t.Context(), x, y, o, c, false)
	if err != nil || !begun {
		t.Fatal(begun, err)
	}
	for _, threads := range []int{1, 8} {
		c.Threads = threads
		begun, got, err := pare.SearchedAhead(t.Context(), x, y, o, c, false)
		if err != nil || begun || !reflect.DeepEqual(got, want) {
			t.Errorf("from the log with %d threads: ahead: %t, the refit the same: %t, %v", threads, begun, reflect.DeepEqual(got, want), err)
		}
	}
}
