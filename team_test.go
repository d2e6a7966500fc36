package pare_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// spread draws columns of 100 to 1,500 of 4,000 rows, enough of them for a team to share the
// passes, products and packing of one problem, and a target of ±1.
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

// Threads that share one inner problem change no bit of it: 1, 2, 3 and 8 of them, with and
// without weights, by Fit, by Path and in a selection with fewer folds than threads.
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

// fitAt fits at a λ so far below ln αmax.
func fitAt(t *testing.T, x sparse.Matrix, y []float64, below float64, c pare.Config) *pare.Fitted {
	f, err := pare.Fit(context.Background(), x, y, []float64{lambdaMax(t, x, y, c) - below}, c)
	if err != nil || f.Status != outcome.Converged {
		t.Fatal(f, err)
	}
	return f
}

// A Fitter whose problem several threads share allocates nothing either, and leaves no
// goroutine.
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
	// The runtime makes goroutines and threads of its own now and then, not in every batch.
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
	for patience := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines; runtime.Gosched() { // one may be on its last step
		if time.Now().After(patience) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		}
	}
}
