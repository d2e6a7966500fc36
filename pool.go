package pare

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/internal/arena"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/internal/share"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// PoolOptions bound the resources that all calls that share a [Pool] use at once. The zero value
// is ready to use.
type PoolOptions struct {
	Threads int // threads at work at once, for all calls together; 0 means all processors
	Calls   int // calls admitted at once; 0 means twice Threads
	// Queue is the number of calls that may wait; 0 means any number. A further call is refused
	// with an error of kind Limit.
	Queue int
	// MaxBytes bounds the working memory that the admitted calls are expected to use together,
	// not counting the data and garbage not yet collected; 0 means no limit. A call that is
	// expected to need more works on fewer classes or folds at once, with smaller caches, and on
	// columns of a sparse matrix that are copied anew for each use. All of this can change the
	// last bits of results. If it is not enough, the call is refused with an error of kind Limit.
	MaxBytes int64
}

// Pool shares threads, memory and a queue among all calls of a process that have it in their
// [Config]: [Fit], [Path], [Select], [Validate], [Gradient], [OutOfFold] and those of a [Fitter].
// Calls are admitted in the order of their arrival. Admitted calls take turns, one inner problem
// at a time, so that a large call does not delay small ones. A call whose ctx ends while it
// waits returns an error of kind Limit that wraps the error of ctx.
//
// Functions called from within a call, such as a criterion or Progress, and the body of a loop
// over [Path] or [Validate], must not make another call with the same pool: it could wait
// forever. A Pool keeps working memory of small calls that choose or judge λ for later calls: up
// to 32 MiB, or an eighth of MaxBytes if that is less. It has no goroutines, needs no closing, and
// is safe for concurrent use. [NewPool] makes one; calls with the zero value are refused.
type Pool struct {
	options PoolOptions
	queue   *share.Queue
	turns   *share.Turns
	arenas  *arena.Pool
}

// NewPool makes a pool. The error is an [outcome.Error] of kind BadParameter, for a negative
// option.
func NewPool(o PoolOptions) (*Pool, error) {
	for _, option := range []struct {
		name  string
		given int64
	}{{"threads", int64(o.Threads)}, {"calls", int64(o.Calls)}, {"queue", int64(o.Queue)}, {"max-bytes", o.MaxBytes}} {
		if option.given < 0 {
			return nil, outcome.At(outcome.BadParameter, option.name, "must not be negative in a pool, got %d", option.given)
		}
	}
	o.Threads = team.Count(o.Threads)
	o.Calls = cmp.Or(o.Calls, 2*o.Threads)
	queue := o.Queue
	if queue == 0 {
		queue = -1
	}
	keep := int64(mostArenaBytes)
	if o.MaxBytes > 0 {
		keep = min(keep, o.MaxBytes/8)
	}
	return &Pool{arenas: arena.NewPool(keep), options: o, queue: share.NewQueue(o.Calls, o.MaxBytes, queue), turns: share.NewTurns(o.Threads)}, nil
}

// PoolState is the load of a pool.
type PoolState struct {
	Running, Waiting int   // the numbers of calls admitted, and waiting
	Bytes            int64 // working memory that the running calls are expected to use
}

// State returns the current load of the pool.
func (p *Pool) State() PoolState {
	if p.queue == nil {
		return PoolState{}
	}
	return PoolState(p.queue.State())
}

// mostArenaBytes is the maximum number of bytes that a pool keeps from ended calls for later ones.
const mostArenaBytes = 32 << 20

// grant is what a pool grants a call: turns, memory and bounds. It implements [team.Turns].
type grant struct {
	pool *Pool
	*share.Member
	memory   *arena.Arena // for calls that choose or differentiate; nil for other calls
	bytes    int64        // working memory that the call is expected to use
	gram     int          // maximum number of columns of a Gram matrix; 0: not bounded by the pool
	packed   int64        // maximum bytes of copies of sparse columns; 0: not bounded by the pool
	lanes    int          // maximum number of lanes that hold more than coefficients at once; 0: all
	observer Observer
}

// purpose is the kind of work that a call does.
type purpose uint8

