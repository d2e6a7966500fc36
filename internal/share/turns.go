// Package share divides the resources of a process among independent calls: places and bytes ([Queue]), and
// turns to compute ([Turns]).
package share

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Turns lets a limited number of tasks run at once. Every task belongs to a member, and members take turns: a
// member with many waiting tasks waits as long for its next turn as a member with few.
type Turns struct {
	mu    sync.Mutex
	free  int
	queue []*Member    // members with waiting tasks, the next one first
	waits atomic.Int64 // number of waiting tasks
}

// NewTurns returns turns for at most atOnce tasks at once.
func NewTurns(atOnce int) *Turns { return &Turns{free: atOnce} }

// Join returns a new member. A member that is not needed any more needs no clean-up.
func (t *Turns) Join() *Member { return &Member{turns: t} }

// Member is a participant in [Turns]. It is safe for concurrent use.
type Member struct {
	turns   *Turns
	waiting []chan struct{} // waiting tasks, in the order of arrival
}

// Enter waits for the turn of a task, which must then call Leave. If ctx ends first, Enter returns the error
// of ctx, and Leave must not be called. A task must not enter again.
func (m *Member) Enter(ctx context.Context) error {
	t := m.turns
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{}, 1)
	if m.waiting = append(m.waiting, turn); len(m.waiting) == 1 {
		t.queue = append(t.queue, m)
	}
	t.mu.Unlock()
	t.waits.Add(1)
	defer t.waits.Add(-1)
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.Index(m.waiting, turn); at >= 0 {
		if m.waiting = slices.Delete(m.waiting, at, at+1); len(m.waiting) == 0 {
			at = slices.Index(t.queue, m)
			t.queue = slices.Delete(t.queue, at, at+1)
		}
	} else {
		t.next() // the turn was given at the same time
	}
	return ctx.Err()
}

// TryEnter is [Member.Enter] without waiting; it reports whether a turn was free.
func (m *Member) TryEnter() bool {
	m.turns.mu.Lock()
	defer m.turns.mu.Unlock()
	if m.turns.free == 0 {
		return false
	}
	m.turns.free--
	return true
}

// Wanted reports whether tasks of any member wait for a turn.
func (m *Member) Wanted() bool { return m.turns.waits.Load() > 0 }

// Leave ends a task's turn.
func (m *Member) Leave() {
	m.turns.mu.Lock()
	defer m.turns.mu.Unlock()
	m.turns.next()
}

// next gives a turn to the next member.
func (t *Turns) next() {
	if len(t.queue) == 0 {
		t.free++
		return
	}
	m := t.queue[0]
	t.queue = slices.Delete(t.queue, 0, 1)
	m.waiting[0] <- struct{}{}
	if m.waiting = slices.Delete(m.waiting, 0, 1); len(m.waiting) > 0 {
		t.queue = append(t.queue, m)
	}
}
