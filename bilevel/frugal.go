package bilevel

import (
	"context"

	"github.com/seed-45b9a24c/pare/internal/arena"
)

// Lanes that save memory: a lane holds more than its coefficients only while it answers a request, and
// at most [Spec].AtOnce lanes do so at a time. Requests then set Anew, even for lanes in other processes, so
// that these return the same bits.

// anew reports whether solves begin with a new solver, from the coefficients alone.
func (p *Problem) anew() bool { return p.memory.on || p.spec.AtOnce > 0 }

// frugal makes lanes release their memory after each request, if [Spec].AtOnce is set and there are no classes.
func (l *Lanes) frugal() {
	if l.spec.AtOnce > 0 && l.classes == 0 {
		l.room = make(chan struct{}, l.spec.AtOnce)
	}
}

// alone waits for a place in room, answers a request, its gradient included, and releases the memory of
// the lane.
func (l *Lanes) alone(ctx context.Context, r LaneRequest, out *LaneResult, solved func()) error {
	if r.Ask == AskKept && l.keeps(r, out) {
		return nil
	}
	select {
	case l.room <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.room }()
	r.Anew = true
	err := l.spec.turn(ctx, func() error { return l.begin(ctx, &r, out) })
	if solved != nil && r.Ask == AskSolve {
		solved()
	}
	if err == nil && l.slopes(&r) {
		err = l.spec.turn(ctx, func() error { return l.finish(ctx, &r, out) })
	}
	if err != nil {
		l.spec.Memory.Detach() // the lane still has vectors of this round
		return err
	}
	l.letGo(r.Lane, r.Ask)
	l.spec.Memory.Reset()
	return nil
}

// rounds makes lanes that work one after another reuse the memory of the one before: its vectors over the
// rows, and its copies of columns where these are bounded.
func (s *Spec) rounds(rows int) {
	if s.AtOnce == 1 {
		s.Memory = arena.ForRounds(rows)
	}
}

// keeps answers an [AskKept] for a lane whose memory has been released, without making the lane again. It
// reports whether it could.
func (l *Lanes) keeps(r LaneRequest, out *LaneResult) bool {
	l.mu.Lock()
	m := l.made[r.Lane]
	l.mu.Unlock()
	if m == nil || m.lane != nil {
		return false
	}
	out.Solution = m.solution(&r)
	return true
}

// letGo releases a lane, except for its kept states and the state that its next solve depends on.
func (l *Lanes) letGo(id LaneID, answered Ask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.made[id]
	left := &made{kept: m.kept, left: m.left}
	if answered == AskSolve {
		if left.left = m.lane.ended(); left.left != nil {
			left.left.tangent = left.left.tangent.clone()
		}
	}
	l.made[id] = left
}
