package team

import (
	"context"
	"runtime"
	"slices"
	"testing"
)

// TestHelpersGiveWayToOthers: where a thread has been without a processor there is a helper less, for twice as many loops
// every time, until all have been there for long.
func TestHelpersGiveWayToOthers(t *testing.T) {
	m := &Team{most: 2, helped: 2}
	helpers := func(loops int) (counts []int) {
		for range loops {
			m.adapt()
			counts = append(counts, m.helped)
		}
		return counts
	}
	for _, wait := range []int{fewLoops, 2 * fewLoops, 4 * fewLoops} {
		m.crowded.Store(true)
		want := append(slices.Repeat([]int{1}, wait), 2)
		if got := helpers(wait + 1); !slices.Equal(got, want) {
			t.Errorf("%d helpers in the loops that follow, want %d", got, want)
		}
	}
	m.crowded.Store(true)
	helpers(1)
	m.crowded.Store(true)
	if m.adapt() || m.helped != 0 {
		t.Errorf("%d helpers where both have been without a processor", m.helped)
	}
	helpers(100 * fewLoops)
	m.crowded.Store(true)
	if got := helpers(fewLoops + 1); got[fewLoops-1] != 1 || got[fewLoops] != 2 {
		t.Errorf("%d helpers: what was long ago still counts", got)
	}
	for range 20 {
		m.crowded.Store(true)
		m.adapt()
	}
	if m.again != mostLoops {
		t.Errorf("%d loops without a helper, want %d at most", m.again, mostLoops)
	}
}

// until is a task whose parts wait for a channel.
type until chan struct{}

func (u until) Part(int, int) { <-u }

// TestALateEndIsNoticed: who leads notices a part that goes on for long after all others.
func TestALateEndIsNoticed(t *testing.T) {
	threads := NewThreads(2, nil)
	if err := threads.Enter(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := &Team{threads: threads, most: 1, helped: 1}
	taken := make(until)
	m.help = func() {
		s := m.state.Load()
		for !m.state.CompareAndSwap(s, s+1<<16) {
			s = m.state.Load()
		}
		close(taken)
		for !m.crowded.Load() {
			runtime.Gosched()
		}
		m.left.Add(-1)
		m.threads.Leave()
		m.helpers.Add(-1)
	}
	m.Do(2, taken)
	if m.adapt() {
		t.Error("the helper is asked again at once")
	}
	threads.Leave()
}
