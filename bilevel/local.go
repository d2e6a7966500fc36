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
// lanes may have requests at the same time, and as many work at once as the [Spec] has threads. A
// lane is made at its first request.
type Lanes struct {
	spec     Spec
	folds    int                        // the number of folds; 2 for a risk
	classes  int                        // the number of lanes of each fold; 0: one, without classes
	columns  int                        // of X
	makeLane func(LaneID) (lane, error) // makes a lane

	mu        sync.Mutex
	slots     map[LaneID]*laneSlot
	semaphore chan struct{} // as many places as lanes may hold more than their coefficients; nil: no limit
}

// laneSlot is a lane, or the error of making it, and the states that the lane keeps.
type laneSlot struct {
	once       sync.Once
	lane       lane
	err        error
	kept       map[int]state // by number
	savedState *state        // the state of a lane that was released, or a restored one; nil: none
}

// lane is an inner problem with its solver and its implicit system.
type lane interface {
	// solve solves the inner problem at λ and evaluates the criterion on the held-out rows. When
	// ctx ends it returns ctx's error.
	solve(ctx context.Context, r *LaneRequest, o cd.Options) error
	// differentiate computes the gradient at the last solution. When ctx ends it returns ctx's error.
	differentiate(ctx context.Context, r *LaneRequest, o cd.Options) error
	// moveTo makes the next solve begin at s, and solution returns the last solution. Lanes
	// without coefficients of their own have neither, nor a view; see stateless.
	moveTo(s *Solution) error
	solution() *Solution
	// innerView returns the view of the inner problem.
	innerView() *sparse.View
	// currentState returns the current state, nil where the next solve does not depend on it. restoreState makes the
	// next solve begin with a state. indexLimit returns an upper limit, exclusive, of the indices in a state.
	currentState() *state
	restoreState(at *state) error
	indexLimit() int
	// result returns the results of the last calls.
	result() *LaneResult
}

// newLanes prepares lanes, each of which open makes when it is needed.
func newLanes(spec Spec, folds, classes, columns int, open func(LaneID) (lane, error)) *Lanes {
	spec.withThreads()
	l := &Lanes{spec: spec, folds: folds, classes: classes, columns: columns, makeLane: open, slots: map[LaneID]*laneSlot{}}
	l.limitLanes()
	return l
}

// slot returns a lane, and makes it first if necessary.
func (l *Lanes) slot(id LaneID) (*laneSlot, error) {
	if id.Fold < 0 || id.Fold >= l.folds || id.Class < 0 || id.Class >= max(1, l.classes) {
		return nil, outcome.Errorf(outcome.BadParameter, "there is no lane %v: there are %d folds of %d classes", id, l.folds, max(1, l.classes))
	}
	l.mu.Lock()
	m := l.slots[id]
	if m == nil {
		m = &laneSlot{}
		l.slots[id] = m
	}
	l.mu.Unlock()
	m.once.Do(func() {
		defer outcome.Caught(&m.err) // others may be waiting for this lane
		if m.lane, m.err = l.makeLane(id); m.err != nil && l.spec.Risk == nil {
			m.err = outcome.In(fmt.Sprintf("fold %d", id.Fold), m.err)
		}
		if m.err == nil && m.savedState != nil {
			m.err = m.lane.restoreState(&state{m.savedState.Solution, m.savedState.tangent.clone()})
		}
	})
	return m, m.err
}

// Forget discards a lane and the states it has kept; its next request makes it anew. The lane
// must not be at work.
func (l *Lanes) Forget(id LaneID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.slots, id)
}