const (
	toFit           purpose = iota // solve the inner problem on all rows
	toFitMany                      // solve it at many λ's
	toChoose                       // evaluate a criterion, or choose λ by it
	toDifferentiate                // compute a hypergradient at one λ
	toPredict                      // fit the folds anew, one on each thread
)

// manyFits is the length from which a path counts as [toFitMany].
const manyFits = 10

// admitEngine makes an engine for a call, after the pool of its Config, if there is one, has admitted
// the call. The function returned must be called when the call ends. v is nil for calls without a
// criterion.
func admitEngine(ctx context.Context, x sparse.Matrix, y []float64, c Config, v *Validation, to purpose) (*engine, func(), error) {
	e, err := newUnopenedEngine(ctx, x, y, c)
	if err != nil {
		return nil, nil, err
	}
	leave := func() {}
	if c.Pool != nil && c.grant == nil {
		if leave, err = e.admit(ctx, v, to); err != nil {
			return nil, nil, err
		}
	}
	if err := e.openTo(ctx, to); err != nil {
		leave()
		return nil, nil, err
	}
	return e, leave, nil
}

// admit waits until the pool of the Config admits the call; leave must be called when the call ends.
func (e *engine) admit(ctx context.Context, v *Validation, to purpose) (leave func(), err error) {
	defer outcome.Caught(&err) // the observer may panic
	p := e.config.Pool
	s := &grant{pool: p, Member: p.turns.Join(), observer: e.config.Observer}
	e.config.Threads = min(e.config.threads(), p.options.Threads)
	began := time.Now()
	if err = e.fitInto(p.options.MaxBytes, v, to, s); err == nil {
		err = p.enter(ctx, s.bytes)
	}
	if err == nil {
		defer func() {
			if leave == nil { // the observer has panicked
				p.queue.Leave(s.bytes)
			}
		}()
	}
	s.notify(Admission{Waited: time.Since(began), Bytes: s.bytes, Err: err})
	if err != nil {
		return nil, err
	}
	if to == toChoose || to == toDifferentiate {
		s.memory = p.arenas.Arena()
	}
	e.statement.Threads, e.statement.Memory = e.config.Threads, s.memory
	e.config.grant = s
	return func() {
		s.memory.Release()
		p.queue.Leave(s.bytes)
		s.notify(Admission{Bytes: s.bytes, Left: true})
	}, nil
}

// enter waits until a call that needs this number of bytes may run.
func (p *Pool) enter(ctx context.Context, bytes int64) error {
	switch err := p.queue.Enter(ctx, bytes); {
	case errors.Is(err, share.ErrFull):
		return outcome.At(outcome.Limit, "queue", "%d calls are already waiting for the pool; try again later", p.options.Queue)
	case err != nil:
		return &outcome.Error{Kind: outcome.Limit, Flag: "queue", Message: "the context ended while the call waited for the pool", Err: context.Cause(ctx)}
	default:
		return nil
	}
}

// notify reports an admission to the observer, with the state of the pool.
func (g *grant) notify(a Admission) {
	if g.observer != nil {
		a.Pool = g.pool.State()
		g.observer.Admission(a)
	}
}

// memoryFitting reduces the expected memory of a call until it fits into a limit.
type memoryFitting struct {
	*engine
	grant *grant // whose bytes, bounds and lanes are set
	limit int64  // the limit in bytes
	v     *Validation
	to    purpose
	usual int // usual number of columns of the largest Gram matrix
}

// fitInto reduces the expected memory of the call to the limit most, in bytes (0 means no limit):
// first with fewer classes at once, then with smaller Gram matrices, then with fewer folds at once,
// and at last with few copies of columns. It sets the bounds in s, and the expected bytes.
func (e *engine) fitInto(most int64, v *Validation, to purpose, s *grant) (err error) {
	defer outcome.Caught(&err) // counting the classes ends with ctx
	n, p := e.statement.X.Dims()
	f := memoryFitting{engine: e, grant: s, limit: most, v: v, to: to, usual: min(n, p, inner.UsualGram)}
	f.updateBytes()
	if most == 0 || f.fits() {
		return nil
	}
	f.fewerClasses()
	f.smallerGram()
	f.fewerFolds()
	f.fewCopies()
	if !f.fits() {
		return outcome.At(outcome.Limit, "max-bytes", "the call is expected to need %d bytes, even with the smallest caches and the fewest inner problems at once, but the limit leaves %d; raise the limit or use fewer folds", s.bytes, most)
	}
	return nil
}

