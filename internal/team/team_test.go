package team_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/team"
)

// counted is a task that counts how often each of its parts is done.
type counted struct{ done []atomic.Int32 }

func (c *counted) Part(k, of int) {
	if of == len(c.done) {
		c.done[k].Add(1)
	}
}

// onFour makes the test run on four processors.
func onFour(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestEveryPartOnce checks that every part of every task has been done once when Do returns, by
// teams of any size, even if several goroutines lead the team, and that after Rest its threads are
// free again.
func TestEveryPartOnce(t *testing.T) {
	onFour(t)
	for _, count := range []int{1, 2, 3, 8} {
		threads := team.NewThreads(count, nil)
		if err := threads.Enter(context.Background()); err != nil {
			t.Fatal(err)
		}
		m := threads.Team()
		if m.Threads() != min(count, 4) {
			t.Fatalf("%d threads: a team of %d", count, m.Threads())
		}
		var leaders sync.WaitGroup
		for range 2 {
			leaders.Go(func() {
				for round := range 2000 {
					task := &counted{make([]atomic.Int32, 1+round%17)}
					m.Do(len(task.done), task)
					for k := range task.done {
						if n := task.done[k].Load(); n != 1 {
							t.Errorf("%d threads, round %d: part %d of %d was done %d times", count, round, k, len(task.done), n)
						}
					}
				}
			})
		}
		leaders.Wait()
		m.Rest()
		for range count - 1 {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			if err := threads.Enter(ended); err != nil && threads.Enter(context.Background()) != nil {
				t.Errorf("%d threads: not all have come back", count)
			}
		}
	}
}

// meeting is a task whose parts wait for one another: it ends only if as many threads as it has
// parts work at once.
type meeting struct{ all sync.WaitGroup }

func (m *meeting) Part(int, int) {
	m.all.Done()
	m.all.Wait()
}

// TestPartsAreDoneAtOnce checks that as many parts as there are threads are done at the same time.
func TestPartsAreDoneAtOnce(t *testing.T) {
	onFour(t)
	for range 20 {
		threads := team.NewThreads(4, nil) // new threads have not noticed a lack of processors
		if err := threads.Enter(context.Background()); err != nil {
			t.Fatal(err)
		}
		m := threads.Team()
		var task meeting
		task.all.Add(4)
		m.Do(4, &task)
		m.Rest()
	}
}

// TestHelpersGoFromTeamToTeam checks that a helper goes from the loops of one team to those of
// another without a Rest of the first.
func TestHelpersGoFromTeamToTeam(t *testing.T) {
	onFour(t)
	threads := team.NewThreads(3, nil)
	for range 2 {
		if err := threads.Enter(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	first, second := threads.Team(), threads.Team()
	for _, m := range []*team.Team{first, second, first} {
		var two meeting
		two.all.Add(2)
		m.Do(2, &two)
	}
	second.Rest() // returns although the first still has its helper
	first.Rest()
	if err := threads.Enter(t.Context()); err != nil {
		t.Error("the helper has not come back")
	}
}

// turns is a channel with a capacity of one element per turn.
type turns chan struct{}

func (t turns) Enter(context.Context) error { t <- struct{}{}; return nil }
func (t turns) Leave()                      { <-t }
func (t turns) Wanted() bool                { return false }
func (t turns) TryEnter() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// TestHelpersTakeFreeTurns checks that helpers take free turns and wait for none: a call that has
// all turns to itself is helped, and one that shares them works alone.
func TestHelpersTakeFreeTurns(t *testing.T) {
	onFour(t)
	shared := make(turns, 2)
	threads := team.NewThreads(4, shared)
	if err := threads.Enter(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := threads.Team()
	var two meeting
	two.all.Add(2)
	m.Do(2, &two)
	m.Rest()
	if len(shared) != 1 {
		t.Errorf("%d turns are taken after the helpers have left", len(shared))
	}
	_ = shared.Enter(context.Background()) // another call
	alone := &counted{make([]atomic.Int32, 50)}
	m.Do(len(alone.done), alone)
	if len(shared) != 2 {
		t.Errorf("%d turns are taken, want that of the caller and that of another call", len(shared))
	}
	shared.Leave()
	threads.Leave()
	if len(shared) != 0 {
		t.Errorf("%d turns are left behind", len(shared))
	}
}

// TestParts checks that a loop is divided according to its cost, and that a cheap loop is not
// divided.
func TestParts(t *testing.T) {
	onFour(t)
	m := team.NewThreads(3, nil).Team()
	for cost, want := range map[float64][2]int{0: {1, 1}, team.Grain: {1, 1}, 2 * team.Grain: {2, 2}, 5 * team.Grain: {5, 3}, 1e12: {12, 3}} {
		if got := [2]int{m.Parts(cost), m.Few(cost)}; got != want {
			t.Errorf("cost %g: %v parts, want %v", cost, got, want)
		}
	}
	if team.Count(3) != 3 || team.Count(0) != 4 || team.Count(-1) != 4 {
		t.Errorf("3 threads are %d, 0 are %d, −1 are %d", team.Count(3), team.Count(0), team.Count(-1))
	}
	before := m.Shared()
	if m.Cuts(1e9) != 12 || m.Shared() != before {
		t.Error("a loop that is not counted: other parts, or it counts")
	}
	if m.Note(team.Grain); m.Shared() != before {
		t.Error("a loop that is not worth sharing counts")
	}
	if m.Note(1e9); m.Shared() != before+1e9 {
		t.Error("a loop that is noted does not count")
	}
	one := team.NewThreads(1, nil).Team()
	for _, m := range []*team.Team{nil, one} {
		if m.Parts(1e12) != 1 || m.Few(1e12) != 1 || m.Threads() != 1 {
			t.Error("one thread has more than one part")
		}
	}
	if one.Shared() != 2e12 {
		t.Errorf("one thread notes %g", one.Shared())
	}
}

// failing is a task with one part that panics.
type failing struct{ part int }

func (f failing) Part(k, _ int) {
	if k == f.part {
		panic("a fault")
	}
}

// TestAPanicReachesTheLeader checks that a part that panics on any thread makes Do panic, after
// all parts have ended, and that the team still works.
func TestAPanicReachesTheLeader(t *testing.T) {
	onFour(t)
	threads := team.NewThreads(4, nil)
	if err := threads.Enter(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := threads.Team()
	defer m.Rest()
	for part := range 200 {
		cause := func() (cause any) {
			defer func() { cause = recover() }()
			m.Do(16, failing{part % 16})
			return nil
		}()
		if cause != "a fault" {
			t.Fatalf("part %d: recovered %v", part%16, cause)
		}
		task := &counted{make([]atomic.Int32, 16)}
		m.Do(16, task)
		for k := range task.done {
			if n := task.done[k].Load(); n != 1 {
				t.Fatalf("after a panic part %d was done %d times", k, n)
			}
		}
	}
}
