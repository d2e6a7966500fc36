package share_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-45b9a24c/pare/internal/share"
)

// TestMembersTakeTurns checks that a member with one task waits for one task of another member,
// not for all of them.
func TestMembersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := share.NewTurns(1)
		many, few := turns.Join(), turns.Join()
		var order []string // written by the holder of the turn
		var tasks sync.WaitGroup
		task := func(name string, m *share.Member) {
			tasks.Go(func() {
				if err := m.Enter(context.Background()); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				time.Sleep(time.Second)
				m.Leave()
			})
			synctest.Wait()
		}
		for range 4 {
			task("many", many)
		}
		for range 2 {
			task("few", few)
		}
		tasks.Wait()
		if got := fmt.Sprint(order); got != "[many many few many few many]" {
			t.Error(got)
		}
	})
}

// TestTurnsAreKept checks that no more tasks run at once than there are turns, and that no turn
// is lost when contexts end at any moment.
func TestTurnsAreKept(t *testing.T) {
	const atOnce = 3
	turns := share.NewTurns(atOnce)
	var working atomic.Int32
	var members sync.WaitGroup
	for k := range 12 {
		m := turns.Join()
		members.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			for range 300 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(200))*time.Microsecond)
				if m.Enter(ctx) == nil {
					if n := working.Add(1); n > atOnce {
						t.Errorf("%d work", n)
					}
					working.Add(-1)
					m.Leave()
				}
				cancel()
			}
		})
	}
	members.Wait()
	last := turns.Join()
	for range atOnce {
		if err := last.Enter(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := last.Enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("one turn too many: %v", err)
	}
}

// TestQueueIsFirstComeFirstServed checks that calls are admitted in the order of their arrival,
// even if a later one would fit.
func TestQueueIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := share.NewQueue(3, 100, -1)
		var order []int
		var calls sync.WaitGroup
		for k, bytes := range []int64{60, 60, 50, 500, 10} {
			calls.Go(func() {
				if err := queue.Enter(context.Background(), bytes); err != nil {
					t.Error(err)
				}
				order = append(order, k)
				time.Sleep(time.Second)
				queue.Leave(bytes)
			})
			synctest.Wait()
		}
		if s := queue.State(); s != (share.State{Running: 1, Waiting: 4, Bytes: 60}) {
			t.Errorf("%+v", s)
		}
		calls.Wait()
		if got := fmt.Sprint(order); got != "[0 1 2 3 4]" {
			t.Error(got)
		}
		if s := queue.State(); s != (share.State{}) {
			t.Errorf("left behind: %+v", s)
		}
	})
}

// TestQueueRefuses checks that a full queue refuses a call, and that a call that gives up makes
// way for those behind it.
func TestQueueRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := share.NewQueue(1, 100, 1)
		if err := queue.Enter(context.Background(), 10); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- queue.Enter(ctx, 10) }()
		synctest.Wait()
		if err := queue.Enter(context.Background(), 10); !errors.Is(err, share.ErrFull) {
			t.Errorf("a second call that waits: %v", err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		queue.Leave(10)
		if err := queue.Enter(context.Background(), 10); err != nil || queue.State().Running != 1 {
			t.Errorf("afterwards: %v, %+v", err, queue.State())
		}
	})
}

// TestTurnsAreWantedWhileATaskWaits checks that turns are reported as wanted exactly while a
// task of any member waits for one.
func TestTurnsAreWantedWhileATaskWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := share.NewTurns(1)
		one, other := turns.Join(), turns.Join()
		if err := one.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		wanted := func(want bool) {
			t.Helper()
			if synctest.Wait(); one.Wanted() != want {
				t.Errorf("wanted: %v", !want)
			}
		}
		wanted(false)
		for _, gives := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- other.Enter(ctx) }()
			wanted(true)
			if gives {
				one.Leave()
			} else {
				cancel()
			}
			if err := <-ended; (err == nil) != gives {
				t.Errorf("%v", err)
			}
			wanted(false)
			cancel()
			if gives {
				other.Leave()
				if err := one.Enter(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
