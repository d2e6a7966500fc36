package pare_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// What stops a search softly leaves a converged model at the best λ so far, and no
// goroutine; a context that ends leaves none.
func TestSoftStops(t *testing.T) {
	x, y := load(t)
	before := runtime.NumGoroutine()
	stop := make(chan struct{})
	seen := 0
	o := pare.SelectOptions{Stop: stop, Search: pare.Grid, Points: 5000, Progress: func(search.Evaluation) {
		if seen++; seen == 3 {
			close(stop)
		}
	}}
	s, err := pare.Select(context.Background(), x, y, o, pare.Config{})
	if err != nil || s.Status != outcome.Cancelled || s.Final == nil || s.Final.Status != outcome.Converged || len(s.Evaluations) >= 5000 || s.Err != nil {
		t.Errorf("stopped: %v, %+v", err, s)
	}
	o = pare.SelectOptions{MaxDuration: 30 * time.Millisecond, Search: pare.Grid, Points: 100_000}
	s, err = pare.Select(context.Background(), x, y, o, pare.Config{Tol: 1e-12})
	if err != nil || s.Status != outcome.Budget || s.LogLambda != nil && (s.Final == nil || s.Final.Status != outcome.Converged) {
		t.Errorf("out of time: %v, %+v", err, s)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
