//go:build unix

package pare_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

var cancels = flag.Int("cancels", 20, "cancels of each call of TestCancelIsQuick")

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// A cancelled is an operation to be cancelled: its name, and a call that checks its own result after ctx has ended.
type cancelled struct {
	name string
	call func(context.Context) error
}

// judged returns nil if a call that may have been cancelled reported it correctly: it returned no model that is called
// converged with a large gap.
func judged(ctx context.Context, err error, f *pare.Fitted) error {
	var e *outcome.Error
	switch {
	case errors.As(err, &e) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		return err
	case err == nil && ctx.Err() != nil && f != nil && f.Status == outcome.Converged && f.RelativeGap > 1e-6:
		return fmt.Errorf("a gap of %g that is %s", f.RelativeGap, f.Status)
	}
	return nil
}

// callsOn returns the entry points applied to a problem, on one thread.
func callsOn(t *testing.T, x sparse.Matrix, y []float64, v pare.Validation, models ...pare.Model) (all []cancelled) {
	t.Helper()
	for _, model := range models {
		c := pare.Config{Model: model, Threads: 1}
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		at := func(ratio float64) []float64 {
			point := slices.Clone(top)
			for j := range point {
				if math.IsNaN(point[j]) {
					point[j] = -2 // support vectors have no αmax
				}
				point[j] += math.Log(ratio)
			}
			return point
		}
		all = append(all,
			cancelled{"fit " + string(model), func(ctx context.Context) error {
				f, err := pare.Fit(ctx, x, y, at(0.02), c)
				return judged(ctx, err, f)
			}},
			cancelled{"path " + string(model), func(ctx context.Context) error {
				for f, err := range pare.Path(ctx, x, y, [][]float64{at(0.5), at(0.2), at(0.1), at(0.05)}, c) {
					if err := judged(ctx, err, f); err != nil {
						return err
					}
				}
				return nil
			}},
			cancelled{"gradient " + string(model), func(ctx context.Context) error {
				_, err := pare.Gradient(ctx, x, y, at(0.1), v, c)
				return judged(ctx, err, nil)
			}},
			cancelled{"select " + string(model), func(ctx context.Context) error {
				s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: v}, c)
				if err != nil {
					return judged(ctx, err, nil)
				}
				if ctx.Err() != nil && s.Final != nil && s.Final.Status != outcome.Converged {
					return fmt.Errorf("a model that is %s", s.Final.Status)
				}
				return nil
			}})
	}
	return all
}

// latencies cancels a call at random moments of its processor time, and returns the processor time used after each
// cancel, in ascending order.
func latencies(t *testing.T, c cancelled, rounds int, source *random.SplitMix64) (late []time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	began := processorTime()
	if err := c.call(ctx); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	whole := processorTime() - began
	for range rounds {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- c.call(ctx) }()
		for at := processorTime() + time.Duration(source.Uniform()*float64(whole)); processorTime() < at && len(done) == 0; {
			time.Sleep(200 * time.Microsecond)
		}
		cancel()
		began := processorTime()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		late = append(late, processorTime()-began)
	}
	slices.Sort(late)
	return late
}

// TestCancelIsLookedFor checks that solvers poll the context at least once in a sweep, a pass or a step, and return
// soon after it ends: within a few more polls on the way out. The test uses no clock.
func TestCancelIsLookedFor(t *testing.T) {
	const most = 8 // more polls than this mean that the solver went on working
	q := oracle.NewRandom(1).Problem(oracle.Shape{N: 80, P: 150, Density: 0.2, Active: 20})
	for i := range q.Y {
		q.Y[i] = math.Copysign(1, q.Y[i])
	}
	x := matrixOf(t, q.X, 150, false)
	for i, model := range []pare.Model{
		pare.Lasso, pare.Logistic, pare.Ridge, pare.SVM, pare.GroupLasso, pare.Multinomial, pare.ElasticNet,
		pare.WeightedLasso, pare.SVR, pare.SquaredHinge, pare.Multiclass,
	} {
		if !oracle.Turn(i, 2) {
			continue
		}
		c := pare.Config{Model: model, Threads: 1, Tol: 1e-9}
		at := somewhere(t, x, q.Y, c)
		fit := func(looks int) (used int, f *pare.Fitted, err error) {
			l := oracle.LooksOf(t.Context(), looks)
			f, err = pare.Fit(l, x, q.Y, at, c)
			return looks - l.Left(), f, err
		}
		all, f, err := fit(1 << 30)
		if err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if work := f.Passes + f.Steps + f.Epochs; all < work/3 {
			t.Errorf("%s: %d looks in %d passes, %d steps and %d sweeps", model, all, f.Passes, f.Steps, f.Epochs)
		}
		t.Logf("%s: %d looks; %+v", model, all, f.Effort)
		for looks := 0; looks < all; looks += 1 + all/20 {
			used, f, err := fit(looks)
			if used > looks+most {
				t.Errorf("%s: cancelled at look %d of %d, %d more", model, looks, all, used-looks)
			}
			if !errors.Is(err, context.Canceled) && (err != nil || f.Status != outcome.Cancelled && f.Status != outcome.Converged) {
				t.Errorf("%s: cancelled at look %d of %d: %v, %+v", model, looks, all, err, f)
			}
		}
	}
}

