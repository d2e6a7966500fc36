package bilevel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Lanes are the lanes of an outer problem in this process. They implement [Runner]: different
// lanes may be asked at the same time, and as many work at once as the [Spec] has threads. A
// lane is made when it is asked for the first time.
type Lanes struct {
	spec    Spec
	folds   int // or the two of a risk
	classes int // 0: a lane for each fold
	columns int // of X
	open    func(LaneID) (lane, error)

	mu   sync.Mutex
	made map[LaneID]*made
	room chan struct{} // for lanes that hold more than their coefficients; nil: for all
}

// made is a lane, or what hinders it, and the states that it is asked to keep.
type made struct {
	once sync.Once
	lane lane
	err  error
	kept map[int]state // by number
	left *state        // where the lane has ended, once it has let go or was told; nil: nowhere
}

// lane is an inner problem, and what solves and differentiates it.
type lane interface {
	// solve solves at λ and judges the predictions on held-out rows. When ctx ends it
	// returns ctx's error.
	solve(ctx context.Context, r *LaneRequest, o cd.Options) error
	// differentiate makes the gradient of what the last solve found. When ctx ends it
	// returns ctx's error.
	differentiate(ctx context.Context, r *LaneRequest, o cd.Options) error
	// moveTo makes s the point to go on from, solution returns the last one. Lanes
	// without coefficients of their own have neither, nor those that follow.
	moveTo(s *Solution) error
	solution() *Solution
	// over is the view of the inner problem.
	over() *sparse.View
	// ended returns the state that the lane ended in, nil where the next solve does not depend
	// on it, and resume makes a state the one to go on from. unknowns is the number that
	// indices in a state are below.
	ended() *state
	resume(at *state) error
	unknowns() int
	// result is what was found last.
	result() *LaneResult
}

// newLanes prepares lanes; open makes one.
func newLanes(spec Spec, folds, classes, columns int, open func(LaneID) (lane, error)) *Lanes {
	spec.withThreads()
	l := &Lanes{spec: spec, folds: folds, classes: classes, columns: columns, open: open, made: map[LaneID]*made{}}
	l.frugal()
	return l
}

// at returns a lane, made if need be.
func (l *Lanes) at(id LaneID) (*made, error) {
	if id.Fold < 0 || id.Fold >= l.folds || id.Class < 0 || id.Class >= max(1, l.classes) {
		return nil, outcome.Errorf(outcome.BadParameter, "no lane %v: there are %d folds of %d classes", id, l.folds, max(1, l.classes))
	}
	l.mu.Lock()
	m := l.made[id]
	if m == nil {
		m = &made{}
		l.made[id] = m
	}
	l.mu.Unlock()
	m.once.Do(func() {
		defer outcome.Caught(&m.err) // another may wait for it
		if m.lane, m.err = l.open(id); m.err != nil && l.spec.Risk == nil {
			m.err = outcome.In(fmt.Sprintf("fold %d", id.Fold), m.err)
		}
		if m.err == nil && m.left != nil {
			m.err = m.lane.resume(&state{m.left.Solution, m.left.tangent.clone()})
		}
	})
	return m, m.err
}

// Forget lets go of a lane and all it has kept: it begins anew when it is asked again. It
// must not be at work.
func (l *Lanes) Forget(id LaneID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.made, id)
}

