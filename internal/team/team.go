// Package team has several threads work on one inner problem. What they share are loops
// whose parts write to places of their own, so that results do not depend on who does what:
// the bits are the same for any number of threads.
package team

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Turns has tasks wait for those of others. A task that has entered must leave.
type Turns interface {
	Enter(ctx context.Context) error // the error is that of ctx where it ends before
	TryEnter() bool                  // reports whether there was a turn to be had at once
	Wanted() bool                    // reports whether others wait for a turn
	Leave()
}

// Threads are those that a call may have at work at once. Safe for concurrent use.
type Threads struct {
	places  chan struct{}
	turns   Turns        // besides; nil: none
	waiting atomic.Int64 // for a place
}

// NewThreads returns so many threads, 0 for all processors, which take turns with those of
// others where turns is not nil.
func NewThreads(count int, turns Turns) *Threads {
	return &Threads{places: make(chan struct{}, Count(count)), turns: turns}
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

// Task is a loop in parts, which may be done at the same time and in any order.
type Task interface {
	Part(k, of int)
}

// Team is one thread that has others help it, as many as are free at the moment. nil is a
// team of one that notes nothing.
type Team struct {
	threads *Threads
	most    int // helpers
	help    func()

	lead    sync.Mutex // held by the one whose task it is
	task    Task
	round   uint64
	state   atomic.Uint64 // round, next part, parts
	left    atomic.Int64  // parts that are not done
	helpers atomic.Int64
	resting atomic.Bool
	shared  atomic.Int64        // see Shared
	broken  atomic.Pointer[any] // what a part panicked with

	crowded atomic.Bool // a thread has been without a processor
	helped  int         // helpers that there are to be at the moment, see adapt
	wait    int         // loops until there is to be one more
	again   int         // how many they were the last time
	calm    int         // loops with all helpers since then
}

const (
	// Grain is the modelled cost of a part, in nanoseconds, below which it is not worth being one.
	Grain = 20_000
	// each is how many parts there are for every thread at most: they are not equally large.
	each = 4
	// mostParts fit into the state.
	mostParts = 1 << 10
	// patience is how many times a helper looks for the next task before it leaves: some milliseconds, as a sweep
	// takes, since a thread that sleeps is woken as slowly as many a loop ends. A look gives way to other
	// goroutines.
	patience = 40_000
	// briefly is how many times the one who leads looks for the end of parts that others do.
	briefly = 10_000
	// pause is how long it sleeps then: their threads have been taken from them.
	pause = 20 * time.Microsecond
	// clockLooks is how many looks a helper takes from one glance at the clock to the next.
	clockLooks = 64
	// away is for how long a thread that looks for something has been without a processor where others share it.
	away = time.Millisecond
	// fewLoops is for how many loops there is a helper less at first, mostLoops in the end.
	fewLoops, mostLoops = 16, 4096
)

// Team returns a team with these threads. It has no end.
func (t *Threads) Team() *Team {
	most := min(cap(t.places), runtime.GOMAXPROCS(0)) - 1
	m := &Team{threads: t, most: most, helped: most}
	m.help = m.helping
	return m
}

// Parts returns how many parts to make of a loop of a modelled cost: 1 where it had better
// not be shared.
func (m *Team) Parts(cost float64) int {
	m.Note(cost)
	return m.Cuts(cost)
}

// Note adds a loop to [Team.Shared] that is worth sharing.
func (m *Team) Note(cost float64) {
	if m != nil && cost >= 2*Grain {
		m.shared.Add(int64(cost))
	}
}

// Cuts is [Team.Parts] for a loop that counted work leaves out, or that is noted by who counts it.
func (m *Team) Cuts(cost float64) int {
	if m.Threads() == 1 || cost < 2*Grain {
		return 1
	}
	return int(min(cost/Grain, float64(each*(m.most+1)), mostParts))
}

// Few is [Team.Parts] for a loop in which every part begins with work of its own.
func (m *Team) Few(cost float64) int {
	return min(m.Parts(cost), m.Threads())
}

// Threads returns how many threads there are at most.
func (m *Team) Threads() int {
	if m == nil {
		return 1
	}
	return m.most + 1
}

// Shared returns the modelled cost of all loops that were worth sharing so far, done by others or
// not: the same for any number of threads. It is 0 without a team.
func (m *Team) Shared() float64 {
	if m == nil {
		return 0
	}
	return float64(m.shared.Load())
}

// Do does all parts of a task, and returns when they are done. What a part panics with, Do panics
// with.
func (m *Team) Do(parts int, task Task) {
	if m == nil || parts <= 1 || !m.lead.TryLock() {
		inTurn(parts, task)
		return
	}
	defer m.lead.Unlock()
	if !m.adapt() {
		inTurn(parts, task)
		return
	}
	m.task = task
	m.left.Store(int64(parts))
	m.resting.Store(false)
	m.round++
	m.state.Store(m.round<<32 | uint64(parts))
	m.call(parts - 1)
	began := time.Now()
	for m.work() {
	}
	worked := time.Since(began)
	for looks := 0; m.left.Load() > 0; looks++ {
		if looks < briefly {
			runtime.Gosched()
			continue
		}
		if time.Since(began) > 2*worked+away { // no part is as long as all that were done meanwhile
			m.crowded.Store(true)
			m.resting.Store(true)
		}
		time.Sleep(pause)
	}
	m.task = nil
	if cause := m.broken.Swap(nil); cause != nil {
		panic(*cause)
	}
}

func inTurn(parts int, task Task) {
	for k := range parts {
		task.Part(k, parts)
	}
}

// adapt takes one helper less where a thread of the team has been without a processor: loops end when the last of their
// parts does, and threads that look for work are in the way of those that have some. It takes one more again after a
// number of loops, twice as many every time. It reports whether there are to be any.
func (m *Team) adapt() bool {
	switch {
	case m.crowded.Swap(false):
		m.again = min(max(fewLoops, 2*m.again), mostLoops)
		m.helped, m.wait, m.calm = max(0, m.helped-1), m.again, 0
	case m.helped < m.most:
		if m.wait--; m.wait <= 0 {
			m.helped, m.wait = m.helped+1, m.again
		}
	default:
		if m.calm++; m.calm > 2*m.again {
			m.again = 0
		}
	}
	return m.helped > 0
}

// call has as many helpers as there are to be, if threads are free.
func (m *Team) call(wanted int) {
	for wanted = min(wanted, m.helped); int(m.helpers.Load()) < wanted && m.threads.tryEnter(); {
		m.helpers.Add(1)
		go m.help()
	}
}

// work does the next part of the task, if there is one.
func (m *Team) work() bool {
	for {
		s := m.state.Load()
		next, parts := s>>16&0xffff, s&0xffff
		if next == parts {
			return false
		}
		if m.state.CompareAndSwap(s, s+1<<16) {
			m.part(int(next), int(parts))
			return true
		}
	}
}

// part does a part. One that panics on a helper's goroutine would end the program.
func (m *Team) part(k, of int) {
	defer func() {
		if cause := recover(); cause != nil {
			broken := cause // alone on the heap
			m.broken.Store(&broken)
		}
		m.left.Add(-1)
	}()
	m.task.Part(k, of)
}

// helping helps until there has been nothing to do for a while, or others want the thread.
func (m *Team) helping() {
	last := time.Now()
	for looks := 0; looks < patience && !m.resting.Load() && !m.threads.wanted(); looks++ {
		if m.work() {
			looks, last = 0, time.Now()
			continue
		}
		runtime.Gosched()
		if looks%clockLooks == clockLooks-1 {
			now := time.Now()
			if now.Sub(last) > away {
				m.crowded.Store(true)
				break
			}
			last = now
		}
	}
	m.threads.Leave()
	m.helpers.Add(-1)
}

// Rest sends helpers away, and returns when they have left.
func (m *Team) Rest() {
	if m == nil || !m.lead.TryLock() {
		return
	}
	defer m.lead.Unlock()
	m.resting.Store(true)
	for m.helpers.Load() > 0 {
		runtime.Gosched()
	}
}
