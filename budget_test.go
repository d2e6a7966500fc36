package pare_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestSupportBudget checks that no result has more columns than allowed, and that a path ends with an error that names
// the cap, after the points within the cap.
func TestSupportBudget(t *testing.T) {
	ctx := context.Background()
	x, y := text(t)
	top := lambdaMax(t, x, y, pare.Config{})
	points := 0
	for f, err := range pare.Path(ctx, x, y, search.Geometric(top, -5, 30), pare.Config{MaxSupport: 20}) {
		if err != nil {
			if flag := limited(t, err); flag != "max-support" {
				t.Errorf("%v", err)
			}
			break
		}
		if points++; len(f.Support) > 20 {
			t.Errorf("a support of %d", len(f.Support))
		}
	}
	if points < 3 || points == 30 {
		t.Errorf("%d points within the limit", points)
	}
	for _, m := range []pare.Model{pare.Ridge, pare.Lasso, pare.ElasticNet} {
		lambda := []float64{top - 5, top - 5}[:m.Hyperparameters(x, y)]
		_, err := pare.Gradient(ctx, x, y, lambda, pare.Validation{InOrder: true}, pare.Config{Model: m, MaxSupport: 5})
		if flag := limited(t, err); flag != "max-support" {
			t.Errorf("%s: %v", m, err)
		}
	}
	_, err := pare.Gradient(ctx, x, y, []float64{top - 3}, pare.Validation{InOrder: true}, pare.Config{Method: pare.ForwardPCD, MaxSupport: 5})
	if flag := limited(t, err); flag != "max-support" {
		t.Errorf("forward: %v", err)
	}
	if _, err := pare.Fit(ctx, x, y, []float64{0}, pare.Config{MaxSupport: -1}); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("a negative cap: %v", err)
	}
	if _, err := pare.Fit(ctx, x, y, []float64{0}, pare.Config{Model: pare.SVM, MaxSupport: 1}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("a cap on an SVM: %v", err)
	}
}

// limited returns the flag named by an error of kind Limit.
func limited(t *testing.T, err error) string {
	t.Helper()
	e, ok := errors.AsType[*outcome.Error](err)
	if !ok || e.Kind != outcome.Limit {
		t.Fatalf("%v, want a limit", err)
	}
	return e.Flag
}

// TestMemoryBudget checks that a problem over the cap is refused before anything is allocated, and that a problem
// within it allocates less in total than the smallest cap that admits it.
func TestMemoryBudget(t *testing.T) {
	oracle.Once(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection, so that the total counts every allocation
	ctx := context.Background()
	allocated := func(f func()) int64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	r := oracle.NewRandom(8)
	draw := func(n, p int, density float64) (sparse.Matrix, []float64) {
		q := r.Problem(oracle.Shape{N: n, P: p, Density: density, Active: 30})
		return matrixOf(t, q.X, p, density == 1), q.Y
	}
	for i, shape := range []struct {
		name    string
		n, p    int
		density float64
	}{{"tall", 3000, 20, 1}, {"wide", 50, 3000, 0.05}, {"dense", 200, 400, 1}, {"text", 2000, 2000, 0.005}, {"sampled", 9000, 150, 0.1}} {
		name := shape.name
		x, numbers := draw(shape.n, shape.p, shape.density)
		for j, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.Ridge, pare.Logistic, pare.Poisson, pare.Gamma, pare.Huber} {
			if !oracle.Turn(i+j, 5) {
				continue
			}
			y := targetsFor(m, numbers)
			lambda := somewhere(t, x, y, pare.Config{Model: m})
			for i := range lambda {
				lambda[i] -= 3
			}
			run := func(most int64) (bytes int64, err error) {
				bytes = allocated(func() {
					_, err = pare.Gradient(ctx, x, y, lambda, pare.Validation{InOrder: true, Folds: 3}, pare.Config{Model: m, MaxBytes: most, Threads: 1})
				})
				return bytes, err
			}
			if bytes, err := run(1 << 20); err == nil || bytes > 1<<14 {
				t.Errorf("%s, %s: %v after %d bytes", name, m, err, bytes)
			}
			passes := func(most int64) bool {
				_, err := pare.Afford(x, y, pare.Config{Model: m, MaxBytes: most}, 4)
				return err == nil
			}
			lo, hi := int64(1<<20), int64(1<<21)
			for ; !passes(hi); hi *= 2 {
				lo = hi
			}
			for hi-lo > hi>>17 { // bisect to the smallest cap that admits the problem, to about 1 part in 2¹⁷
				if mid := lo + (hi-lo)/2; passes(mid) {
					hi = mid
				} else {
					lo = mid
				}
			}
			if columns, err := pare.Afford(x, y, pare.Config{Model: m, MaxBytes: hi}, 4); err != nil || columns != pare.LeastGram {
				t.Errorf("%s, %s: %d columns for the Gram matrix at the least cap, %v", name, m, columns, err)
			}
			if bytes, err := run(hi); err != nil || bytes > hi {
				t.Errorf("%s, %s: %v, %d bytes allocated, the least cap is %d", name, m, err, bytes, hi)
			} else {
				t.Logf("%s, %s: %.3g of %.3g", name, m, float64(bytes), float64(hi))
			}
		}
	}
}