// Run implements [Runner]. Gradients are tasks of their own, which come after all solves, so that
// threads without a solve left to do share the gradients.
func (l *Lanes) Run(ctx context.Context, requests []LaneRequest, solved func()) ([]LaneResult, error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	results, ended := make([]LaneResult, len(requests)), make([]chan struct{}, len(requests))
	tasks := make([]func() error, 0, 2*len(requests))
	for i := range requests {
		if l.semaphore != nil {
			tasks = append(tasks, func() error { return l.answerAlone(inner, requests[i], &results[i], solved) })
			continue
		}
		ended[i] = make(chan struct{})
		tasks = append(tasks, func() error {
			err := l.spec.onThread(inner, func() error { return l.answer(inner, &requests[i], &results[i]) })
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
		if l.semaphore != nil || !l.hasGradientTask(&requests[i]) {
			continue
		}
		tasks = append(tasks, func() error {
			select {
			case <-ended[i]:
			case <-inner.Done(): // another task has failed
				return inner.Err()
			}
			return l.spec.onThread(inner, func() error { return l.differentiate(inner, &requests[i], &results[i]) })
		})
	}
	if l.semaphore != nil {
		defer l.spec.Memory.Detach() // do not hold on to the vectors: a refit may follow
	}
	return results, runTasks(tasks, min(l.spec.Threads, len(tasks)), stop)
}

// runTasks runs tasks, begun in their order, on the given number of goroutines. The calling goroutine is one of
// them: its stack has grown already, and waking another takes longer than a small problem. runTasks returns
// the error of the failing task that is first in the order, whichever fails first. No task begins after a
// failure; once all tasks before the failed one have ended, runTasks calls stop to end those after it. A task may
// wait for tasks before it.
func runTasks(tasks []func() error, goroutines int, stop func()) error {
	var mu sync.Mutex
	var err error
	next, failed := 0, len(tasks)
	at := make([]int, max(1, goroutines)) // the task of each goroutine
	for g := range at {
		at[g] = len(tasks)
	}
	// turn records how the task of goroutine g ended and returns its next task, len(tasks) if there is none.
	turn := func(g int, ended error) int {
		mu.Lock()
		defer mu.Unlock()
		if ended != nil && at[g] < failed {
			err, failed, next = ended, at[g], len(tasks)
		}
		was := at[g]
		at[g] = next
		next = min(next+1, len(tasks))
		if was <= failed && failed < len(tasks) && slices.Min(at) > failed { // no task under way can change the error
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

// attempt runs a task and turns a panic into an error.
func attempt(task func() error) (err error) {
	defer outcome.Caught(&err)
	return task()
}

// onThread waits for a thread of Among and runs work on it, unless ctx has ended.
func (s *Spec) onThread(ctx context.Context, work func() error) (err error) {
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

// hasGradientTask reports whether a request has a gradient, which is a task of its own.
func (l *Lanes) hasGradientTask(r *LaneRequest) bool {
	return r.Ask == AskSolve && !r.ValueOnly && l.classes == 0
}

func (l *Lanes) options(r *LaneRequest) cd.Options {
	o := l.spec.Solver
	if r.Tol != 0 {
		o.Tol = r.Tol
	}
	return o
}

// answer answers a request, except for a gradient that is a task of its own.
func (l *Lanes) answer(ctx context.Context, r *LaneRequest, out *LaneResult) error {
	if err := l.checkRequest(r); err != nil {
		return err
	}
	m, err := l.slot(r.Lane)
	if err != nil {
		return err
	}
	lane := m.lane
	defer lane.innerView().Team().Rest()
	switch r.Ask {
	case AskNull:
		null := lane.result()
		*out = LaneResult{Null: null.Null, NullError: null.NullError, Top: null.Top, Straight: null.Straight}
		return nil
	case AskKept:
		out.Solution = m.keptSolution(r)
		return nil
	case AskState:
		out.State = m.encodedState(r.From)
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
		return l.differentiate(ctx, r, out)
	case AskSolve:
		if err := m.moveToStart(r); err != nil {
			return err
		}
		if err := lane.solve(ctx, r, l.options(r)); err != nil {
			return err
		}
		if r.Keep > 0 && !l.hasGradientTask(r) {
			m.keep(r.Keep)
		}
	default:
		return outcome.Errorf(outcome.BadParameter, "lane %v: unknown kind of request, %d", r.Lane, r.Ask)
	}
	found := lane.result()
	*out = LaneResult{
		Value: found.Value, ValueError: found.ValueError, Test: found.Test, Tested: found.Tested,
		Scores: found.Scores, TestScores: found.TestScores, Solved: found.Solved,
	}
	if r.Tell {
		out.addSolution(lane)
	}
	return nil
}

// moveToStart moves a lane to where the request asks its solve to begin.
func (m *laneSlot) moveToStart(r *LaneRequest) error {
	if r.From > 0 {
		m.recall(r.From)
	}
	switch {
	case r.Start == nil:
		return nil
	case r.Unscaled:
		return m.lane.moveTo(r.Start.in(m.lane.innerView()))
	default:
		return m.lane.moveTo(r.Start)
	}
}

// addSolution adds the last solution of a lane, and its predictions on the validation rows where the lane has scores.
func (r *LaneResult) addSolution(l lane) {
	r.Solution = l.solution()
	if of, ok := l.(interface{ scores() []float64 }); ok {
		r.Scores = of.scores()
	}
}

// differentiate computes the gradient of a request.
func (l *Lanes) differentiate(ctx context.Context, r *LaneRequest, out *LaneResult) error {
	m, err := l.slot(r.Lane)
	if err != nil {
		return err
	}
	lane := m.lane
	defer lane.innerView().Team().Rest()
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

// checkRequest returns the error of a request that no lane can answer, since requests may come from another process;
// lanes check the rest.
func (l *Lanes) checkRequest(r *LaneRequest) error {
	if !(r.Tol >= 0) || math.IsInf(r.Tol, 0) {
		return outcome.At(outcome.BadParameter, "tol", "must be finite and not negative, got %g", r.Tol)
	}
	if r.Keep < 0 || r.From < 0 {
		return outcome.Errorf(outcome.BadParameter, "lane %v: numbers of states must not be negative, got %d and %d", r.Lane, r.Keep, r.From)
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
			return outcome.Errorf(outcome.BadParameter, "lane %v: the start must have ascending columns below %d, each with a finite coefficient", r.Lane, l.columns)
		}
	}
	return nil
}

// stateless is embedded in lanes that cannot begin at given coefficients.
type stateless struct{}

func (stateless) moveTo(*Solution) error {
	return outcome.Errorf(outcome.Usage, "inner problems of this kind cannot start at given coefficients")
}
func (stateless) solution() *Solution       { return nil }
func (stateless) innerView() *sparse.View   { return nil }
func (stateless) currentState() *state      { return nil }
func (stateless) restoreState(*state) error { return nil }
func (stateless) indexLimit() int           { return math.MaxInt32 }