// Run implements [Runner]. Gradients are tasks of their own, after all solutions: threads that
// are done with those share what is left.
func (l *Lanes) Run(ctx context.Context, requests []LaneRequest, solved func()) ([]LaneResult, error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	results, ended := make([]LaneResult, len(requests)), make([]chan struct{}, len(requests))
	tasks := make([]func() error, 0, 2*len(requests))
	for i := range requests {
		if l.room != nil {
			tasks = append(tasks, func() error { return l.alone(inner, requests[i], &results[i], solved) })
			continue
		}
		ended[i] = make(chan struct{})
		tasks = append(tasks, func() error {
			err := l.spec.turn(inner, func() error { return l.begin(inner, &requests[i], &results[i]) })
			if err == nil {
				close(ended[i])
			}
			if solved != nil && requests[i].Ask == AskSolve {
				solved()
			}
			return err
		})
	}
	for i := range requests {
		if l.room != nil || !l.slopes(&requests[i]) {
			continue
		}
		tasks = append(tasks, func() error {
			select {
			case <-ended[i]:
			case <-inner.Done(): // with the error of another
				return inner.Err()
			}
			return l.spec.turn(inner, func() error { return l.finish(inner, &requests[i], &results[i]) })
		})
	}
	if l.room != nil {
		defer l.spec.Memory.Detach() // a refit may follow
	}
	return results, share(tasks, min(l.spec.Threads, len(tasks)), stop)
}

// share has so many goroutines do tasks in their order, this one among them: its stack has grown
// already, and to wake another takes longer than a small problem. It returns the error of the first
// task in their order that fails, whichever ends first. Once tasks before it have ended, those
// after it are not begun, and stop ends those under way. A task may wait for ones before it.
func share(tasks []func() error, goroutines int, stop func()) error {
	var mu sync.Mutex
	var err error
	next, failed := 0, len(tasks)
	at := make([]int, max(1, goroutines)) // what each is at
	for g := range at {
		at[g] = len(tasks)
	}
	// turn ends a goroutine's task and begins another, len(tasks) if there is none to do.
	turn := func(g int, ended error) int {
		mu.Lock()
		defer mu.Unlock()
		if ended != nil && at[g] < failed {
			err, failed, next = ended, at[g], len(tasks)
		}
		was := at[g]
		at[g] = next
		next = min(next+1, len(tasks))
		if was <= failed && failed < len(tasks) && slices.Min(at) > failed { // the last of those that may change the error
			stop()
		}
		return at[g]
	}
	work := func(g int) {
		for k := turn(g, nil); k < len(tasks); {
			k = turn(g, attempt(tasks[k]))
		}
	}
	var others sync.WaitGroup
	for g := range goroutines - 1 {
		others.Go(func() { work(g + 1) })
	}
	func() {
		defer others.Wait()
		work(0)
	}()
	return err
}

// attempt does a task.
func attempt(task func() error) (err error) {
	defer outcome.Caught(&err)
	return task()
}

// turn does some work when it is its turn, unless ctx has ended.
func (s *Spec) turn(ctx context.Context, work func() error) (err error) {
	defer outcome.Caught(&err)
	if err := s.Among.Enter(ctx); err != nil {
		return err
	}
	defer s.Among.Leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	return work()
}

// slopes reports whether a gradient is a task of its own.
func (l *Lanes) slopes(r *LaneRequest) bool {
	return r.Ask == AskSolve && !r.ValueOnly && l.classes == 0
}

func (l *Lanes) options(r *LaneRequest) cd.Options {
	o := l.spec.Solver
	if r.Tol != 0 {
		o.Tol = r.Tol
	}
	return o
}

// begin does what is asked, but for a gradient that is a task of its own.
func (l *Lanes) begin(ctx context.Context, r *LaneRequest, out *LaneResult) error {
	if err := l.check(r); err != nil {
		return err
	}
	m, err := l.at(r.Lane)
	if err != nil {
		return err
	}
	lane := m.lane
	defer lane.over().Team().Rest()
	switch r.Ask {
	case AskNull:
		null := lane.result()
		*out = LaneResult{Null: null.Null, NullError: null.NullError, Top: null.Top, Straight: null.Straight}
		return nil
	case AskKept:
		out.Solution = m.solution(r)
		return nil
	case AskState:
		out.State = m.state(r.From)
		return nil
	case AskRestore:
		if len(r.State) == 0 {
			return nil
		}
		return m.restore(r.Keep, r.State)
	case AskSlope:
		if l.classes == 0 {
			return outcome.Errorf(outcome.Usage, "the slope of lane %v comes with its solution", r.Lane)
		}
		return l.finish(ctx, r, out)
	case AskSolve:
		if err := m.start(r); err != nil {
			return err
		}
		if err := lane.solve(ctx, r, l.options(r)); err != nil {
			return err
		}
		if r.Keep > 0 && !l.slopes(r) {
			m.keep(r.Keep)
		}
	default:
		return outcome.Errorf(outcome.BadParameter, "lane %v: no request of kind %d", r.Lane, r.Ask)
	}
	found := lane.result()
	*out = LaneResult{
		Value: found.Value, ValueError: found.ValueError, Test: found.Test, Tested: found.Tested,
		Scores: found.Scores, TestScores: found.TestScores, Solved: found.Solved,
	}
	if r.Tell {
		out.tell(lane)
	}
	return nil
}

