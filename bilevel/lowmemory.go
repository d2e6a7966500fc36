package bilevel

import (
	"context"

	"github.com/seed-45b9a24c/pare/internal/arena"
)

// Lanes that save memory: a lane holds more than its coefficients only while it answers a request, and
// at most [Spec].AtOnce lanes do so at a time. Requests then set Anew, even for lanes in other processes, so
// that these return the same bits.

// solvesAnew reports whether solves begin with a new solver, from the coefficients alone.
func (p *Problem) solvesAnew() bool { return p.memory.on || p.spec.AtOnce > 0 }

// limitLanes makes lanes release their memory after each request, if [Spec].AtOnce is set and there are no classes.
func (l *Lanes) limitLanes() {
	if l.spec.AtOnce > 0 && l.classes == 0 {
		l.semaphore = make(chan struct{}, l.spec.AtOnce)
	}
}

// answerAlone waits for the semaphore, answers a request, its gradient included, and releases the memory of
// the lane.
func (l *Lanes) answerAlone(ctx context.Context, r LaneRequest, out *LaneResult, solved func()) error {
	if r.Ask == AskKept && l.answerKept(r, out) {
		return nil
	}
	select {
	case l.semaphore <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.semaphore }()
	r.Anew = true
	err := l.spec.onThread(ctx, func() error { return l.answer(ctx, &r, out) })
	if solved != nil && r.Ask == AskSolve {
		solved()
	}
	if err == nil && l.hasGradientTask(&r) {
		err = l.spec.onThread(ctx, func() error { return l.differentiate(ctx, &r, out) })
	}
	if err != nil {
		l.spec.Memory.Detach() // the lane still has vectors of this round
		return err
	}
	l.release(r.Lane, r.Ask)
	l.spec.Memory.Reset()
	return nil
}

// reuseMemory makes lanes that work one after another reuse the memory of the one before: its vectors over the
// rows, and its copies of columns where these are bounded.
func (s *Spec) reuseMemory(rows int) {
	if s.AtOnce == 1 {
		s.Memory = arena.ForRounds(rows)
	}
}

// answerKept answers an [AskKept] for a lane whose memory has been released, without making the lane again. It
// reports whether it could.
func (l *Lanes) answerKept(r LaneRequest, out *LaneResult) bool {
	l.mu.Lock()
	m := l.slots[r.Lane]
	l.mu.Unlock()
	if m == nil || m.lane != nil {
		return false
	}
	out.Solution = m.keptSolution(&r)
	return true
}

// release releases a lane, except for its kept states and the state that its next solve depends on.
func (l *Lanes) release(id LaneID, answered Ask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.slots[id]
	left := &laneSlot{kept: m.kept, savedState: m.savedState}
	if answered == AskSolve {
		if left.savedState = m.lane.currentState(); left.savedState != nil {
			left.savedState.tangent = left.savedState.tangent.clone()
		}
	}
	l.slots[id] = left
}
