package team

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Turns has tasks wait for those of others. A task that has entered must leave.
type Turns interface {
	Enter(ctx context.Context) error // the error is that of ctx where it ends before
	TryEnter() bool                  // reports whether there was a turn to be had at once
	Wanted() bool                    // reports whether others wait for a turn
	Leave()
}

// Threads are those that a call may have at work at once. Those that no task has may help
// the teams of others, any of them. Safe for concurrent use.
type Threads struct {
	places  chan struct{}
	turns   Turns        // besides; nil: none
	waiting atomic.Int64 // tasks, for a place

	most    int // helpers
	help    func()
	loops   []atomic.Pointer[Team] // those with parts to be done
	teams   atomic.Int64           // that have had help and have not rested since
	helpers atomic.Int64
	crowd   crowd
	_       line
	idle    atomic.Int64 // helpers without a part
	_       line
}

// line keeps what changes often off the cache line of what is read often.
type line [64]byte

const (
	// patience is for how long a helper looks for a part before it leaves: a sweep of the one who leads takes some
	// milliseconds, and a thread that sleeps is woken as slowly as many a loop ends.
	patience = 5 * time.Millisecond
	// glance is how many looks there are from one glance at the clock to the next, when the thread gives way to other
	// goroutines: some 50 µs. To give way takes a lock that all threads share.
	glance = 1024
	// away is for how long a thread that looks for something has been without a processor where others share it.
	away = time.Millisecond
)

// NewThreads returns so many threads, 0 for all processors, which take turns with those of
// others where turns is not nil.
func NewThreads(count int, turns Turns) *Threads {
	count = Count(count)
	atOnce := min(count, runtime.GOMAXPROCS(0))
	t := &Threads{places: make(chan struct{}, count), turns: turns, most: atOnce - 1, loops: make([]atomic.Pointer[Team], atOnce)}
	t.help = t.helping
	t.crowd.begin(t.most)
	return t
}

// Count returns how many threads are meant by a number of them: as many as processors by 0.
func Count(threads int) int {
	if threads <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return threads
}

// Enter waits for a thread, which has to be given back by Leave. The error is that of ctx.
func (t *Threads) Enter(ctx context.Context) error {
	t.waiting.Add(1) // a helper that has nothing to do leaves
	select {
	case t.places <- struct{}{}:
		t.waiting.Add(-1)
	case <-ctx.Done():
		t.waiting.Add(-1)
		return ctx.Err()
	}
	if t.turns != nil {
		if err := t.turns.Enter(ctx); err != nil {
			<-t.places
			return err
		}
	}
	return nil
}

// wanted reports whether a task waits for a thread.
func (t *Threads) wanted() bool {
	return t.waiting.Load() > 0 || t.turns != nil && t.turns.Wanted()
}

// Leave gives a thread back.
func (t *Threads) Leave() {
	if t.turns != nil {
		t.turns.Leave()
	}
	<-t.places
}

// tryEnter takes a thread that is free.
func (t *Threads) tryEnter() bool {
	select {
	case t.places <- struct{}{}:
	default:
		return false
	}
	if t.turns != nil && !t.turns.TryEnter() {
		<-t.places
		return false
	}
	return true
}

// offer has helpers find a loop, so many of them if threads are free. It reports whether they can.
func (t *Threads) offer(m *Team, wanted int) bool {
	for range t.loops {
		if t.loops[m.slot].CompareAndSwap(nil, m) {
			for wanted -= int(t.idle.Load()); wanted > 0 && t.room() > 0 && t.tryEnter(); wanted-- {
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

// room is how many helpers there are to be beside those that there are.
func (t *Threads) room() int { return int(t.crowd.helped.Load() - t.helpers.Load()) }

// helping does parts of loops until there has been none for a while, or others want the thread.
func (t *Threads) helping() {
	at := int(t.helpers.Load()) // each begins with another loop
	last := time.Now()
	busy := last
	for looks := 1; t.teams.Load() > 0 && t.room() >= 0 && !t.wanted(); looks++ {
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
		if looks%glance == 0 {
			runtime.Gosched()
			now := time.Now()
			if now.Sub(last) > away {
				t.crowd.noticed.Store(true)
				break
			}
			if last = now; now.Sub(busy) > patience {
				break
			}
		}
	}
	t.idle.Add(-1)
	t.part(&at) // of a loop that was offered before, counting on it
	t.Leave()
	t.helpers.Add(-1)
}

// part does a part of a loop, of the one that it did the last of if that has another.
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

// rested returns when there are no helpers, unless another team has them.
func (t *Threads) rested() {
	for t.teams.Add(-1); t.teams.Load() == 0 && t.helpers.Load() > 0; {
		runtime.Gosched()
	}
}
