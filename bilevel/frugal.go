package bilevel

import (
	"context"

	"github.com/seed-45b9a24c/pare/internal/arena"
)

// Lanes that may hold little at once: each has more in memory than its coefficients only while
// it answers, as many at a time as the [Spec] allows. Problems ask to begin anew then, of lanes
// elsewhere, too, for the same bits.

// anew reports whether solves begin with coefficients and nothing else that was learnt.
func (p *Problem) anew() bool { return p.memory.on || p.spec.AtOnce > 0 }

// frugal makes lanes let go of what they hold, where they can.
func (l *Lanes) frugal() {
	if l.spec.AtOnce > 0 && l.classes == 0 {
		l.room = make(chan struct{}, l.spec.AtOnce)
	}
}

// alone answers a request, its gradient included, when there is room for a lane, which then
// lets go.
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
		l.spec.Memory.Detach() // the lane still has them
		return err
	}
	l.letGo(r.Lane, r.Ask)
	l.spec.Memory.Reset()
	return nil
}

// rounds gives lanes that work one after another the vectors over the rows of one, and its copies of
// columns where these are bounded.
func (s *Spec) rounds(rows int) {
	if s.AtOnce == 1 {
		s.Memory = arena.ForRounds(rows)
	}
}

// keeps answers for what is kept of a lane that has let go, which need not be made for that.
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

// letGo keeps of a lane what its next solve depends on.
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