func (f *memoryFitting) updateBytes() {
	f.grant.bytes = f.expectedBytes(f.v, f.to, f.grant.lanes, cmp.Or(f.grant.gram, f.usual))
}

func (f *memoryFitting) fits() bool { return f.grant.bytes <= f.limit }

func (f *memoryFitting) fewerClasses() {
	for f.family.classes && f.config.Threads > 1 && !f.fits() {
		f.config.Threads--
		f.updateBytes()
	}
}

func (f *memoryFitting) smallerGram() {
	for gram := f.usual; !f.fits() && gram > inner.LeastGram; f.updateBytes() {
		gram = max(inner.LeastGram, gram/2)
		f.grant.gram = gram
	}
}

// fewerFolds goes back to the usual Gram matrix and takes fewer folds at once. It makes the Gram matrix smaller again
// only if one fold at a time still takes too much.
func (f *memoryFitting) fewerFolds() {
	if f.fits() || f.v == nil || f.family.classes {
		return
	}
	f.grant.gram = 0
	_, lanes := f.problemCounts(f.v)
	for f.grant.lanes = min(f.config.threads(), lanes); ; f.grant.lanes-- {
		if f.updateBytes(); f.fits() || f.grant.lanes == 1 {
			break
		}
	}
	f.smallerGram()
}

func (f *memoryFitting) fewCopies() {
	if f.fits() || !f.statement.BoundsCopies() {
		return
	}
	f.grant.bytes = f.statement.BoundedBytes(inner.LeastGram, inner.LeastPacked)
	if f.fits() {
		f.grant.lanes, f.statement.Frugal = 1, true
		f.grant.gram, f.grant.packed = f.statement.ShareBounded(f.limit)
		f.grant.bytes = f.statement.BoundedBytes(f.grant.gram, f.grant.packed)
	}
}

// expectedBytes returns the memory that the call is expected to use with Gram matrices of gram columns, and atOnce inner
// problems of folds at once (0 means all).
func (e *engine) expectedBytes(v *Validation, to purpose, atOnce, gram int) int64 {
	own, lanes := e.problemCounts(v)
	all := own + lanes
	if to == toPredict { // each thread holds one problem at most, and the problem on all rows is not solved
		folds := v.count(len(e.statement.Y))
		own, lanes, all = 0, folds, 1+folds
		atOnce = min(cmp.Or(atOnce, folds), folds, e.config.threads())
	}
	if atOnce > 0 {
		return e.statement.UsualBytes(own, atOnce, gram) + int64(all)*e.statement.UsualIdleBytes()
	}
	if to == toChoose && e.condenses(*v) {
		return e.statement.UsualBytes(own, 0, gram) + e.statement.UsualCondensedBytes(lanes, gram)
	}
	return e.statement.UsualBytes(own, lanes, gram)
}

// problemCounts returns the numbers of inner problems that a call holds at once: on all rows, and of folds.
func (e *engine) problemCounts(v *Validation) (own, lanes int) {
	own = e.concurrentProblems()
	if v == nil {
		return own, 0
	}
	folds := v.count(len(e.statement.Y))
	if v.onAllRows() {
		folds, own = 2, 1
	}
	if lanes = own * folds; e.family.form.Hyperparameters == inner.PerColumn {
		return 2 * own, 2 * lanes // a problem with one λ for all columns is solved first
	}
	return own, lanes
}

// onAllRows reports whether the criterion holds out no rows.
func (v Validation) onAllRows() bool {
	return v.Criterion != "" && v.Criterion != CV && v.Criterion != HoldOut
}

// count returns the number of folds of the given number of rows, at least 1 and at most rows.
func (v Validation) count(rows int) int {
	folds := cmp.Or(v.Folds, defaultFolds)
	switch {
	case v.Criterion == HoldOut:
		folds = 1
	case len(v.FoldIDs) > 0:
		folds = min(slices.Max(v.FoldIDs), rows-1) + 1
	}
	return max(1, min(folds, rows))
}
