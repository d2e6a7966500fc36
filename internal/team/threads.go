package team

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Turns makes tasks wait for their turn among the tasks of several calls. A task that has entered must leave.
type Turns interface {
	Enter(ctx context.Context) error // waits for a turn; the error is that of ctx if it ends before
	TryEnter() bool                  // enters if that needs no waiting, and reports whether it did
	Wanted() bool                    // reports whether others wait for a turn
	Leave()
}

// Threads limits how many threads a call has at work at once. Threads without a task help any of
// the teams that have one. It is safe for concurrent use.
type Threads struct {
	slots   chan struct{}
	turns   Turns        // needed in addition to a place; nil: none
	waiting atomic.Int64 // tasks that wait for a place

	most        int                    // the largest number of helpers
	help        func()                 // the method helperLoop, as a value
	loops       []atomic.Pointer[Team] // the teams that offer parts
	teams       atomic.Int64           // the number of teams that have called helpers and not rested since
	helpers     atomic.Int64
	helperLimit helperLimit
	_           cacheLine
	idle        atomic.Int64 // helpers without a part
	_           cacheLine
}

// cacheLine separates fields that change often from the cache line of fields that are read often.
type cacheLine [64]byte

const (
	// patience is how long a helper looks for a part before it leaves: a sweep of the leader takes some milliseconds,
	// and waking a sleeping thread takes as long as many a loop.
	patience = 5 * time.Millisecond
	// checksPerLook is the number of checks for a part between two looks at the clock, about 50 µs. The thread then also
	// yields to other goroutines, which takes a lock that all threads share.
	checksPerLook = 1024
	// lostGap is the time between two looks at the clock that shows that a waiting thread has been without a processor.
	lostGap = time.Millisecond
)

// NewThreads returns count threads, or one per processor if count is 0. If turns is not nil, they
// take turns with the threads of other calls.
func NewThreads(count int, turns Turns) *Threads {
	count = Count(count)
	atOnce := min(count, runtime.GOMAXPROCS(0))
	t := &Threads{slots: make(chan struct{}, count), turns: turns, most: atOnce - 1, loops: make([]atomic.Pointer[Team], atOnce)}
	t.help = t.helperLoop
	t.helperLimit.begin(t.most)
	return t
}

// Count returns the number of threads that a setting stands for: the number of processors if it is not positive.
func Count(threads int) int {
	if threads <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return threads
}

// Enter waits for a thread, which Leave must give back. The error is that of ctx.
func (t *Threads) Enter(ctx context.Context) error {
	t.waiting.Add(1) // makes idle helpers leave
	select {
	case t.slots <- struct{}{}:
		t.waiting.Add(-1)
	case <-ctx.Done():
		t.waiting.Add(-1)
		return ctx.Err()
	}
	if t.turns != nil {
		if err := t.turns.Enter(ctx); err != nil {
			<-t.slots
			return err
		}
	}
	return nil
}

// taskWaits reports whether a task waits for a thread.
func (t *Threads) taskWaits() bool {
	return t.waiting.Load() > 0 || t.turns != nil && t.turns.Wanted()
}

// Leave gives a thread back.
func (t *Threads) Leave() {
	if t.turns != nil {
		t.turns.Leave()
	}
	<-t.slots
}

// tryEnter takes a thread if one is free, and reports whether it did.
func (t *Threads) tryEnter() bool {
	select {
	case t.slots <- struct{}{}:
	default:
		return false
	}
	if t.turns != nil && !t.turns.TryEnter() {
		<-t.slots
		return false
	}
	return true
}

// offer makes the loop of m visible to helpers, and starts helpers until there are as many as wanted, if threads
// are free. It reports whether there was a slot for the loop.
func (t *Threads) offer(m *Team, wanted int) bool {
	for range t.loops {
		if t.loops[m.slot].CompareAndSwap(nil, m) {
			for wanted -= int(t.idle.Load()); wanted > 0 && t.helpersShort() > 0 && t.tryEnter(); wanted-- {
				t.helpers.Add(1)
				t.idle.Add(1)
				go t.help()
			}
			return true
		}
		m.slot = (m.slot + 1) % len(t.loops)
	}
	return false
}

// helpersShort returns how many more helpers are allowed; it is negative if there are too many.
func (t *Threads) helpersShort() int { return int(t.helperLimit.allowed.Load() - t.helpers.Load()) }

// helperLoop runs parts of loops until there has been none for a while, or a task waits for the thread.
func (t *Threads) helperLoop() {
	at := int(t.helpers.Load()) // helpers begin at different loops
	last := time.Now()
	busy := last
	for looks := 1; t.teams.Load() > 0 && t.helpersShort() >= 0 && !t.taskWaits(); looks++ {
		if t.part(&at) {
			t.idle.Add(-1)
			for t.part(&at) {
			}
			t.idle.Add(1)
			looks, last = 0, time.Now()
			busy = last
			continue
		}
		kernels.Relax()
		if looks%checksPerLook == 0 {
			runtime.Gosched()
			now := time.Now()
			if now.Sub(last) > lostGap {
				t.helperLimit.lostProcessor.Store(true)
				break
			}
			if last = now; now.Sub(busy) > patience {
				break
			}
		}
	}
	t.idle.Add(-1)
	t.part(&at) // of a loop whose offer still counted this helper as idle
	t.Leave()
	t.helpers.Add(-1)
}

// part runs a part of a loop, beginning with the loop at index at, the one of the last part. It reports whether
// there was a part.
func (t *Threads) part(at *int) bool {
	for range t.loops {
		if *at >= len(t.loops) {
			*at = 0
		}
		if m := t.loops[*at].Load(); m != nil && m.work() {
			return true
		}
		*at++
	}
	return false
}

// waitForHelpers returns when no helpers are left, or at once if other teams may use them.
func (t *Threads) waitForHelpers() {
	for t.teams.Add(-1); t.teams.Load() == 0 && t.helpers.Load() > 0; {
		runtime.Gosched()
	}
}
