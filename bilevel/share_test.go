package bilevel

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestTasksAreShared checks that each task is done once, and in order if there is one goroutine, until one fails,
// which stops those under way.
func TestTasksAreShared(t *testing.T) {
	failed := errors.New("failed")
	for _, goroutines := range []int{1, 2, 5} {
		for _, bad := range []int{-1, 0, 3, 6} {
			var done [7]atomic.Int64
			var order []int
			var stops atomic.Int64
			tasks := make([]func() error, len(done))
			for i := range tasks {
				tasks[i] = func() error {
					done[i].Add(1)
					if goroutines == 1 {
						order = append(order, i)
					}
					if i == bad {
						return failed
					}
					return nil
				}
			}
			err := runTasks(tasks, goroutines, func() { stops.Add(1) })
			want, calls := error(nil), int64(0)
			if bad >= 0 {
				want, calls = failed, 1
			}
			if !errors.Is(err, want) || stops.Load() != calls {
				t.Errorf("%d goroutines, task %d fails: %v, stopped %d times", goroutines, bad, err, stops.Load())
			}
			for i := range done {
				if n := done[i].Load(); n > 1 || n == 0 && (bad < 0 || i < bad) {
					t.Errorf("%d goroutines, task %d fails: task %d is done %d times", goroutines, bad, i, n)
				}
			}
			if goroutines == 1 {
				all := []int{0, 1, 2, 3, 4, 5, 6}
				if bad >= 0 {
					all = all[:bad+1]
				}
				if !slices.Equal(order, all) {
					t.Errorf("task %d fails: order %v", bad, order)
				}
			}
		}
	}
}

// TestTheFirstErrorIsTold checks that of tasks that fail at the same time the error of the first is returned, and
// that a failing task stops the others.
func TestTheFirstErrorIsTold(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	begun := make(chan struct{})
	tasks := []func() error{
		func() error { <-begun; return first },
		func() error { close(begun); <-ctx.Done(); return second },
	}
	if err := runTasks(tasks, 2, stop); !errors.Is(err, first) {
		t.Errorf("%v", err)
	}
}

// TestErrorsAreToldInOrder checks that a failing task does not stop the tasks before it but waits for them, and
// that their error is returned.
func TestErrorsAreToldInOrder(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	begun, failing := make(chan struct{}), make(chan struct{})
	tasks := []func() error{
		func() error {
			close(begun)
			<-failing
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(20 * time.Millisecond): // long enough for the error of the other task to arrive
				return first
			}
		},
		func() error { <-begun; close(failing); return second },
		func() error { t.Error("a task is begun after one has failed"); return nil },
	}
	if err := runTasks(tasks, 2, stop); !errors.Is(err, first) {
		t.Errorf("%v", err)
	}
	if ctx.Err() == nil {
		t.Error("not stopped")
	}
}
