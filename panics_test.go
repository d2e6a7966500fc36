package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// failing is a user's loss that panics when Slope is called for the (after+1)-th time.
type failing struct {
	loss.Squared
	after *atomic.Int64
}

var errFailing = errors.New("a bug of the caller's")

func (f failing) Name() string { return "failing" }

func (f failing) Slope(k *kernels.Set, y, m, out []float64) {
	if f.after.Add(-1) < 0 {
		panic(errFailing)
	}
	f.Squared.Slope(k, y, m, out)
}

// TestAPanicOfALossIsAnError checks that a panic of a loss becomes an error, whichever goroutine and call it occurs
// in.
func TestAPanicOfALossIsAnError(t *testing.T) {
	x, y := load(t)
	ctx, at := t.Context(), []float64{-1}
	calls := map[string]func(c pare.Config) error{
		"fit": func(c pare.Config) error {
			_, err := pare.Fit(ctx, x, y, at, c)
			return err
		},
		"largest λ": func(c pare.Config) error {
			_, err := pare.LogLambdaMax(x, y, c)
			return err
		},
		"path": func(c pare.Config) error {
			for _, err := range pare.Path(ctx, x, y, [][]float64{{0}, at}, c) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"gradient": func(c pare.Config) error {
			_, err := pare.Gradient(ctx, x, y, at, pare.Validation{}, c)
			return err
		},
		"validate": func(c pare.Config) error {
			for _, err := range pare.Validate(ctx, x, y, [][]float64{{0}, at}, pare.Validation{}, c) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"out of fold": func(c pare.Config) error {
			_, err := pare.OutOfFold(ctx, x, y, at, pare.Validation{}, c)
			return err
		},
		"select": func(c pare.Config) error {
			s, err := pare.Select(ctx, x, y, pare.SelectOptions{OneSE: true, Relaxed: true}, c)
			if err == nil {
				err = s.Err
			}
			return err
		},
	}
	for name, call := range calls {
		for _, threads := range []int{1, 4} {
			var left atomic.Int64
			left.Store(math.MaxInt64)
			c := pare.Config{Loss: failing{after: &left}, Threads: threads}
			if err := call(c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all := math.MaxInt64 - left.Load()
			for _, after := range []int64{0, 1, all / 2, all - 2} {
				left.Store(after)
				err := call(c)
				if cause, ok := errors.AsType[*outcome.PanicError](err); !ok || outcome.KindOf(err) != outcome.Internal || !errors.Is(err, errFailing) || len(cause.Stack) == 0 {
					t.Errorf("%s on %d threads, %d of %d calls: %v", name, threads, after, all, err)
				}
			}
		}
	}
}

// TestAFitterOutlivesAPanic checks that, after a panic, a Fitter still returns the bits of Fit.
func TestAFitterOutlivesAPanic(t *testing.T) {
	x, y := load(t)
	var left atomic.Int64
	left.Store(math.MaxInt64)
	c := pare.Config{Loss: failing{after: &left}, Threads: 1}
	fitter, err := pare.NewFitter(x, y, c)
	if err != nil {
		t.Fatal(err)
	}
	want, err := pare.Fit(t.Context(), x, y, []float64{1}, c)
	if err != nil {
		t.Fatal(err)
	}
	for after := range int64(12) {
		left.Store(after)
		_, failed := fitter.Fit(t.Context(), []float64{-1})
		left.Store(math.MaxInt64)
		got, err := fitter.Fit(t.Context(), []float64{1})
		if err != nil || !slices.Equal(got.Coef, want.Coef) || !slices.Equal(got.Support, want.Support) || got.Intercept != want.Intercept {
			t.Errorf("after %v: %v, %v, want %v", failed, err, got, want)
		}
	}
}

// TestAFitterWithoutLargestStrengthsGoesOn checks that a Fitter still works if the loss panics while αmax is
// computed, in a call that returns no error.
func TestAFitterWithoutLargestStrengthsGoesOn(t *testing.T) {
	x, y := load(t)
	for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.Ridge, pare.GroupLasso} {
		var left atomic.Int64
		left.Store(math.MaxInt64)
		c := pare.Config{Model: m, Loss: failing{after: &left}, Threads: 1}
		at := slices.Repeat([]float64{-1}, m.Hyperparameters(x, y))
		want, err := pare.Fit(t.Context(), x, y, at, c)
		if err != nil {
			t.Fatal(err)
		}
		for after := range int64(3) {
			fitter, err := pare.NewFitter(x, y, c)
			if err != nil {
				t.Fatal(err)
			}
			left.Store(after)
			top := fitter.LogLambdaMax()
			if failed := left.Load() < 0; failed != (top == nil) || after == 0 && !failed {
				t.Errorf("%s, %d slopes: %v", m, after, top)
			}
			left.Store(math.MaxInt64)
			if got, err := fitter.Fit(t.Context(), at); err != nil || !slices.Equal(got.Coef, want.Coef) || !slices.Equal(got.LogLambdaMax, want.LogLambdaMax) {
				t.Errorf("%s, after %d slopes: %v, %v, want %v", m, after, got, err, want)
			}
		}
	}
}

// absent is a loss that reads its name through a pointer, which is nil here.
type absent struct {
	loss.Squared
	name *string
}

func (a *absent) Name() string { return *a.name }

// TestANilLossIsAnError checks that a nil pointer in a non-nil interface, or inside a loss, is an error.
func TestANilLossIsAnError(t *testing.T) {
	x, y := load(t)
	for l, kind := range map[loss.Loss]outcome.Kind{(*absent)(nil): outcome.BadParameter, &absent{}: outcome.Internal} {
		c := pare.Config{Loss: l}
		_, traits := c.Traits()
		_, _, target := c.Target(y, nil)
		_, fit := pare.Fit(t.Context(), x, y, []float64{-1}, c)
		for name, err := range map[string]error{"traits": traits, "target": target, "fit": fit} {
			if outcome.KindOf(err) != kind {
				t.Errorf("%s, want %s: %v", name, kind, err)
			}
		}
	}
}

// unknown is a criterion that reads its name through a pointer, which is nil here.
type unknown struct{ name *string }

func (u *unknown) Name() string { return *u.name }

func (u *unknown) Eval(_ []int32, _, _, _, _ []float64) float64 { return float64(len(*u.name)) }

// TestANilCriterionIsAnError checks that a nil pointer in a non-nil interface, or inside a criterion, is an error.
func TestANilCriterionIsAnError(t *testing.T) {
	x, y := load(t)
	for judge, kind := range map[criterion.Criterion]outcome.Kind{(*unknown)(nil): outcome.BadParameter, &unknown{}: outcome.Internal} {
		for _, threads := range []int{1, 4} {
			_, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: pare.Validation{Loss: judge}}, pare.Config{Threads: threads})
			if outcome.KindOf(err) != kind {
				t.Errorf("%d threads, want %s: %v", threads, kind, err)
			}
		}
	}
}

