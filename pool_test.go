package pare_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

func pool(t *testing.T, o pare.PoolOptions) *pare.Pool {
	t.Helper()
	p, err := pare.NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPoolIsShared checks that calls that share a pool have the bits of calls on their own, however many there are, and
// that at most as many inner problems are solved at once as the pool has threads.
func TestPoolIsShared(t *testing.T) {
	const threads = 3
	for _, model := range []pare.Model{pare.Lasso, pare.Multiclass, pare.SVM} {
		x, y := drawn(t, 60, 13, model)
		var o pare.SelectOptions
		var crowd fixture.Crowd
		if model == pare.Lasso {
			o.Validation.Loss = criterion.Func("counted", func(y, m, slope []float64) float64 {
				crowd.Enter()
				defer crowd.Leave()
				runtime.Gosched()
				loss := 0.0
				for i := range y {
					d := (m[i] - y[i]) / float64(len(y))
					if loss += 0.5 * d * (m[i] - y[i]); slope != nil {
						slope[i] = d
					}
				}
				return loss
			})
		}
		want, err := pare.Select(context.Background(), x, y, o, pare.Config{Model: model})
		if err != nil {
			t.Fatal(err)
		}
		crowd = fixture.Crowd{}
		shared := pool(t, pare.PoolOptions{Threads: threads, Calls: 5})
		var clients sync.WaitGroup
		for range 12 {
			clients.Go(func() {
				got, err := pare.Select(context.Background(), x, y, o, pare.Config{Model: model, Pool: shared})
				if err != nil || !reflect.DeepEqual(got.LogLambda, want.LogLambda) || got.Value != want.Value || !reflect.DeepEqual(got.Final.Coef, want.Final.Coef) {
					t.Errorf("%s: %v, %+v, alone %+v", model, err, got, want)
				}
			})
		}
		clients.Wait()
		if n := crowd.Most(); n > threads {
			t.Errorf("%s: %d criteria at once, there are %d threads", model, n, threads)
		}
		if s := shared.State(); s != (pare.PoolState{}) {
			t.Errorf("%s: left behind %+v", model, s)
		}
	}
}

// crowded is a loss that records the largest number of simultaneous users.
type crowded struct {
	exponential
	*fixture.Crowd
}

func (l crowded) Slope(k *kernels.Set, y, m, out []float64) {
	l.Enter()
	defer l.Leave()
	time.Sleep(50 * time.Microsecond) // gives other goroutines time to arrive
	l.exponential.Slope(k, y, m, out)
}

// TestModelsOfFoldsTakeTurns checks that, over all calls and including their null models, no more models are fitted at
// once than the pool has threads.
func TestModelsOfFoldsTakeTurns(t *testing.T) {
	x, y, err := twoClasses()
	if err != nil {
		t.Fatal(err)
	}
	watch := crowded{Crowd: new(fixture.Crowd)}
	c := pare.Config{Loss: watch, Pool: pool(t, pare.PoolOptions{Threads: 1, Calls: 3})}
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			if _, err := pare.OutOfFold(t.Context(), x, y, []float64{-3}, pare.Validation{}, c); err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
	if n := watch.Most(); n != 1 {
		t.Errorf("%d at once", n)
	}
}

// TestPoolCountsRefitsOfFolds checks that as many folds are refitted at once as there are threads, and fewer if memory
// is short.
func TestPoolCountsRefitsOfFolds(t *testing.T) {
	x, y, err := twoClasses()
	if err != nil {
		t.Fatal(err)
	}
	call := func(threads int, most int64) (bytes int64, atOnce int, err error) {
		seen := &expected{Observer: pare.LogTo(slog.New(slog.DiscardHandler))}
		watch := crowded{Crowd: new(fixture.Crowd)}
		c := pare.Config{Loss: watch, Threads: threads, Pool: pool(t, pare.PoolOptions{Threads: threads, MaxBytes: most}), Observer: seen}
		_, err = pare.OutOfFold(t.Context(), x, y, []float64{-3}, pare.Validation{Folds: 8}, c)
		return seen.bytes, watch.Most(), err
	}
	one, _, err := call(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	four, n, err := call(4, 0)
	if err != nil || n < 2 || four < 3*one || four > 4*one {
		t.Errorf("one at a time %d bytes, four %d, %d at once, %v", one, four, n, err)
	}
	if bytes, n, err := call(4, one); err != nil || n != 1 || bytes > one {
		t.Errorf("with the memory of one, %d, %d bytes, %d at once, %v", one, bytes, n, err)
	}
	if _, _, err := call(4, one/50); outcome.KindOf(err) != outcome.Limit {
		t.Errorf("with a fiftieth of it: %v", err)
	}
}

// TestMeasuresTakeATurn checks that computing measures waits for a free turn of the pool, with several scores per row
// and with one.
func TestMeasuresTakeATurn(t *testing.T) {
	q := oracle.NewRandom(3).Problem(oracle.Shape{N: 9, P: 2, Density: 1})
	x := matrixOf(t, q.X, 2, true)
	for _, classes := range [][]float64{nil, {0, 1, 2}} {
		c, y := pare.Config{}, q.Y
		all := bilevel.Predicted{Scores: [][]float64{make([]float64, 9)}}
		if classes != nil {
			c.Model, y = pare.Multiclass, []float64{0, 1, 2, 0, 1, 2, 0, 1, 2}
			all.Scores = [][]float64{make([]float64, 9), make([]float64, 9), make([]float64, 9)}
		}
		for i := range int32(9) {
			all.Rows = append(all.Rows, i)
		}
		synctest.Test(t, func(t *testing.T) {
			c.Pool = pool(t, pare.PoolOptions{Threads: 1})
			var leave func()
			var got []pare.Measure
			go func() {
				var err error
				got, err = pare.MeasuresOfPredicted(t.Context(), x, y, c, []bilevel.Predicted{all}, classes, func(l func()) { leave = l })
				if err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
			if leave == nil || got != nil {
				t.Fatalf("%d classes: judged without a turn", len(classes))
			}
			leave()
			if synctest.Wait(); len(got) == 0 {
				t.Errorf("%d classes: not judged with a turn", len(classes))
			}
		})
	}
}

// TestPoolLendsMemoryAgain checks that a call reuses the memory of the call before, and that results never refer to
// that memory.
func TestPoolLendsMemoryAgain(t *testing.T) {
	ctx := context.Background()
	for _, model := range []pare.Model{pare.Lasso, pare.Logistic, pare.WeightedLasso, pare.Multiclass, pare.SVM} {
		x, y := drawn(t, 60, 13, model)
		other, target := drawn(t, 50, 17, model)
		shared := pool(t, pare.PoolOptions{})
		o := pare.SelectOptions{Measures: true}
		alone, err := pare.Select(ctx, x, y, o, pare.Config{Model: model})
		if err != nil {
			t.Fatal(err)
		}
		got, err := pare.Select(ctx, x, y, o, pare.Config{Model: model, Pool: shared})
		if err != nil {
			t.Fatal(err)
		}
		gradient, err := pare.Gradient(ctx, x, y, alone.LogLambda, pare.Validation{}, pare.Config{Model: model, Pool: shared})
		if err != nil {
			t.Fatal(err)
		}
		shown := func() string { return fmt.Sprintf("%+v %+v %+v", *got, *got.Final, *gradient) }
		before := shown()
		for range 2 {
			if _, err := pare.Select(ctx, other, target, o, pare.Config{Model: model, Pool: shared}); err != nil {
				t.Fatal(err)
			}
		}
		if after := shown(); after != before {
			t.Errorf("%s: a later call has changed\n%s to\n%s", model, before, after)
		}
		if got.Value != alone.Value || !reflect.DeepEqual(got.Final.Coef, alone.Final.Coef) || !reflect.DeepEqual(got.Measures, alone.Measures) {
			t.Errorf("%s: %+v, alone %+v", model, got, alone)
		}
		if model == pare.SVM {
			continue
		}
		was, err := pare.Select(ctx, x, y, pare.SelectOptions{From: alone}, pare.Config{Model: model})
		if err != nil {
			t.Fatal(err)
		}
		now, err := pare.Select(ctx, x, y, pare.SelectOptions{From: got}, pare.Config{Model: model, Pool: shared})
		if err != nil || now.Value != was.Value || !reflect.DeepEqual(now.Final.Coef, was.Final.Coef) {
			t.Errorf("%s: from it %v, %+v, alone %+v", model, err, now, was)
		}
	}
}

// TestPoolRefuses checks that a refused call returns the reason, and that a waiting call ends with its context.
func TestPoolRefuses(t *testing.T) {
	x, y := drawn(t, 60, 13, pare.Lasso)
	ctx := context.Background()
	one := pool(t, pare.PoolOptions{Calls: 1, Queue: 1})
	c := pare.Config{Pool: one}
	inside, outside := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(outside)
		for _, err := range pare.Path(ctx, x, y, [][]float64{{-1}, {-2}}, c) {
			if err != nil {
				t.Error(err)
			}
			inside <- struct{}{}
		}
	}()
	<-inside // the path keeps its place in the pool until the second receive
	dying, die := context.WithCancel(ctx)
	ended := make(chan error)
	go func() {
		_, err := pare.Select(dying, x, y, pare.SelectOptions{}, c)
		ended <- err
	}()
	for one.State().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := pare.Fit(ctx, x, y, []float64{0}, c); outcome.KindOf(err) != outcome.Limit {
		t.Errorf("one too many: %v", err)
	}
	die()
	if err := <-ended; outcome.KindOf(err) != outcome.Limit || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it waited: %v", err)
	} else if result := (pare.Admission{Err: err}).Result(); result != "cancelled" {
		t.Errorf("cancelled while it waited: %q", result)
	}
	<-inside
	<-outside
	if _, err := pare.Fit(ctx, x, y, []float64{0}, c); err != nil || one.State() != (pare.PoolState{}) {
		t.Errorf("afterwards: %v, %+v", err, one.State())
	}
	told := &expected{}
	small := pare.Config{Pool: pool(t, pare.PoolOptions{MaxBytes: 1 << 16}), Observer: told}
	if _, err := pare.Select(ctx, x, y, pare.SelectOptions{}, small); outcome.KindOf(err) != outcome.Limit || told.bytes <= 1<<16 {
		t.Errorf("64 KB: %v; the observer was told of %d bytes", err, told.bytes)
	}
	for flag, o := range map[string]pare.PoolOptions{
		"threads": {Threads: -1, Calls: -1, Queue: -1, MaxBytes: -1}, "calls": {Calls: -1, MaxBytes: -1}, "queue": {Queue: -1, MaxBytes: -1}, "max-bytes": {MaxBytes: -1},
	} { // of several errors the first is reported
		_, err := pare.NewPool(o)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.BadParameter || e.Flag != flag {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestZeroValuesAreRefused checks that zero values of types that need a constructor are refused, and so are nil lanes.
func TestZeroValuesAreRefused(t *testing.T) {
	x, y := drawn(t, 60, 13, pare.Lasso)
	ctx, c := t.Context(), pare.Config{Pool: &pare.Pool{}}
	refused := func(name string, err error) {
		t.Helper()
		if outcome.KindOf(err) != outcome.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := pare.Fit(ctx, x, y, []float64{-1}, c)
	refused("a fit in an empty pool", err)
	_, err = pare.Select(ctx, x, y, pare.SelectOptions{}, c)
	refused("a choice in an empty pool", err)
	_, err = pare.NewFitter(x, y, c)
	refused("a fitter in an empty pool", err)
	if state := c.Pool.State(); state != (pare.PoolState{}) {
		t.Errorf("an empty pool: %+v", state)
	}
	_, err = new(pare.Fitter).Fit(ctx, []float64{-1})
	refused("an empty fitter", err)
	if top := new(pare.Fitter).LogLambdaMax(); top != nil {
		t.Errorf("an empty fitter: %v", top)
	}
	for _, m := range []pare.Model{pare.Lasso, pare.WeightedLasso} {
		_, err = pare.Select(ctx, x, y, pare.SelectOptions{Lanes: func(context.Context, pare.Job) (bilevel.Runner, error) { return nil, nil }}, pare.Config{Model: m})
		refused("no lanes of "+string(m), err)
	}
}

// expected is an observer that records the memory that calls are expected to use.
type expected struct {
	pare.Observer
	bytes, least int64
}

func (e *expected) Admission(a pare.Admission) {
	e.bytes, e.least = max(e.bytes, a.Bytes), min(e.least, a.Bytes)
}

// weighed also records the peak of the heap at evaluations and solves.
type weighed struct {
	expected
	held int64
}

func (w *weighed) Evaluation(pare.Model, search.Evaluation) { w.held = max(w.held, heldBytes()) }
func (w *weighed) Solve(*pare.Fitted, time.Duration)        { w.held = max(w.held, heldBytes()) }

// heldBytes returns the number of heap bytes still in use.
func heldBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestExpectedBytes checks that the expected memory of a selection is right to a factor of 3, and that a selection with
// less memory adapts and still finishes.
func TestExpectedBytes(t *testing.T) {
	oracle.Once(t)
	r := oracle.NewRandom(3)
	for i, shape := range []struct {
		n, p    int
		density float64
	}{{442, 10, 1}, {3000, 40, 1}, {72, 4000, 1}, {2000, 2000, 0.01}, {6000, 60, 0.1}} {
		q := r.Problem(oracle.Shape{N: shape.n, P: shape.p, Density: shape.density, Active: 20})
		x := matrixOf(t, q.X, shape.p, shape.density == 1)
		for j, model := range []pare.Model{pare.Lasso, pare.Logistic, pare.Ridge} {
			if !oracle.Turn(i+j, 2) {
				continue
			}
			y := targetsFor(model, q.Y)
			seen := &weighed{expected: expected{Observer: pare.LogTo(slog.New(slog.DiscardHandler))}}
			before := heldBytes()
			if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{Model: model, Threads: 2, Pool: pool(t, pare.PoolOptions{}), Observer: seen}); err != nil {
				t.Fatal(err)
			}
			met := seen.held - before
			ratio := float64(seen.bytes) / float64(met)
			t.Logf("%s, %d × %d, density %g: %.1f MB expected, %.1f met: %.2f", model, shape.n, shape.p, shape.density, float64(seen.bytes)/1e6, float64(met)/1e6, ratio)
			if ratio > 3 || ratio < 1./3 {
				t.Errorf("%s, %d × %d, density %g: %d bytes expected, %d met", model, shape.n, shape.p, shape.density, seen.bytes, met)
			}
		}
	}
}

// TestExpectedBytesOfFoldsThatCannotBe checks that the expected memory for an impossible number of folds is at most
// that for one fold per row, and never negative. The number of folds is checked only after the call is admitted.
func TestExpectedBytesOfFoldsThatCannotBe(t *testing.T) {
	x, y := drawn(t, 60, 13, pare.Lasso)
	ids := make([]int, len(y))
	ids[7] = math.MaxInt
	told := func(v pare.Validation) (least, most int64) {
		seen := &expected{Observer: pare.LogTo(slog.New(slog.DiscardHandler)), least: math.MaxInt64}
		c := pare.Config{Pool: pool(t, pare.PoolOptions{}), Observer: seen, Threads: 2}
		_, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: v, Evaluations: 1}, c)
		if _, again := pare.OutOfFold(t.Context(), x, y, []float64{0}, v, c); v.Folds != len(y) && (outcome.KindOf(err) != outcome.BadParameter || outcome.KindOf(again) != outcome.BadParameter) {
			t.Errorf("%+v: %v, %v", v, err, again)
		}
		return seen.least, seen.bytes
	}
	_, most := told(pare.Validation{Folds: len(y)})
	for _, v := range []pare.Validation{{Folds: -5}, {Folds: math.MinInt}, {Folds: 1 << 30}, {Folds: math.MaxInt}, {FoldIDs: ids}} {
		if least, bytes := told(v); least <= 0 || bytes > most {
			t.Errorf("folds %d: %d to %d bytes, %d at most", v.Folds, least, bytes, most)
		}
	}
}

// TestExpectedBytesOfRows checks the expected memory of models that hold matrices of rows, and numbers for every row
// and class.
func TestExpectedBytesOfRows(t *testing.T) {
	oracle.Once(t)
	const n, p, q = 150, 5, 30
	for _, model := range []pare.Model{pare.SVR, pare.SimplexSVR, pare.Multinomial} {
		x, y := drawn(t, n, p, pare.Lasso)
		var o pare.SelectOptions
		if model == pare.Multinomial {
			o.Evaluations = 4
			for i := range y {
				y[i] = float64(i % q)
			}
		}
		seen := &weighed{expected: expected{Observer: pare.LogTo(slog.New(slog.DiscardHandler))}}
		before := heldBytes()
		if _, err := pare.Select(context.Background(), x, y, o, pare.Config{Model: model, Threads: 2, Pool: pool(t, pare.PoolOptions{}), Observer: seen}); err != nil {
			t.Fatal(err)
		}
		met := seen.held - before
		ratio := float64(seen.bytes) / float64(met)
		t.Logf("%s: %.1f MB expected, %.1f met: %.2f", model, float64(seen.bytes)/1e6, float64(met)/1e6, ratio)
		if ratio > 3 || ratio < 1./3 {
			t.Errorf("%s: %d bytes expected, %d met", model, seen.bytes, met)
		}
	}
}

// TestPoolAdapts checks that a call with less memory than it could use has smaller caches and fits fewer classes at
// once.
func TestPoolAdapts(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 200, P: 150, Density: 1, Active: 10})
	x := matrixOf(t, q.X, 150, true)
	for _, model := range []pare.Model{pare.Lasso, pare.Multiclass} {
		y := targetsFor(model, q.Y)
		if model == pare.Multiclass {
			for i := range y {
				y[i] = float64(i % 4)
			}
		}
		at := func(most int64) (int64, error) {
			seen := &expected{Observer: pare.LogTo(slog.New(slog.DiscardHandler))}
			s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{Model: model, Threads: 4, Pool: pool(t, pare.PoolOptions{Threads: 4, MaxBytes: most}), Observer: seen})
			if err == nil && (s.Final == nil || s.Final.Status != outcome.Converged) {
				err = fmt.Errorf("it ended as %s", s.Status)
			}
			return seen.bytes, err
		}
		whole, err := at(0)
		if err != nil {
			t.Fatal(err)
		}
		if bytes, err := at(2 * whole / 3); err != nil || bytes > 2*whole/3 {
			t.Errorf("%s with two thirds of %d bytes: %d, %v", model, whole, bytes, err)
		}
		if _, err := at(whole / 50); outcome.KindOf(err) != outcome.Limit {
			t.Errorf("%s with a fiftieth of %d bytes: %v", model, whole, err)
		}
	}
}

// TestLogTo checks that admissions, evaluations and the refit are logged.
func TestLogTo(t *testing.T) {
	x, y := drawn(t, 60, 13, pare.Lasso)
	var out strings.Builder
	c := pare.Config{Pool: pool(t, pare.PoolOptions{}), Observer: pare.LogTo(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))}
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, c)
	if err != nil {
		t.Fatal(err)
	}
	for what, times := range map[string]int{"msg=admitted": 1, "msg=left": 1, "msg=evaluation": len(s.Evaluations), "msg=solve": 1, "pool.running=0": 1} {
		if n := strings.Count(out.String(), what); n != times {
			t.Errorf("%s %d times, want %d: %s", what, n, times, &out)
		}
	}
}