// start moves a lane to where a solve is asked to begin.
func (m *made) start(r *LaneRequest) error {
	if r.From > 0 {
		m.recall(r.From)
	}
	switch {
	case r.Start == nil:
		return nil
	case r.Unscaled:
		return m.lane.moveTo(r.Start.in(m.lane.over()))
	default:
		return m.lane.moveTo(r.Start)
	}
}

// tell adds what a lane has found last itself.
func (r *LaneResult) tell(l lane) {
	r.Solution = l.solution()
	if of, ok := l.(interface{ scores() []float64 }); ok {
		r.Scores = of.scores()
	}
}

// finish makes the gradient.
func (l *Lanes) finish(ctx context.Context, r *LaneRequest, out *LaneResult) error {
	m, err := l.at(r.Lane)
	if err != nil {
		return err
	}
	lane := m.lane
	defer lane.over().Team().Rest()
	if err := lane.differentiate(ctx, r, l.options(r)); err != nil {
		return err
	}
	if r.Keep > 0 {
		m.keep(r.Keep)
	}
	found := lane.result()
	out.Gradient, out.Shape, out.Columns, out.Curvature, out.Derived = found.Gradient, found.Shape, found.Columns, found.Curvature, found.Derived
	out.Motion, out.MotionSquare, out.MotionNorm, out.ErrorNorm = found.Motion, found.MotionSquare, found.MotionNorm, found.ErrorNorm
	return nil
}

// check refuses a request that no lane can answer, wherever it comes from; lanes check what
// depends on them.
func (l *Lanes) check(r *LaneRequest) error {
	if !(r.Tol >= 0) || math.IsInf(r.Tol, 0) {
		return outcome.At(outcome.BadParameter, "tol", "must be finite and not negative, got %g", r.Tol)
	}
	if r.Keep < 0 || r.From < 0 {
		return outcome.Errorf(outcome.BadParameter, "lane %v: states have positive numbers, not %d and %d", r.Lane, r.Keep, r.From)
	}
	if len(r.LogLambda) == 0 && (r.Ask == AskSolve || r.Ask == AskSlope) {
		return outcome.At(outcome.Shape, "log-lambda", "lane %v: there is no λ", r.Lane)
	}
	if s := r.Start; s != nil {
		ascending := len(s.Support) == len(s.Coef)
		for k, j := range s.Support {
			ascending = ascending && j >= 0 && int(j) < l.columns && (k == 0 || s.Support[k-1] < j)
		}
		if !ascending || slices.ContainsFunc(s.Coef, func(b float64) bool { return math.IsNaN(b) || math.IsInf(b, 0) }) {
			return outcome.Errorf(outcome.BadParameter, "lane %v: the start needs ascending columns below %d and a finite coefficient for each", r.Lane, l.columns)
		}
	}
	return nil
}

// stateless is embedded by lanes without coefficients of their own.
type stateless struct{}

func (stateless) moveTo(*Solution) error {
	return outcome.Errorf(outcome.Usage, "inner problems of this kind do not begin at given coefficients")
}
func (stateless) solution() *Solution { return nil }
func (stateless) over() *sparse.View  { return nil }
func (stateless) ended() *state       { return nil }
func (stateless) resume(*state) error { return nil }
func (stateless) unknowns() int       { return math.MaxInt32 }