// TestMemoryBudgetOfColumns checks that a choice of one λ per column, by folds and by SURE, also keeps within its cap.
func TestMemoryBudgetOfColumns(t *testing.T) {
	oracle.Once(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: 300, P: 400, Density: 0.1, Active: 30})
	x := matrixOf(t, q.X, 400, false)
	for _, v := range []pare.Validation{{InOrder: true, Folds: 3}, {Criterion: pare.SURE, Sigma: 0.5}} {
		run := func(most int64) (int64, error) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := pare.Select(context.Background(), x, q.Y, pare.SelectOptions{Validation: v, Evaluations: 8}, pare.Config{Model: pare.WeightedLasso, MaxBytes: most, Threads: 1})
			runtime.ReadMemStats(&after)
			return int64(after.TotalAlloc - before.TotalAlloc), err
		}
		problems := 2 * (1 + 3) // with one λ and with one λ per column, all held at once
		if v.Criterion == pare.SURE {
			problems = 2 * (1 + 2)
		}
		most := int64(1 << 20)
		for ; ; most += most / 16 {
			if _, err := pare.Afford(x, q.Y, pare.Config{Model: pare.WeightedLasso, MaxBytes: most}, problems); err == nil {
				break
			}
		}
		bytes, err := run(most)
		if err != nil || bytes > most {
			t.Errorf("%s: %v, %d bytes allocated, the least cap is %d", v.Criterion, err, bytes, most)
		}
		t.Logf("%.3g of %.3g", float64(bytes), float64(most))
	}
}

// watched counts how many folds are evaluated at a time.
type watched struct {
	criterion.MeanSquaredError
	now, most *atomic.Int32
}

func (w watched) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	at := w.now.Add(1)
	defer w.now.Add(-1)
	for seen := w.most.Load(); at > seen; seen = w.most.Load() {
		w.most.CompareAndSwap(seen, at)
	}
	time.Sleep(time.Millisecond)
	return w.MeanSquaredError.Eval(rows, y, m, slope, curvature)
}

// TestThreadBudget checks that at most as many folds are evaluated at a time as there are threads.
func TestThreadBudget(t *testing.T) {
	x, y := load(t)
	for _, threads := range []int{1, 3} {
		w := watched{now: new(atomic.Int32), most: new(atomic.Int32)}
		if _, err := pare.Gradient(context.Background(), x, y, []float64{-1}, pare.Validation{InOrder: true, Folds: 20, Loss: w}, pare.Config{Threads: threads}); err != nil {
			t.Fatal(err)
		}
		if most := int(w.most.Load()); most == 0 || most > threads {
			t.Errorf("%d folds at a time on %d threads", most, threads)
		}
	}
}

// TestTimeBudget checks that, once the time limit has passed, a path still returns the point that was complete and the
// point in progress, with its true gap. The limit counts from the first point.
func TestTimeBudget(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 300, P: 600, Correlation: 0.99, Active: 200})
	x := matrixOf(t, q.X, 600, true)
	top := lambdaMax(t, x, q.Y, pare.Config{})
	const budget = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	points, late, cancelled := 0, 0, 0
	for f, err := range pare.Path(ctx, x, q.Y, search.Geometric(top, -9, 100_000), pare.Config{Tol: 1e-14}) {
		if err != nil {
			t.Fatal(err)
		}
		if points++; points == 1 {
			time.AfterFunc(budget, cancel)
		}
		if ctx.Err() != nil {
			late++
		}
		if f.Status == outcome.Cancelled {
			cancelled++
			if f.RelativeGap <= 1e-14 {
				t.Errorf("cancelled at a gap of %g", f.RelativeGap)
			}
		}
	}
	if late > 2 || cancelled > 1 || ctx.Err() == nil {
		t.Errorf("%d points after the deadline, %d cancelled", late, cancelled)
	}
}

