package team

import (
	"context"
	"runtime"
	"slices"
	"testing"
)

// TestHelpersGiveWayToOthers checks that after a thread has been without a processor a team uses one helper fewer,
// each time for twice as many loops, until no thread has lacked a processor for long.
func TestHelpersGiveWayToOthers(t *testing.T) {
	var m helperLimit
	m.begin(2)
	helpers := func(loops int) (counts []int) {
		for range loops {
			m.adapt()
			counts = append(counts, int(m.allowed.Load()))
		}
		return counts
	}
	for _, wait := range []int{firstPenalty, 2 * firstPenalty, 4 * firstPenalty} {
		m.lostProcessor.Store(true)
		want := append(slices.Repeat([]int{1}, wait), 2)
		if got := helpers(wait + 1); !slices.Equal(got, want) {
			t.Errorf("%d helpers in the loops that follow, want %d", got, want)
		}
	}
	m.lostProcessor.Store(true)
	helpers(1)
	m.lostProcessor.Store(true)
	if m.adapt() || m.allowed.Load() != 0 {
		t.Errorf("%d helpers where both have been without a processor", int(m.allowed.Load()))
	}
	helpers(100 * firstPenalty)
	m.lostProcessor.Store(true)
	if got := helpers(firstPenalty + 1); got[firstPenalty-1] != 1 || got[firstPenalty] != 2 {
		t.Errorf("%d helpers: what was long ago still counts", got)
	}
	for range 20 {
		m.lostProcessor.Store(true)
		m.adapt()
	}
	if m.lastWait != mostPenalty {
		t.Errorf("%d loops without a helper, want %d at most", m.lastWait, mostPenalty)
	}
}

// until is a task whose parts wait until a channel is closed.
type until chan struct{}

func (u until) Part(int, int) { <-u }

// TestALateEndIsNoticed checks that the leader notices a part that ends long after all others.
func TestALateEndIsNoticed(t *testing.T) {
	threads := NewThreads(2, nil)
	if err := threads.Enter(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := threads.Team()
	taken := make(until)
	threads.help = func() {
		s := m.state.Load()
		for !m.state.CompareAndSwap(s, s+1<<16) {
			s = m.state.Load()
		}
		close(taken)
		for !threads.helperLimit.lostProcessor.Load() {
			runtime.Gosched()
		}
		m.partsLeft.Add(-1)
		threads.idle.Add(-1)
		threads.Leave()
		threads.helpers.Add(-1)
	}
	m.Do(2, taken)
	if threads.helperLimit.adapt() {
		t.Error("the helper is asked again at once")
	}
	threads.Leave()
}
