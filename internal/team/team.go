// Package team has several threads work on inner problems: those that have none help with any. What they share are loops
// whose parts write to places of their own, so that results do not depend on who does what:
// the bits are the same for any number of threads.
package team

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Task is a loop in parts, which may be done at the same time and in any order.
type Task interface {
	Part(k, of int)
}

// Team is one thread that has others help it, as many as are free at the moment. nil is a
// team of one that notes nothing.
type Team struct {
	threads *Threads

	lead   sync.Mutex // held by the one whose task it is
	task   Task
	round  uint64
	slot   int                 // of its loops among those of the threads
	called bool                // since it has rested
	shared atomic.Int64        // see Shared
	broken atomic.Pointer[any] // what a part panicked with

	_     line
	state atomic.Uint64 // round, next part, parts
	_     line
	left  atomic.Int64 // parts that are not done
	_     line
}

const (
	// Grain is the modelled cost of a part, in nanoseconds, below which it is not worth being one.
	Grain = 20_000
	// each is how many parts there are for every thread at most: they are not equally large.
	each = 4
	// mostParts fit into the state.
	mostParts = 1 << 10
	// briefly is for how long the one who leads looks for the end of parts that others do.
	briefly = time.Millisecond
	// pause is how long it sleeps then: their threads have been taken from them.
	pause = 20 * time.Microsecond
)

// Team returns a team with these threads. It has no end.
func (t *Threads) Team() *Team { return &Team{threads: t} }

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
	return int(min(cost/Grain, float64(each*m.Threads()), mostParts))
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
	return m.threads.most + 1
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
	if m.Threads() == 1 || parts <= 1 || !m.lead.TryLock() {
		inTurn(parts, task)
		return
	}
	defer m.lead.Unlock()
	if !m.threads.crowd.adapt() {
		inTurn(parts, task)
		return
	}
	m.task = task
	m.left.Store(int64(parts))
	m.round++
	m.state.Store(m.round<<32 | uint64(parts))
	if !m.called {
		m.called = true
		m.threads.teams.Add(1)
	}
	offered := m.threads.offer(m, parts-1)
	began := time.Now()
	for m.work() {
	}
	if offered {
		m.threads.loops[m.slot].Store(nil)
	}
	m.wait(began) // also for a helper that has had this team in sight since an earlier loop
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

// wait returns when the parts that others do are done.
func (m *Team) wait(began time.Time) {
	worked := time.Since(began)
	for looks := 1; m.left.Load() > 0; looks++ {
		if looks%glance > 0 {
			kernels.Relax()
			continue
		}
		since := time.Since(began) - worked
		if since > worked+away { // no part is as long as all that were done meanwhile
			m.threads.crowd.noticed.Store(true)
		}
		if since <= briefly {
			runtime.Gosched()
			continue
		}
		time.Sleep(pause)
		looks-- // and look at the clock again
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

// Rest is called when no more loops are to be expected for a while. It returns when helpers have left, unless
// they help other teams.
func (m *Team) Rest() {
	if m == nil || !m.lead.TryLock() {
		return
	}
	defer m.lead.Unlock()
	if m.called {
		m.called = false
		m.threads.rested()
	}
}