// panicking is an observer that panics at one kind of event.
type panicking struct{ of string }

func (p panicking) told(of string) {
	if of == p.of {
		panic("what for")
	}
}

func (p panicking) Admission(a pare.Admission) {
	if a.Left {
		p.told("leaving")
	} else {
		p.told("admission")
	}
}

func (p panicking) Evaluation(pare.Model, search.Evaluation) { p.told("evaluation") }

func (p panicking) Solve(*pare.Fitted, time.Duration) { p.told("solve") }

// TestAPanicOfAnObserverIsAnError checks that a panic of an observer becomes an error, and that the call's place in
// the pool is released.
func TestAPanicOfAnObserverIsAnError(t *testing.T) {
	x, y := load(t)
	ctx, at := t.Context(), []float64{-1}
	fit := func(c pare.Config) error {
		_, err := pare.Fit(ctx, x, y, at, c)
		return err
	}
	fitter := func(c pare.Config) error {
		f, err := pare.NewFitter(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Fit(ctx, at)
		return err
	}
	path := func(c pare.Config) error {
		for _, err := range pare.Path(ctx, x, y, [][]float64{at}, c) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	choice := func(c pare.Config) error {
		s, err := pare.Select(ctx, x, y, pare.SelectOptions{}, c)
		if err == nil {
			err = s.Err // the error of an evaluation
		}
		return err
	}
	for of, calls := range map[string][]func(pare.Config) error{
		"admission": {fit, fitter, path, choice}, "solve": {fit, fitter, path, choice}, "evaluation": {choice}, "leaving": {fit, fitter, choice},
	} {
		p := pool(t, pare.PoolOptions{Calls: 1})
		for k, call := range calls {
			if err := call(pare.Config{Pool: p, Observer: panicking{of}}); outcome.KindOf(err) != outcome.Internal {
				t.Errorf("%s, call %d: %v", of, k, err)
			}
			if state := p.State(); state != (pare.PoolState{}) {
				t.Errorf("%s, call %d: %+v", of, k, state)
			}
		}
	}
	p := pool(t, pare.PoolOptions{Calls: 1})
	func() { // this call returns no error
		defer func() {
			if recover() == nil {
				t.Error("the panic at the end of a path is lost")
			}
		}()
		if err := path(pare.Config{Pool: p, Observer: panicking{"leaving"}}); err != nil {
			t.Error(err)
		}
	}()
	if state := p.State(); state != (pare.PoolState{}) {
		t.Errorf("%+v", state)
	}
}

// lost is a loss whose slopes are NaN.
type lost struct{ loss.Squared }

func (lost) Name() string { return "lost" }

func (lost) Slope(_ *kernels.Set, _, _, out []float64) {
	for i := range out {
		out[i] = math.NaN()
	}
}

// TestSlopesThatAreNoNumbersDoNotConverge checks that a fit with NaN slopes is not called converged, since no gap
// certifies it.
func TestSlopesThatAreNoNumbersDoNotConverge(t *testing.T) {
	x, y := load(t)
	f, err := pare.Fit(t.Context(), x, y, []float64{-1}, pare.Config{Loss: lost{}, MaxEpochs: 100})
	if err == nil && (f.Status.OK() || f.Gap == 0) {
		t.Errorf("%s at a gap of %g", f.Status, f.Gap)
	}
}

// steep is the squared loss with a reported curvature that is far too large.
type steep struct{ loss.Squared }

func (steep) Name() string { return "steep" }

func (steep) Curvature(_ *kernels.Set, _, _, out []float64) {
	for i := range out {
		out[i] = 1e6
	}
}

// TestASquaredLossOfTheCallersIsFittedLikeOurs checks that a user's squared loss is fitted like the built-in one,
// also if the target and so the intercept is far from 0.
func TestASquaredLossOfTheCallersIsFittedLikeOurs(t *testing.T) {
	x, y := load(t)
	var left atomic.Int64
	left.Store(math.MaxInt64)
	at := []float64{0.5}
	want, err := pare.Fit(t.Context(), x, y, at, pare.Config{Tol: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	got, err := pare.Fit(t.Context(), x, y, at, pare.Config{Tol: 1e-9, Loss: failing{after: &left}})
	if err != nil || got.Status != outcome.Converged || math.Abs(got.Objective-want.Objective) > 1e-9*want.Objective || !slices.Equal(got.Support, want.Support) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	// With intercept steps that are a millionth of the right length, the intercept ends on one side of all targets.
	wrong, err := pare.Fit(t.Context(), x, y, at, pare.Config{Loss: steep{}, MaxEpochs: 100})
	if err != nil || !(wrong.Gap >= wrong.Objective-want.Objective) {
		t.Errorf("%v, %v: a gap of %g, %g above the minimum", wrong, err, wrong.Gap, wrong.Objective-want.Objective)
	}
}

// TestASelectionWithoutAnEvaluationSaysWhy checks that a selection that was stopped before its first evaluation
// returns the reason and no model, however it was stopped.
func TestASelectionWithoutAnEvaluationSaysWhy(t *testing.T) {
	x, y := load(t)
	stop := make(chan struct{})
	close(stop)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, o := range map[string]pare.SelectOptions{"stop": {Stop: stop}, "time": {MaxDuration: 1}, "context": {}} {
		ctx := t.Context()
		if name == "context" {
			ctx = cancelled
			o.Progress = func(search.Evaluation) { t.Error("an evaluation") }
		}
		s, err := pare.Select(ctx, x, y, o, pare.Config{})
		if err != nil {
			if name != "context" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if (s.LogLambda == nil) != (s.Final == nil) || s.Final == nil && outcome.KindOf(s.Err) != outcome.Limit {
			t.Errorf("%s: %v, %v, %v", name, s.LogLambda, s.Final, s.Err)
		}
	}
}

// TestRelaxRefusesWhatIsNoFit checks that Relax refuses an invalid model, such as one read from a damaged file.
func TestRelaxRefusesWhatIsNoFit(t *testing.T) {
	x, y := load(t)
	good, err := pare.Fit(t.Context(), x, y, []float64{-1}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*pare.Fitted){
		"beyond the columns": func(f *pare.Fitted) { f.Support = []int32{77}; f.Coef = []float64{1} },
		"short":              func(f *pare.Fitted) { f.Coef = f.Coef[1:] },
		"descending":         func(f *pare.Fitted) { f.Support = []int32{2, 1}; f.Coef = []float64{1, 1} },
		"NaN":                func(f *pare.Fitted) { f.Support = []int32{1}; f.Coef = []float64{math.NaN()} },
	} {
		f := *good
		damage(&f)
		if _, err := pare.Relax(t.Context(), x, y, &f, pare.Config{}); outcome.KindOf(err) != outcome.Shape {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := pare.Relax(t.Context(), x, y, nil, pare.Config{}); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("none: %v", err)
	}
}
