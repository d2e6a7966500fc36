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

// PoolOptions bound what all calls that share a [Pool] do at once. The zero value is ready to
// use.
type PoolOptions struct {
	Threads int // threads at work at once, for all calls together; 0 means all processors
	Calls   int // calls admitted at once; 0 means twice Threads
	// Queue is how many calls may wait; 0 means any number. A further call is refused with an
	// error of kind Limit.
	Queue int
	// MaxBytes bounds the working memory that the admitted calls are expected to use together,
	// not counting the data and garbage not yet collected; 0 means no limit. A call that is
	// expected to need more works on fewer classes or folds at once, with smaller caches, and, of a
	// sparse matrix, on columns copied anew each time they are wanted. All of that can change
	// the last bits of results; if it is not enough, the call is refused with an error of kind Limit.
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
// forever. A Pool keeps up to 32 MiB, and up to an eighth of MaxBytes, of what small calls that choose
// or judge λ have worked in for those to come. It has no goroutines, needs no closing, and is safe for concurrent use.
// [NewPool] makes one; calls with the zero value are refused.
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
			return nil, outcome.At(outcome.BadParameter, option.name, "of a pool must not be negative, got %d", option.given)
		}
	}
	o.Threads = team.Count(o.Threads)
	o.Calls = cmp.Or(o.Calls, 2*o.Threads)
	queue := o.Queue
	if queue == 0 {
		queue = -1
	}
	keep := int64(mostKept)
	if o.MaxBytes > 0 {
		keep = min(keep, o.MaxBytes/8)
	}
	return &Pool{arenas: arena.NewPool(keep), options: o, queue: share.NewQueue(o.Calls, o.MaxBytes, queue), turns: share.NewTurns(o.Threads)}, nil
}

// PoolState says what a pool is doing.
type PoolState struct {
	Running, Waiting int   // calls
	Bytes            int64 // working memory that the running calls are expected to use
}

// State returns what the pool is doing.
func (p *Pool) State() PoolState {
	if p.queue == nil {
		return PoolState{}
	}
	return PoolState(p.queue.State())
}

// mostKept is how many bytes a pool keeps of calls that have ended for those to come.
const mostKept = 32 << 20

// grant is what a pool grants a call: turns, memory and bounds. It implements [team.Turns].
type grant struct {
	pool *Pool
	*share.Member
	memory   *arena.Arena // of a choice of λ; nil: none
	bytes    int64
	gram     int   // columns of the largest Gram matrix; 0: no limit of the pool's
	packed   int64 // bytes of copies of sparse columns; 0: no limit of the pool's
	lanes    int   // that hold more than coefficients at once; 0: all
	observer Observer
}

// purpose is what a call is to do.
type purpose uint8

const (
	toFit           purpose = iota // one inner problem on all rows
	toFitMany                      // the same at many λ's
	toChoose                       // evaluate a criterion, and choose by it
	toDifferentiate                // make its hypergradient at one λ
	toPredict                      // fit the folds anew, one on each thread
)

// manyFits is from how many λ's on a path is [toFitMany].
const manyFits = 10

// admitted makes an engine for a call that is admitted to the pool of its Config, if there is
// one, and what the call has to do when it ends. v is nil for a call that fits.
func admitted(ctx context.Context, x sparse.Matrix, y []float64, c Config, v *Validation, to purpose) (*engine, func(), error) {
	e, err := stated(ctx, x, y, c)
	if err != nil {
		return nil, nil, err
	}
	leave := func() {}
	if c.Pool != nil && c.grant == nil {
		if leave, err = e.enter(ctx, v, to); err != nil {
			return nil, nil, err
		}
	}
	if err := e.openTo(ctx, to); err != nil {
		leave()
		return nil, nil, err
	}
	return e, leave, nil
}

// enter waits until the pool of the Config admits the call; leave ends that.
func (e *engine) enter(ctx context.Context, v *Validation, to purpose) (leave func(), err error) {
	defer outcome.Caught(&err) // of the observer
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
	s.tell(Admission{Waited: time.Since(began), Bytes: s.bytes, Err: err})
	if err != nil {
		return nil, err
	}
	if to == toChoose || to == toDifferentiate {
		s.memory = p.arenas.Arena()
	}
	e.of.Threads, e.of.Memory = e.config.Threads, s.memory
	e.config.grant = s
	return func() {
		s.memory.Release()
		p.queue.Leave(s.bytes)
		s.tell(Admission{Bytes: s.bytes, Left: true})
	}, nil
}

// enter waits until a call of so many bytes may run.
func (p *Pool) enter(ctx context.Context, bytes int64) error {
	switch err := p.queue.Enter(ctx, bytes); {
	case errors.Is(err, share.ErrFull):
		return outcome.At(outcome.Limit, "queue", "%d calls wait for the pool already; come again later", p.options.Queue)
	case err != nil:
		return &outcome.Error{Kind: outcome.Limit, Flag: "queue", Message: "the context ended while the call waited for the pool", Err: context.Cause(ctx)}
	default:
		return nil
	}
}