// TestCancelOfANullModel checks that the null model with unpenalised columns, of all rows and of a fold, polls the
// context as other solves do. Here the columns differ by little more than rounding, and the solve takes 14 sweeps with
// two polls each.
func TestCancelOfANullModel(t *testing.T) {
	const e = 0x1p-42
	x, y := matrixOf(t, [][]float64{{1, 1, 0.3}, {1, 1 + 3*e, 0.5}, {1, 1 - 2*e, 0.2}, {1, 1 - 5*e, 0.25}}, 3, true), []float64{2, 9, 5, 4}
	c := pare.Config{Model: pare.Poisson, NoIntercept: true, PenaltyFactors: []float64{0, 0, 1}, Tol: 1e-9, Threads: 1}
	c.Weights = []float64{1, 1, 1, 0}
	if _, err := pare.Fit(oracle.LooksOf(t.Context(), 20), x, y, []float64{-3}, c); !errors.Is(err, context.Canceled) {
		t.Errorf("all rows: %v", err)
	}
	c.Weights = nil
	v := pare.Validation{Criterion: pare.HoldOut, FoldIDs: []int{-1, -1, -1, 0}}
	if _, err := pare.Gradient(oracle.LooksOf(t.Context(), 20), x, y, []float64{-3}, v, c); !errors.Is(err, context.Canceled) {
		t.Errorf("a fold: %v", err)
	}
}

// TestCancelWithinPasses checks that passes over many rows or entries can be interrupted: the number of polls is in
// proportion to the work. A result certified before the cancel is returned, and its gap holds; without one, the call
// returns an error.
func TestCancelWithinPasses(t *testing.T) {
	const n, p = 30_000, 12
	source := random.SplitMix64(5)
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i] = make([]float64, p)
		for j := range rows[i] {
			rows[i][j] = source.Uniform() - 0.5
		}
		y[i] = math.Copysign(1, rows[i][0]-rows[i][1]+source.Uniform()-0.5)
	}
	for i, dense := range []bool{true, false} {
		x := matrixOf(t, rows, p, dense)
		for k, model := range []pare.Model{pare.Lasso, pare.Logistic, pare.Ridge, pare.ElasticNet, pare.SVM} {
			if !oracle.Turn(5*i+k, 3) {
				continue
			}
			c := pare.Config{Model: model, Threads: 1}
			at := somewhere(t, x, y, c)
			fit := func(looks int) (used int, f *pare.Fitted, err error) {
				l := oracle.LooksOf(t.Context(), looks)
				f, err = pare.Fit(l, x, y, at, c)
				return looks - l.Left(), f, err
			}
			all, whole, err := fit(1 << 30)
			if err != nil {
				t.Fatal(err)
			}
			if work := whole.Passes * n * p / (1 << 16); all < work {
				t.Errorf("%s: %d looks in %d passes over %d entries", model, all, whole.Passes, n*p)
			}
			certified := 0
			for looks := 0; looks < all; looks += 1 + all/12 {
				used, f, err := fit(looks)
				switch {
				case used > looks+8:
					t.Errorf("%s: cancelled at look %d of %d, %d more", model, looks, all, used-looks)
				case errors.Is(err, context.Canceled):
				case err != nil:
					t.Errorf("%s: cancelled at look %d of %d: %v", model, looks, all, err)
				default:
					certified++
					if f.Status == outcome.Converged && f.RelativeGap > 1e-6 || f.Objective-whole.Objective > f.Gap*(1+1e-9)+1e-12 {
						t.Errorf("%s: cancelled at look %d of %d: %s, objective %g, gap %g; the least is %g", model, looks, all, f.Status, f.Objective, f.Gap, whole.Objective)
					}
				}
			}
			if certified == 0 && whole.Passes > 3 {
				t.Errorf("%s: no point was returned by any cancelled fit of %d passes", model, whole.Passes)
			}
		}
	}
}

