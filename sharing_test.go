package pare_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// timeless clears the times of a selection, in which two identical runs differ.
func timeless(s *pare.Selection) *pare.Selection {
	c := *s
	c.SecondsSearch, c.SecondsRefit, c.SecondsOneSE = 0, 0, 0
	for _, e := range []**search.Evaluation{&c.OneSE, &c.Least} {
		if *e != nil {
			one := **e
			one.Seconds, *e = 0, &one
		}
	}
	c.Evaluations = slices.Clone(s.Evaluations)
	for i := range c.Evaluations {
		c.Evaluations[i].Seconds = 0
	}
	return &c
}

// TestOneMatrixManyGoroutines checks that different problems solved concurrently on one matrix
// give the bits that they give one after another. It is meant to run under the race detector.
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
			g, err = pare.Gradient(ctx, x, y, []float64{top - 0.05*float64(k%32)}, pare.Validation{Folds: 3, Seed: uint64(k)}, c)
			if err == nil {
				g.SecondsSolve, g.SecondsGradient = 0, 0
			}
			out = g
		default:
			var s *pare.Selection
			s, err = pare.Select(ctx, wide, target, pare.SelectOptions{Validation: pare.Validation{InOrder: true, Folds: 2 + k%4}, Evaluations: 4}, c)
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

// TestNoGoroutineStays checks that calls leave no goroutine behind.
func TestNoGoroutineStays(t *testing.T) {
	x, y := load(t)
	before := runtime.NumGoroutine()
	for range 3 {
		if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Evaluations: 3}, pare.Config{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		o := pare.SelectOptions{Progress: func(search.Evaluation) { cancel() }}
		if _, err := pare.Select(ctx, x, y, o, pare.Config{Tol: 1e-12}); err != nil {
			t.Fatal(err)
		}
	}
	oracle.GoroutinesEnd(t, before)
}

// bits returns every number of a selection that must not depend on the machine.
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

// TestKernelSetsGiveTheSameBits checks that a selection on dense data and one on sparse data
// have the same bits with every kernel set of this machine and any number of threads.
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

// spread draws columns with 100 to 1,500 nonzeros in 4,000 rows, enough columns for a team to
// share the passes, products and packing of one problem, and a target of ±1.
func spread(t *testing.T) (*sparse.CSC, []float64) {
	const n, p = 4000, 300
	rng := rand.New(rand.NewPCG(1, 2))
	start, rows, values := []int64{0}, []int32{}, []float64{}
	score := make([]float64, n)
	for j := range p {
		share := 0.025 + 0.35*rng.Float64()
		for i := range n {
			if rng.Float64() < share {
				v := rng.NormFloat64() + 0.3
				rows, values = append(rows, int32(i)), append(values, v)
				score[i] += v * float64(j%3-1)
			}
		}
		start = append(start, int64(len(rows)))
	}
	x, err := sparse.NewCSC(n, p, start, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range score {
		score[i] = -1
		if s+4*rng.NormFloat64() > 0 {
			score[i] = 1
		}
	}
	return x, score
}

// TestTeamsHaveTheBitsOfOneThread checks that the bits do not depend on the number of threads
// that share one inner problem: 1, 2, 3 and 8 threads, with and without weights, in Fit, Path
// and a selection with fewer folds than threads.
func TestTeamsHaveTheBitsOfOneThread(t *testing.T) {
	before := runtime.GOMAXPROCS(8)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	x, y := spread(t)
	weights := make([]float64, len(y))
	for i := range weights {
		weights[i] = float64(i%4) / 2
	}
	ctx := context.Background()
	work := map[string]func(c pare.Config) any{
		"fit": func(c pare.Config) any { return fitAt(t, x, y, 3, c) },
		"weighted fit": func(c pare.Config) any {
			c.Weights, c.Standardize = weights, true
			return fitAt(t, x, y, 3, c)
		},
		"path": func(c pare.Config) any {
			var all []*pare.Fitted
			top := lambdaMax(t, x, y, c)
			grid := [][]float64{{top - 1}, {top - 3}}
			for f, err := range pare.Path(ctx, x, y, grid, c) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, f)
			}
			return all
		},
		"select": func(c pare.Config) any {
			s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Folds: 2}, Evaluations: 3}, c)
			if err != nil {
				t.Fatal(err)
			}
			return timeless(s)
		},
	}
	for _, model := range []pare.Model{pare.Lasso, pare.Logistic} {
		for name, do := range work {
			if testing.Short() && (name == "path" || name == "weighted fit" || model == pare.Logistic && name != "fit") {
				continue
			}
			want := do(pare.Config{Model: model, Threads: 1})
			if f, ok := want.(*pare.Fitted); ok && !(f.Shared > 0) {
				t.Errorf("%s, %s: nothing of %g is shared", model, name, f.Work)
			}
			for _, threads := range []int{3, 2, 8} {
				if testing.Short() && threads != 3 {
					continue
				}
				if got := do(pare.Config{Model: model, Threads: threads}); !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %s, %d threads: %+v, want %+v", model, name, threads, got, want)
				}
			}
		}
	}
}

// fitAt fits at λ = ln αmax − below.
func fitAt(t *testing.T, x sparse.Matrix, y []float64, below float64, c pare.Config) *pare.Fitted {
	f, err := pare.Fit(context.Background(), x, y, []float64{lambdaMax(t, x, y, c) - below}, c)
	if err != nil || f.Status != outcome.Converged {
		t.Fatal(f, err)
	}
	return f
}

// TestTeamsAllocateNothing checks that a Fitter whose problem is shared by several threads
// allocates nothing and leaves no goroutine.
func TestTeamsAllocateNothing(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	x, y := spread(t)
	c := pare.Config{Threads: 4}
	fitter, err := pare.NewFitter(x, y, c)
	if err != nil {
		t.Fatal(err)
	}
	lambda := []float64{lambdaMax(t, x, y, c) - 3}
	fit := func() {
		if f, err := fitter.Fit(context.Background(), lambda); err != nil || f.Status != outcome.Converged {
			t.Fatal(f, err)
		}
	}
	fit()
	goroutines := runtime.NumGoroutine()
	// The runtime itself creates goroutines and threads now and then, but not in every batch.
	const batches, fits = 20, 2
	least := math.Inf(1)
	for batch := 0; batch < batches && least > 1; batch++ {
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		for range fits {
			fit()
		}
		runtime.ReadMemStats(&b)
		least = min(least, float64(b.Mallocs-a.Mallocs)/fits)
	}
	if least > 1 {
		t.Errorf("%g allocations in a fit", least)
	}
	oracle.GoroutinesEnd(t, goroutines)
}