// tell reports an admission with the state of the pool.
func (g *grant) tell(a Admission) {
	if g.observer != nil {
		a.Pool = g.pool.State()
		g.observer.Admission(a)
	}
}

// fitting has a call work within so many bytes, and finds out what it is then expected to take.
type fitting struct {
	*engine
	grant *grant
	most  int64
	v     *Validation
	to    purpose
	usual int // columns of the largest Gram matrix that is needed
}

// fitInto makes the call one that is expected to stay within so many bytes, 0 for any number: with fewer
// classes at once, then with smaller Gram matrices, then with fewer folds at once, and at last with
// few copies of columns.
func (e *engine) fitInto(most int64, v *Validation, to purpose, s *grant) (err error) {
	defer outcome.Caught(&err) // classes are counted
	n, p := e.of.X.Dims()
	f := fitting{engine: e, grant: s, most: most, v: v, to: to, usual: min(n, p, inner.UsualGram)}
	f.expect()
	if most == 0 || f.fits() {
		return nil
	}
	f.fewerClasses()
	f.smallerGram()
	f.fewerFolds()
	f.fewCopies()
	if !f.fits() {
		return outcome.At(outcome.Limit, "max-bytes", "the call is expected to take %d bytes with the smallest caches and as few inner problems at once as can be, and the limit leaves %d; give it more, or ask for fewer folds", s.bytes, most)
	}
	return nil
}

func (f *fitting) expect() {
	f.grant.bytes = f.expectedBytes(f.v, f.to, f.grant.lanes, cmp.Or(f.grant.gram, f.usual))
}

func (f *fitting) fits() bool { return f.grant.bytes <= f.most }

func (f *fitting) fewerClasses() {
	for f.family.classes && f.config.Threads > 1 && !f.fits() {
		f.config.Threads--
		f.expect()
	}
}

func (f *fitting) smallerGram() {
	for gram := f.usual; !f.fits() && gram > inner.LeastGram; f.expect() {
		gram = max(inner.LeastGram, gram/2)
		f.grant.gram = gram
	}
}

// fewerFolds begins anew with the usual Gram matrix, which is smaller again only where one fold at a time takes too much.
func (f *fitting) fewerFolds() {
	if f.fits() || f.v == nil || f.family.classes {
		return
	}
	f.grant.gram = 0
	_, lanes := f.problems(f.v)
	for f.grant.lanes = min(f.config.threads(), lanes); ; f.grant.lanes-- {
		if f.expect(); f.fits() || f.grant.lanes == 1 {
			break
		}
	}
	f.smallerGram()
}

func (f *fitting) fewCopies() {
	if f.fits() || !f.of.BoundsCopies() {
		return
	}
	f.grant.bytes = f.of.BoundedBytes(inner.LeastGram, inner.LeastPacked)
	if f.fits() {
		f.grant.lanes, f.of.Frugal = 1, true
		f.grant.gram, f.grant.packed = f.of.ShareBounded(f.most)
		f.grant.bytes = f.of.BoundedBytes(f.grant.gram, f.grant.packed)
	}
}

// expectedBytes returns what the call takes with Gram matrices of so many columns, and so many inner problems of folds
// at once; 0 is all of them.
func (e *engine) expectedBytes(v *Validation, to purpose, atOnce, gram int) int64 {
	own, lanes := e.problems(v)
	all := own + lanes
	if to == toPredict { // each thread has one at most, and that on all rows is not solved
		folds := v.count(len(e.of.Y))
		own, lanes, all = 0, folds, 1+folds
		atOnce = min(cmp.Or(atOnce, folds), folds, e.config.threads())
	}
	if atOnce > 0 {
		return e.of.UsualBytes(own, atOnce, gram) + int64(all)*e.of.UsualIdleBytes()
	}
	if to == toChoose && e.condenses(*v) {
		return e.of.UsualBytes(own, 0, gram) + e.of.UsualCondensedBytes(lanes, gram)
	}
	return e.of.UsualBytes(own, lanes, gram)
}

// problems returns how many inner problems a call holds at once, on all rows and of folds.
func (e *engine) problems(v *Validation) (own, lanes int) {
	own = e.atOnce()
	if v == nil {
		return own, 0
	}
	folds := v.count(len(e.of.Y))
	if v.onAllRows() {
		folds, own = 2, 1
	}
	if lanes = own * folds; e.family.form.Hyperparameters == inner.PerColumn {
		return 2 * own, 2 * lanes // one λ for all columns comes before
	}
	return own, lanes
}

// onAllRows reports a criterion that holds out no rows.
func (v Validation) onAllRows() bool {
	return v.Criterion != "" && v.Criterion != CV && v.Criterion != HoldOut
}

// count returns the number of folds of so many rows, as far as there can be so many.
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
