//go:build unix

package pare_test

import (
	"context"
	"errors"
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

// processorTime is what this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// latencies cancels a search at random moments of its processor time, on one thread, and
// returns what it used after that, ascending. A search that is cancelled has no model.
func latencies(t *testing.T, name string, rounds int, source *random.SplitMix64, x sparse.Matrix, y []float64, model pare.Model) (late []time.Duration) {
	t.Helper()
	config := pare.Config{Model: model, Threads: 1}
	search := func(ctx context.Context, precision bool) (*pare.Selection, error) {
		return pare.Select(ctx, x, y, pare.SelectOptions{Precision: precision}, config)
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	began := processorTime()
	if _, err := search(ctx, true); err != nil && ctx.Err() == nil {
		t.Fatalf("%s: %v", name, err)
	}
	whole := processorTime() - began
	for range rounds {
		ctx, cancel := context.WithCancel(context.Background())
		done, precision := make(chan error, 1), source.Below(2) == 0
		go func() {
			s, err := search(ctx, precision)
			switch e := (*outcome.Error)(nil); {
			case errors.As(err, &e) && !errors.Is(err, context.Canceled):
			case err == nil && ctx.Err() != nil && s.Final != nil && s.Final.Status != outcome.Converged:
				err = fmt.Errorf("a model that is %s", s.Final.Status)
			default:
				err = nil
			}
			done <- err
		}()
		for at := processorTime() + time.Duration(source.Uniform()*float64(whole)); processorTime() < at && len(done) == 0; {
			time.Sleep(200 * time.Microsecond)
		}
		cancel()
		began := processorTime()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		late = append(late, processorTime()-began)
	}
	slices.Sort(late)
	return late
}

// A search that is cancelled returns soon, wherever it is: the processor time that it still uses
// is logged, and bounded. The long form has imdb, and a dense column of 2²⁶ rows.
func TestCancelIsQuick(t *testing.T) {
	source := random.SplitMix64(11)
	rounds := int(oracle.Cases(4))
	kinds := map[string]func() (sparse.Matrix, []float64){
		"wide": func() (sparse.Matrix, []float64) {
			n, p := 1500, 3000
			if oracle.Few() {
				n, p = 300, 600
			}
			q := oracle.NewRandom(1).Problem(oracle.Shape{N: n, P: p, Density: 0.02, Active: 60})
			for i := range q.Y {
				q.Y[i] = math.Copysign(1, q.Y[i])
			}
			return matrixOf(t, q.X, p, false), q.Y
		},
		"tall": func() (sparse.Matrix, []float64) {
			n := 1 << 16
			switch {
			case oracle.Long():
				n = 1 << 26
			case oracle.Few():
				n = 1 << 12
			}
			column, y := make([]float64, n), make([]float64, n)
			for i := range column {
				column[i] = source.Uniform() - 0.5
				y[i] = math.Copysign(1, column[i]+source.Uniform()-0.5)
			}
			x, err := sparse.NewDense(n, 1, column)
			if err != nil {
				t.Fatal(err)
			}
			return x, y
		},
	}
	if oracle.Long() {
		kinds["imdb"] = func() (sparse.Matrix, []float64) { return shared(t, "imdb") }
	}
	const most = 500 * time.Millisecond // some ten times what is met, since collectors run, too
	for kind, data := range kinds {
		t.Run(kind, func(t *testing.T) {
			x, y := data()
			var all []time.Duration
			for i, model := range []pare.Model{pare.Lasso, pare.Logistic, pare.Ridge, pare.ElasticNet, pare.SVM} {
				if !oracle.Turn(i, 2) {
					continue
				}
				late := latencies(t, kind+", "+string(model), rounds, &source, x, y, model)
				t.Logf("%s: median %v, most %v", model, late[len(late)/2], late[len(late)-1])
				all = append(all, late...)
			}
			slices.Sort(all)
			t.Logf("all: median %v, 99 %% %v, most %v", all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
			if worst := all[len(all)-1]; worst > most && !oracle.Long() {
				t.Errorf("%v of processor time after a cancel", worst)
			}
		})
	}
}