// targetsFor returns targets of the kind that a model with one predictor takes: numbers, counts, sizes or signs.
func targetsFor(m pare.Model, numbers []float64) []float64 {
	switch m {
	case pare.Poisson:
		counts := make([]float64, len(numbers))
		for i, v := range numbers {
			counts[i] = math.Floor(2 * math.Abs(v))
		}
		return counts
	case pare.Gamma, pare.Tweedie:
		sizes := make([]float64, len(numbers))
		for i, v := range numbers {
			sizes[i] = 0.1 + math.Abs(v)
		}
		return sizes
	case pare.Logistic, pare.SquaredHinge, pare.SVM:
		return signs(numbers)
	default:
		return numbers
	}
}

func signs(y []float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = math.Copysign(1, v)
	}
	return out
}

// TestFewerFoldsAtOnce checks that, if the cap does not admit all folds at once, folds take turns and release their
// memory. The choice has the bits of a search with a log, whose solves also start afresh.
func TestFewerFoldsAtOnce(t *testing.T) {
	r := oracle.NewRandom(8)
	for i, m := range []pare.Model{pare.Lasso, pare.Logistic, pare.SVM, pare.ElasticNet, pare.MCP, pare.WeightedLasso} {
		if !oracle.Turn(i, 3) {
			continue
		}
		q := r.Problem(oracle.Shape{N: 400, P: 120, Density: 0.3, Active: 20})
		x, y := matrixOf(t, q.X, 120, false), targetsFor(m, q.Y)
		o := pare.SelectOptions{Validation: pare.Validation{Folds: 8}, Evaluations: 6}
		choose := func(most int64, log *search.Log) (string, error) {
			own := o
			own.Log = log
			s, err := pare.Select(context.Background(), x, y, own, pare.Config{Model: m, MaxBytes: most, Threads: 2, Standardize: m == pare.MCP})
			if err != nil {
				return "", err
			}
			return without(t, s), nil
		}
		most := int64(1 << 20)
		for ; ; most += most / 16 { // until five problems fit; all at once would need at least nine
			if _, err := pare.Afford(x, y, pare.Config{Model: m, MaxBytes: most}, 5); err == nil {
				break
			}
		}
		want, err := choose(0, search.NewLog("key"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := choose(most, nil); err != nil || got != want {
			t.Errorf("%s: %v, %s\nwant %s", m, err, got, want)
		}
		if got, err := choose(most, search.NewLog("key")); err != nil || got != want {
			t.Errorf("%s, with a log: %v, %s\nwant %s", m, err, got, want)
		}
	}
}

// inUse records the peak of the memory in use while folds are evaluated.
type inUse struct {
	criterion.MeanSquaredError
	*peak
}

type peak struct {
	sync.Mutex
	most uint64
}

func (w inUse) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	w.Lock()
	w.most = max(w.most, now.HeapAlloc)
	w.Unlock()
	return w.MeanSquaredError.Eval(rows, y, m, slope, curvature)
}

// TestFewerFoldsHoldLess checks that the memory in use never exceeds the cap, which is less than all folds would hold
// together.
func TestFewerFoldsHoldLess(t *testing.T) {
	oracle.Once(t)
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: 1000, P: 300, Density: 0.3, Active: 60})
	x := matrixOf(t, q.X, 300, false)
	const folds = 12
	hold := func(most int64) int64 {
		var before runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		w := inUse{peak: new(peak)}
		v := pare.Validation{Folds: folds, Loss: w}
		if _, err := pare.Select(context.Background(), x, q.Y, pare.SelectOptions{Validation: v, Evaluations: 3}, pare.Config{MaxBytes: most, Threads: 1}); err != nil {
			t.Fatal(err)
		}
		return int64(w.most) - int64(before.HeapAlloc)
	}
	most := int64(1 << 20)
	for ; ; most += most / 16 {
		if _, err := pare.Afford(x, q.Y, pare.Config{MaxBytes: most}, 2); err == nil {
			break
		}
	}
	few, all := hold(most), hold(0)
	t.Logf("%.3g in use where the cap is %.3g, %.3g of %d folds at once", float64(few), float64(most), float64(all), folds)
	if few > most || few > all/3 {
		t.Errorf("%d bytes in use, the cap is %d; %d where all folds are held", few, most, all)
	}
}