// TestCancelOtherFits checks the calls that fit more than one model, refits, which start from a fit, and fits of folds,
// which run on their own goroutines: each ends with its context, wherever it is.
func TestCancelOtherFits(t *testing.T) {
	const n, p = 9000, 8 // more rows than one block of a kernel
	source := random.SplitMix64(6)
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i] = make([]float64, p)
		for j := range rows[i] {
			rows[i][j] = source.Uniform() - 0.5
		}
		y[i] = rows[i][0] - rows[i][1] + source.Uniform()
	}
	x, c := matrixOf(t, rows, p, true), pare.Config{Threads: 1}
	at := somewhere(t, x, y, c)
	fitted, err := pare.Fit(t.Context(), x, y, at, c)
	if err != nil {
		t.Fatal(err)
	}
	classes, shared := make([]float64, n), pool(t, pare.PoolOptions{Threads: 1})
	for i := range classes {
		classes[i] = math.Copysign(1, rows[i][0])
	}
	apart := 3
	if oracle.Fewest() {
		apart = 1
	}
	for name, call := range map[string]func(ctx context.Context) error{
		"refit": func(ctx context.Context) error {
			_, err := pare.Relax(ctx, x, y, fitted, c)
			return err
		},
		"folds": func(ctx context.Context) error {
			_, err := pare.OutOfFold(ctx, x, y, at, pare.Validation{Folds: 2}, c)
			return err
		},
		"path": func(ctx context.Context) error {
			for _, err := range pare.Path(ctx, x, y, [][]float64{at, at}, c) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"grid": func(ctx context.Context) error {
			for _, err := range pare.Validate(ctx, x, y, [][]float64{at, at}, pare.Validation{Folds: 2}, c) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"gradient": func(ctx context.Context) error {
			_, err := pare.Gradient(ctx, x, y, at, pare.Validation{Folds: 2}, c)
			return err
		},
		"leaving one out": func(ctx context.Context) error {
			_, err := pare.LeaveOneOut(ctx, x, y, at, c)
			return err
		},
		"lanes": func(ctx context.Context) error {
			_, err := pare.NewLanes(ctx, x, y, pare.Job{Config: c, Validation: pare.Validation{Folds: 2}})
			return err
		},
		"balanced classes": func(ctx context.Context) error { // classes are counted before anything is solved
			_, err := pare.Fit(ctx, x, classes, []float64{-3}, pare.Config{Model: pare.Logistic, Balanced: true, Threads: 1})
			return err
		},
		"classes in a pool": func(ctx context.Context) error { // classes are counted to estimate memory
			for _, err := range pare.Path(ctx, x, classes, [][]float64{{-3}}, pare.Config{Model: pare.Multinomial, Pool: shared}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"choice": func(ctx context.Context) error {
			_, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Folds: 2}}, c)
			return err
		},
		"choice by one part": func(ctx context.Context) error {
			_, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Criterion: pare.HoldOut}}, c)
			return err
		},
		"choice by SURE": func(ctx context.Context) error {
			_, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Criterion: pare.SURE, Sigma: 1}}, c)
			return err
		},
	} {
		for looks := 0; ; looks += 1 + looks/apart {
			l := oracle.LooksOf(t.Context(), looks)
			err := call(l)
			if l.Left() >= 0 {
				if err != nil {
					t.Error(err)
				}
				break
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s cancelled at look %d: %v", name, looks, err)
			}
		}
	}
}

// tall returns a dense column with the given number of rows, and classes that depend on it.
func tall(t *testing.T, seed random.SplitMix64, rows int) (*sparse.Dense, []float64) {
	t.Helper()
	column, y := make([]float64, rows), make([]float64, rows)
	for i := range column {
		column[i] = seed.Uniform() - 0.5
		y[i] = math.Copysign(1, column[i]+seed.Uniform()-0.5)
	}
	x, err := sparse.NewDense(rows, 1, column)
	if err != nil {
		t.Fatal(err)
	}
	return x, y
}

// TestCancelIsQuick checks the response to a cancel at any moment of any call: at most 20 ms of processor time in 99 of
// 100 cases, and never more than 100 ms. The data are imdb, a dense column of 2²⁶ rows, and 2²² samples for support
// vectors.
func TestCancelIsQuick(t *testing.T) {
	if !oracle.Long() {
		t.Skip("-long: it goes by clocks; TestCancelIsLookedFor counts")
	}
	source := random.SplitMix64(11)
	kinds := map[string]func() []cancelled{
		"tall": func() []cancelled {
			x, y := tall(t, 11, 1<<26)
			return callsOn(t, x, y, pare.Validation{Folds: 2}, pare.Lasso, pare.Ridge, pare.Logistic)
		},
		"samples": func() []cancelled {
			x, y := tall(t, 11, 1<<22)
			return callsOn(t, x, y, pare.Validation{Folds: 2}, pare.SVM, pare.SVR)
		},
		"imdb": func() []cancelled {
			x, y := shared(t, "imdb")
			read := cancelled{"read", func(ctx context.Context) error {
				_, _, err := sparse.OpenSVMLight(ctx, "../shared/data/imdb.svm.gz", sparse.ReadOptions{Threads: 1})
				return judged(ctx, err, nil)
			}}
			return append(callsOn(t, x, y, pare.Validation{}, pare.Lasso, pare.Logistic, pare.Ridge, pare.ElasticNet, pare.SVM), read)
		},
	}
	for kind, calls := range kinds {
		t.Run(kind, func(t *testing.T) {
			var all []time.Duration
			for _, c := range calls() {
				late := latencies(t, c, *cancels, &source)
				t.Logf("%s: median %v, most %v", c.name, late[len(late)/2], late[len(late)-1])
				all = append(all, late...)
			}
			slices.Sort(all)
			t.Logf("%d cancels: median %v, 99 %% %v, most %v", len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
		})
	}
}
