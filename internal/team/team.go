// Package team shares the loops of inner problems among several threads: threads without a problem help with any other.
// The parts of a loop write to separate places, so results do not depend on which thread runs which part:
// the bits are the same for any number of threads.
package team

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Task is a loop in parts, which may run concurrently and in any order.
type Task interface {
	Part(k, of int)
}

// Team is one thread, the leader, with the help of other threads, as many as are free at the
// moment. A nil Team is a single thread and notes nothing.
type Team struct {
	threads *Threads

	busy   sync.Mutex // held by the leader during a task
	task   Task
	round  uint64
	slot   int                 // index of its loop in Threads.loops
	called bool                // helpers have been called since the last Rest
	shared atomic.Int64        // see Shared
	broken atomic.Pointer[any] // the value with which a part panicked

	_         cacheLine
	state     atomic.Uint64 // round, next part and number of parts, packed
	_         cacheLine
	partsLeft atomic.Int64 // parts that are not done
	_         cacheLine
}

const (
	// Grain is the least modelled cost of a part, in nanoseconds, that is worth sharing.
	Grain = 20_000
	// partsPerThread bounds the parts per thread. More than one even out differences between parts.
	partsPerThread = 4
	// mostParts bounds the parts, whose number has to fit into state.
	mostParts = 1 << 10
	// spinTime is how long the leader waits for the parts of helpers without sleeping.
	spinTime = time.Millisecond
	// sleepTime is how long the leader then sleeps at a time: helpers must have lost their processors.
	sleepTime = 20 * time.Microsecond
)

// Team returns a team of these threads. It need not be closed.
func (t *Threads) Team() *Team { return &Team{threads: t} }

// Parts returns into how many parts to divide a loop of the given modelled cost, 1 if the loop is
// not worth sharing, and notes the cost.
func (m *Team) Parts(cost float64) int {
	m.Note(cost)
	return m.Cuts(cost)
}

// Note adds the cost of a loop to [Team.Shared] if the loop is worth sharing.
func (m *Team) Note(cost float64) {
	if m != nil && cost >= 2*Grain {
		m.shared.Add(int64(cost))
	}
}

// Cuts is [Team.Parts] without [Team.Note], for a loop that is not counted as work or is noted where it is counted.
func (m *Team) Cuts(cost float64) int {
	if m.Threads() == 1 || cost < 2*Grain {
		return 1
	}
	return int(min(cost/Grain, float64(partsPerThread*m.Threads()), mostParts))
}

// Few is [Team.Parts] for a loop in which every part has a fixed cost: it returns at most one part per thread.
func (m *Team) Few(cost float64) int {
	return min(m.Parts(cost), m.Threads())
}

// Threads returns the largest number of threads that may work on a task.
func (m *Team) Threads() int {
	if m == nil {
		return 1
	}
	return m.threads.most + 1
}

// Shared returns the modelled cost of all loops so far that were worth sharing, whether they were
// shared or not: the same for any number of threads. It is 0 without a team.
func (m *Team) Shared() float64 {
	if m == nil {
		return 0
	}
	return float64(m.shared.Load())
}

// Do runs all parts of a task and returns when they are done. If a part panics, Do panics with the
// same value.
func (m *Team) Do(parts int, task Task) {
	if m.Threads() == 1 || parts <= 1 || !m.busy.TryLock() {
		inTurn(parts, task)
		return
	}
	defer m.busy.Unlock()
	if !m.threads.helperLimit.adapt() {
		inTurn(parts, task)
		return
	}
	m.task = task
	m.partsLeft.Store(int64(parts))
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
	m.wait(began) // even if not offered: a helper may still hold this team from an earlier loop
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

// wait returns when the parts taken by helpers are done.
func (m *Team) wait(began time.Time) {
	worked := time.Since(began)
	for looks := 1; m.partsLeft.Load() > 0; looks++ {
		if looks%checksPerLook > 0 {
			kernels.Relax()
			continue
		}
		since := time.Since(began) - worked
		if since > worked+lostGap { // a part does not take longer than all parts of the leader
			m.threads.helperLimit.lostProcessor.Store(true)
		}
		if since <= spinTime {
			runtime.Gosched()
			continue
		}
		time.Sleep(sleepTime)
		looks-- // and look at the clock again
	}
}

// work runs the next part of the task, and reports whether there was one.
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

// part runs one part. It recovers a panic, which on a helper's goroutine would end the program.
func (m *Team) part(k, of int) {
	defer func() {
		if cause := recover(); cause != nil {
			broken := cause // only this copy escapes to the heap
			m.broken.Store(&broken)
		}
		m.partsLeft.Add(-1)
	}()
	m.task.Part(k, of)
}

// Rest is called when no more loops are expected for a while. It returns when helpers have left, unless
// other teams may use them.
func (m *Team) Rest() {
	if m == nil || !m.busy.TryLock() {
		return
	}
	defer m.busy.Unlock()
	if m.called {
		m.called = false
		m.threads.waitForHelpers()
	}
}