// TestRefitsOfFoldsShareTheCap checks that as many refits run at once as the cap admits, however many threads there
// are, and that each has its share of the memory for Gram matrices.
func TestRefitsOfFoldsShareTheCap(t *testing.T) {
	x, y, err := twoClasses()
	if err != nil {
		t.Fatal(err)
	}
	atOnce := func(most int64) (int, error) {
		watch := crowded{Crowd: new(fixture.Crowd)}
		_, err := pare.OutOfFold(t.Context(), x, y, []float64{-3}, pare.Validation{Folds: 8}, pare.Config{Loss: watch, MaxBytes: most, Threads: 4})
		return watch.Most(), err
	}
	free, err := atOnce(0)
	if err != nil || free < 2 || free > 4 {
		t.Fatalf("%d at once without a cap, %v", free, err)
	}
	least := int64(1 << 20)
	for ; ; least += least / 16 {
		if n, err := atOnce(least); err == nil {
			if n != 1 {
				t.Errorf("%d at once with the least cap, %d", n, least)
			}
			break
		}
	}
	each, refit, err := pare.CapsOfRefits(t.Context(), x, y, pare.Config{MaxBytes: 3 * least}, 3)
	if err != nil || refit != each || each == 0 {
		t.Errorf("Gram matrices of %d columns, those of refits of %d, %v", each, refit, err)
	}
}

// solves is an observer that records the memory in use after each solve on all rows and after each refit of a fold.
type solves struct {
	pare.Observer
	held []int64
}

func (s *solves) Solve(*pare.Fitted, time.Duration) { s.held = append(s.held, heldBytes()) }

// TestSearchesMakeRoomForRefits checks that a search releases its memory before its folds are refitted.
func TestSearchesMakeRoomForRefits(t *testing.T) {
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: 1000, P: 300, Density: 0.3, Active: 60})
	x := matrixOf(t, q.X, 300, false)
	seen := &solves{Observer: pare.LogTo(slog.New(slog.DiscardHandler))}
	before := heldBytes()
	o := pare.SelectOptions{Validation: pare.Validation{Folds: 12}, Evaluations: 3, Relaxed: true}
	if _, err := pare.Select(t.Context(), x, q.Y, o, pare.Config{Threads: 1, Observer: seen}); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(x)
	final, last := seen.held[0]-before, seen.held[len(seen.held)-1]-before
	if last > final/2 {
		t.Errorf("%d bytes after the search, %d after the refits", final, last)
	}
}

// TestFewColumnsHoldLess checks that, if the cap does not admit even one fold with copies of all its columns, the
// copies are limited in size and the memory in use stays within the cap.
func TestFewColumnsHoldLess(t *testing.T) {
	oracle.Once(t)
	q := oracle.NewRandom(9).Problem(oracle.Shape{N: 3000, P: 400, Density: 0.3, Active: 60})
	x := matrixOf(t, q.X, 400, false)
	const most = 12 << 20
	if _, err := pare.Afford(x, q.Y, pare.Config{MaxBytes: 4 * most}, 2); outcome.KindOf(err) != outcome.Limit {
		t.Fatalf("two problems fit into four times the cap: %v", err)
	}
	choose := func(most int64) (*pare.Selection, int64) {
		var before runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		w := inUse{peak: new(peak)}
		s, err := pare.Select(context.Background(), x, q.Y, pare.SelectOptions{Validation: pare.Validation{Loss: w}, Evaluations: 3}, pare.Config{MaxBytes: most, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		return s, int64(w.most) - int64(before.HeapAlloc)
	}
	few, held := choose(most)
	free, _ := choose(0)
	t.Logf("%.3g in use where the cap is %.3g", float64(held), float64(most))
	if held > most {
		t.Errorf("%d bytes in use, the cap is %d", held, most)
	}
	if a, b := few.Evaluations[0].Value, free.Evaluations[0].Value; math.Abs(a-b) > 1e-4*b {
		t.Errorf("a criterion of %g, %g without a cap", a, b)
	}
	if _, err := pare.Select(context.Background(), x, q.Y, pare.SelectOptions{}, pare.Config{MaxBytes: most / 2}); outcome.KindOf(err) != outcome.Limit {
		t.Errorf("half the cap: %v, want a limit", err)
	}
}

// TestBudgetOfFreeRows checks that support vector regression on many rows and few columns does not need a matrix of all
// rows: within a cap too small for such a matrix it reaches the same objective.
func TestBudgetOfFreeRows(t *testing.T) {
	const n, p, most = 4100, 4, 8 << 20
	x, y := drawn(t, n, p, pare.Lasso)
	for _, logLambda := range [][]float64{{-8, -12}, {-14, -20}, {0, -1}} {
		fit := func(most int64) *pare.Fitted {
			f, err := pare.Fit(t.Context(), x, y, logLambda, pare.Config{Model: pare.SVR, Tol: 1e-11, MaxBytes: most})
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		free := fit(0)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		capped := fit(most)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
			t.Errorf("%v: %d bytes", logLambda, allocated)
		}
		if capped.Status != outcome.Converged || !(math.Abs(capped.Objective-free.Objective) <= 1e-9*free.Objective) {
			t.Errorf("%v: %s, %g, without a cap %g", logLambda, capped.Status, capped.Objective, free.Objective)
		}
	}
}
