package pare_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/search"
)

// collector runs the garbage collector at the end of a call, and panics then.
type collector struct{}

func (collector) Admission(a pare.Admission) {
	if a.Left {
		runtime.GC()
		panic("left")
	}
}
func (collector) Evaluation(pare.Model, search.Evaluation) {}
func (collector) Solve(*pare.Fitted, time.Duration)        {}

// TestOptionsLiveAsLongAsACallThatPanics checks that a caller's function to which nothing else refers is not freed
// before the panic has been recovered; otherwise the process would end, see [outcome.Caught].
func TestOptionsLiveAsLongAsACallThatPanics(t *testing.T) {
	x, y := few(t, 1, 12, 3, 2)
	stop := make(chan struct{})
	var collecting sync.WaitGroup
	defer collecting.Wait()
	defer close(stop)
	collecting.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	var kept []func()
	for k := range 60 {
		kept = append(kept, func() { k++ })
		pool, err := pare.NewPool(pare.PoolOptions{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		o := pare.SelectOptions{Progress: func(search.Evaluation) { k++ }}
		if _, err := pare.Select(context.Background(), x, y, o, pare.Config{Pool: pool, Observer: collector{}}); err == nil {
			t.Fatal("no error")
		}
	}
	runtime.KeepAlive(kept)
}
