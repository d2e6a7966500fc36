package distributed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/distributed"
	"github.com/seed-45b9a24c/pare/distributed/embed"
	"github.com/seed-45b9a24c/pare/sparse"
)

// options are short times for tests, so that dead workers are noticed soon.
var options = distributed.Options{Presence: time.Second}

// serve starts a server for a test.
func serve(t testing.TB) string {
	t.Helper()
	s, err := embed.Start(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s.ClientURL()
}

// connect connects to the server.
func connect(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// work runs workers in this process until the test ends.
func work(t testing.TB, url string, count int) {
	t.Helper()
	for k := range count {
		workIn(t, url, fmt.Sprint("w", k), t.TempDir(), options, nil)
	}
}

// workIn runs a worker with a cache until the test ends, or until stop is called.
func workIn(t testing.TB, url, name, cache string, o distributed.Options, log *slog.Logger) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	nc, ended := connect(t, url), make(chan error, 1)
	go func() {
		ended <- distributed.Worker{Name: name, Slots: 1, Cache: cache, Log: log, Options: o}.Run(ctx, nc)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// problem draws a data set whose target is numbers, signs or classes.
func problem(n, p, classes int) (sparse.Matrix, []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	values, y := make([]float64, n*p), make([]float64, n)
	for k := range values {
		if r.Float64() < 0.4 {
			values[k] = r.NormFloat64()
		}
	}
	for i := range y {
		y[i] = r.NormFloat64()
		for j := range 4 {
			y[i] += values[j*n+i] * float64(4-j)
		}
		switch {
		case classes == 2:
			y[i] = math.Copysign(1, y[i])
		case classes > 2:
			y[i] = float64(i % classes)
			values[i%classes*n+i] += 2
		}
	}
	x, err := sparse.NewDense(n, p, values)
	if err != nil {
		panic(err)
	}
	return x, y
}

// bits returns all numbers of a selection, without seconds.
func bits(s *pare.Selection) string {
	one := *s
	one.SecondsSearch, one.SecondsRefit, one.SecondsOneSE = 0, 0, 0
	final := *s.Final
	final.SecondsCertify = 0
	text, err := json.Marshal(map[string]any{"selection": &one, "coef": final.Coef, "support": final.Support, "classes": len(final.PerClass)})
	if err != nil {
		panic(err)
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		panic(err)
	}
	text, _ = json.Marshal(untimed(all))
	return string(text)
}

func untimed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			if len(name) >= 7 && (name[:7] == "Seconds" || name[:7] == "seconds") {
				delete(v, name)
				continue
			}
			v[name] = untimed(v[name])
		}
	case []any:
		for i := range v {
			v[i] = untimed(v[i])
		}
	}
	return v
}

// over runs a selection whose lanes are those of the workers.
func over(t testing.TB, nc *nats.Conn, x sparse.Matrix, y []float64, o pare.SelectOptions, c pare.Config) *pare.Selection {
	t.Helper()
	run, err := distributed.Submit(t.Context(), nc, x, y, options)
	if err != nil {
		t.Fatal(err)
	}
	o.Lanes = run.Lanes
	s, err := pare.Select(t.Context(), x, y, o, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWorkersChangeNoBit checks that selections of all kinds have the same bits with 1, 2 and 4
// workers as in one process.
func TestWorkersChangeNoBit(t *testing.T) {
	kinds := map[string]struct {
		classes int
		o       pare.SelectOptions
		c       pare.Config
	}{
		"lasso":      {0, pare.SelectOptions{OneSE: true}, pare.Config{}},
		"enet":       {0, pare.SelectOptions{}, pare.Config{Model: pare.ElasticNet, Standardize: true}},
		"wlasso":     {0, pare.SelectOptions{Evaluations: 8}, pare.Config{Model: pare.WeightedLasso}},
		"sure":       {0, pare.SelectOptions{Validation: pare.Validation{Criterion: pare.SURE}}, pare.Config{}},
		"grid":       {0, pare.SelectOptions{Search: pare.Grid, Points: 8}, pare.Config{}},
		"logreg":     {2, pare.SelectOptions{}, pare.Config{Model: pare.Logistic}},
		"svm":        {2, pare.SelectOptions{Evaluations: 6}, pare.Config{Model: pare.SVM}},
		"multiclass": {10, pare.SelectOptions{Validation: pare.Validation{Folds: 3}, Evaluations: 5}, pare.Config{Model: pare.Multiclass}},
		"per class":  {10, pare.SelectOptions{Validation: pare.Validation{Folds: 2}, PerClass: true, Evaluations: 7}, pare.Config{Model: pare.Multiclass}},
	}
	for _, workers := range []int{1, 2, 4} {
		t.Run(strconv.Itoa(workers), func(t *testing.T) {
			url := serve(t)
			work(t, url, workers)
			nc := connect(t, url)
			for name, kind := range kinds {
				x, y := problem(120, 12, kind.classes)
				want, err := pare.Select(t.Context(), x, y, kind.o, kind.c)
				if err != nil {
					t.Fatal(err)
				}
				if a, b := bits(want), bits(over(t, nc, x, y, kind.o, kind.c)); a != b {
					t.Errorf("%s:\n%s\nin one process\n%s", name, b, a)
				}
			}
		})
	}
}
