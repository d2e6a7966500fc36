package pare

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/choose"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Search names a method that minimises the criterion over λ.
type Search = choose.Search

// The searches.
const (
	// Auto chooses one λ by a scan along a path down from αmax, followed by evaluations at the
	// minimum of a model fitted to all values and slopes seen. It chooses two λ's by a trust-region
	// method that starts from the best choice of each alone, or by a derivative-free search if the
	// criterion jumps, as [ALO] and [GCV] do. It chooses more λ's by first searching for one share
	// of αmax for all of them, and from there by a trust-region method, or by L-BFGS for one λ per
	// column.
	Auto         = choose.Auto
	GradientStep = choose.GradientStep // gradient descent, algorithm 6 of the paper, with Barzilai–Borwein steps after its first failure
	LineSearch   = choose.LineSearch   // gradient descent with the adaptive step of HOAG (Pedregosa, ICML 2016)
	LBFGS        = choose.LBFGS        // limited-memory BFGS
	Adam         = choose.Adam         // gradient descent with adaptive moments
	Grid         = choose.Grid         // a geometric grid down from αmax
	Random       = choose.Random       // points drawn from the box
	Halton       = choose.Halton       // points of Halton's sequence in the box
	TPE          = choose.TPE          // tree-structured Parzen estimator
)

// Searches lists the searches.
func Searches() []Search { return choose.Searches() }

// SelectOptions say how to choose λ. The zero value is ready to use.
type SelectOptions struct {
	Validation Validation // the criterion; the zero value is 5-fold cross-validation
	Search     Search     // "" means Auto
	// Precision continues the choice of one λ by Auto until the expected decrease of the criterion
	// is less than a millionth of its value, or Config.Tol of it if that is less. Without Precision,
	// Auto stops when the criterion is close to its minimum: within a hundredth of its standard
	// error (a fiftieth if evaluations take long), and a thousandth of its value. The standard error
	// is over the folds, or over the rows of a hold-out, [ALO] or [GCV]. For [SURE], [AIC] and [BIC]
	// it is that of their sum of squares under normal noise: σ²·√(2n), in units of σ² for AIC and
	// BIC.
	Precision bool
	// Start is the first α, as a share of αmax, for iterative searches; 0 means 0.01, or 0.1 for
	// dense data with fewer rows than columns. For an [SVM] it is the first C; 0 means 1 or, if
	// that is less, one over the mean squared norm of a row. Auto uses it only for support
	// vectors.
	Start float64
	// PerClass continues the search from the best common share of αmax to one λ for each class of
	// [Multiclass]. It lowers the criterion, but has raised the loss on new data as often as not.
	PerClass bool
	// OneSE asks for [Selection].OneSE, the choice by the one-standard-error rule. It needs
	// cross-validation and a model with one λ and an αmax, or [Multiclass], and costs one or two
	// evaluations outside the budget. TakeOneSE makes it the choice, so that the refit is there
	// instead of at the minimum.
	OneSE, TakeOneSE bool
	// Relaxed asks for [Selection].Relaxed, see [Relax].
	Relaxed bool
	// Measures asks for [Selection].Measures, at one evaluation outside the budget.
	Measures bool
	// Schedule says how the tolerance of the inner problems decreases to Config.Tol in
	// gradient-based searches; "" means search.Auto, which begins with a loose tolerance.
	// search.Exact uses the final tolerance throughout.
	Schedule search.Schedule
	// From is an earlier selection by Auto, of the same model by the same criterion on nearly the
	// same data, such as the previous day's; nil means none. The search starts from the λ of From,
	// and goes by the values and slopes of the criterion that the earlier search has seen. It takes
	// one to three evaluations if little has changed. The search begins anew if that fails, if αmax
	// or the criterion of the null model has more than doubled or halved, or if From is known to
	// have used another criterion. It does not look for minima that the earlier search has not seen,
	// so select without From now and then. Not for support vectors. From is not modified, and may be
	// shared by concurrent calls. The error is of kind Usage for another model, loss or set of
	// classes, Shape for other numbers of columns or hyperparameters, and BadParameter if the
	// contents of From, which may come from a file, are inconsistent.
	//
	// Rows stay in their folds if the rows of the earlier data come first, unchanged and in the same
	// order, and Validation asks for the same folds by ByRow, Stratified or Groups, or has FoldIDs
	// that are the same for the earlier rows. New rows are then dealt to the smallest folds (with
	// FoldIDs, as those say), and each fold begins at its own earlier solution. Otherwise rows are
	// dealt anew, as [Selection].Folds shows, and all folds begin at the coefficients of the refit.
	// That takes longer. The refit has also seen the rows that the folds hold out, which can affect
	// the criterion within the accuracy that Tol leaves: on leukemia, colon and golub it was lower
	// by up to 0.07 standard errors at the first λ. A selection read from JSON has neither the folds
	// nor their solutions, so it is treated in this second way.
	From *Selection
	// Evaluations is the maximum number of evaluations of the criterion. 0 means 50; the size of the
	// grid for [Grid]; 120 for [MCP], [SCAD], [ALO] and [GCV], and 160 for these criteria with two λ;
	// 100 for C and ε; and for [WeightedLasso] 15 after those with one λ for all columns.
	Evaluations int
	// Points is the number of α in the grid, and MinRatio·αmax the least of them: they descend
	// from αmax in geometric steps. 0 means 100 and 0.001. Random, Halton and TPE draw from the
	// same range. Other searches use neither.
	Points   int
	MinRatio float64
	// Stop, when closed, and MaxDuration, if positive, end the search; the refit at the best λ
	// so far follows. When ctx ends there is no refit.
	Stop        <-chan struct{}
	MaxDuration time.Duration
	// Lanes, if not nil, returns a runner that solves the inner problems of the folds and classes
	// of a job elsewhere by [NewLanes], perhaps in other processes (see the module distributed).
	// The search and the refit stay in this process. Results have the same bits.
	Lanes func(ctx context.Context, j Job) (bilevel.Runner, error)
	// Progress, if not nil, is called on the goroutine of Select after every evaluation that was
	// not answered by Log.
	Progress func(search.Evaluation)
	// Log, if not nil, answers the evaluations that it holds and records the others. An
	// interrupted search with the same data and options thus resumes where it stopped and ends
	// with the same bits. With a Log every evaluation begins with new solvers, which takes up to
	// half as long again on small data and no longer on large data.
	Log *search.Log
}

// Select chooses λ by minimising the criterion of o.Validation, and refits on all rows.
//
// A search that ends early returns the best point so far: with status Cancelled if it was
// stopped, Budget after MaxDuration, and Failed if an evaluation after the first fails or Progress
// panics, with the cause in Err. When ctx ends there is no refit, and when a search ends before its
// first evaluation, for whatever reason, there is no λ: Final is then nil, and Err says why. If the
// refit or a later step fails, Select returns both the error and a selection that has the choice but
// lacks what was not computed.
//
// x, y and c, and the errors, are those of [Fit]. Two more errors are possible. The kind is
// BadParameter if there is nothing to choose because αmax is 0: the target is the same in every
// row of positive weight, or depends on no penalised column; [Fit] then returns the null model at
// any λ. The kind is NonFinite if the criterion is NaN or infinite at every λ tried.
func Select(ctx context.Context, x sparse.Matrix, y []float64, o SelectOptions, c Config) (_ *Selection, err error) {
	defer runtime.KeepAlive(&o) // see [outcome.Caught]
	defer outcome.Caught(&err)
	certify := c.Certify
	c.Certify = false // the search does not certify gradients
	e, leave, err := admitEngine(ctx, x, y, c, &o.Validation, toChoose)
	if err != nil {
		return nil, err
	}
	defer leave()
	if o, err = e.resolve(o); err != nil {
		return nil, err
	}
	if err := e.checkStrengths(); err != nil {
		return nil, err
	}
	began, asked := time.Now(), o.Validation
	dealt := e.keepFolds(o.From, &o.Validation)
	searching, soft := withStop(ctx, o)
	defer soft.end()
	o.Progress = soft.watched(o.Progress)
	t, err := e.newTask(ctx, searching, o)
	if err != nil {
		if ctx.Err() == nil && searching.Err() != nil && errors.Is(err, searching.Err()) { // stopped while there was nothing to evaluate yet
			return &Selection{Value: math.NaN(), NullValue: math.NaN(), LogLambdaMax: e.Max(), Status: soft.status(), Err: soft.earlyError()}, nil
		}
		return nil, err
	}
	defer t.refitEarly(ctx, o, certify).discard()
	choosing := t.chooseOptions(o, dealt != nil)
	out := &Selection{NullValue: t.problem.NullValue(), Sigma: noiseLevel(t.spec), LogLambdaMax: e.Max()}
	result, common, err := t.minimise(searching, choosing)
	if err != nil {
		if result == nil || result.Best.LogLambda == nil {
			return nil, err
		}
		result.Status, out.Err = outcome.Failed, err
	}
	if result.Status == outcome.Cancelled {
		result.Status = soft.status()
	}
	out.setChoice(result.Best)
	out.Status, out.Evaluations, out.Seen = result.Status, result.Evaluations, result.Seen
	if common != nil {
		out.Common = &common.Best
	}
	out.SecondsSearch = time.Since(began).Seconds()
	if out.LogLambda == nil {
		out.Value = math.NaN()
		if out.Err == nil {
			out.Err = soft.earlyError()
		}
		return out, nil
	}
	if err := t.saveState(ctx, out, asked, dealt, result.Best); err != nil && ctx.Err() == nil {
		return out, err
	}
	if certify {
		e.config.Certify, e.statement.Certify = true, true
	}
	return out, t.finish(ctx, result.Best, o, out)
}

// chooseOptions returns the corresponding options of package choose.
func (o SelectOptions) chooseOptions(c Config) choose.Options {
	return choose.Options{
		Search: o.Search, PerClass: o.PerClass, Precision: o.Precision, Evaluations: o.Evaluations, Points: o.Points, MinRatio: o.MinRatio,
		Schedule: o.Schedule, Tol: c.Tol, Seed: o.Validation.Seed, Progress: o.Progress, Log: o.Log,
	}
}

// resolve fills in the defaults and refuses options that the model does not have.
func (e *engine) resolve(o SelectOptions) (SelectOptions, error) {
	o.Search = cmp.Or(o.Search, Auto)
	o.OneSE = o.OneSE || o.TakeOneSE
	if err := o.chooseOptions(e.config).Check(); err != nil {
		return o, err
	}
	if err := e.checkFrom(o); err != nil {
		return o, err
	}
	if o.Search.Points() && o.Start != 0 {
		return o, outcome.At(outcome.Usage, "start", "has no effect with --search %s; it applies to searches that move from point to point, such as %s", o.Search, GradientStep)
	}
	given := o.Start != 0
	if !given {
		o.Start = e.Start()
	}
	if o.Relaxed {
		if err := e.checkRelaxed(); err != nil {
			return o, err
		}
	}
	if !o.Search.Points() {
		if err := checkSmooth(o.Validation.Loss, "--search "+string(o.Search)); err != nil {
			return o, err
		}
	}
	switch model := e.config.Model; {
	case !(o.Start > 0) || math.IsInf(o.Start, 0):
		return o, outcome.At(outcome.BadParameter, "start", "must be positive and finite, got %g", o.Start)
	case given && o.Search == Auto && !e.family.samples:
		return o, outcome.At(outcome.Usage, "start", "has no effect with --search %s, which begins at αmax; it applies to searches that move from point to point, such as %s", Auto, GradientStep)
	case o.MaxDuration < 0:
		return o, outcome.At(outcome.BadParameter, "max-seconds", "must not be negative, got %v", o.MaxDuration)
	case o.Search == Grid && e.family.samples:
		return o, outcome.At(outcome.Usage, "search", "%s has no αmax to start a grid from; use %s or %s", model, Auto, GradientStep)
	case o.PerClass && !e.family.form.Common:
		return o, outcome.At(outcome.Usage, "per-class", "%s has a single predictor; only %s has one for each class", model, Multiclass)
	case o.Search.Points() && e.family.strengths == EachColumn:
		return o, outcome.At(outcome.Usage, "search", "%s has one λ per column, too many for %s; use a gradient-based search", model, o.Search)
	case o.TakeOneSE && o.PerClass:
		return o, outcome.At(outcome.Usage, "one-se", "the one-standard-error rule needs one α/αmax for all classes; leave --per-class out")
	case o.TakeOneSE && !e.hasOneSE(o, ""):
		return o, outcome.At(outcome.Usage, "one-se", "the one-standard-error rule needs cross-validation over two folds or more and a model with one λ and an αmax")
	}
	return o, nil
}

// hasOneSE reports whether the one-standard-error rule is asked for and applies: it needs
// cross-validation, and a single λ that orders models by sparsity.
func (e *engine) hasOneSE(o SelectOptions, status outcome.Status) bool {
	if v := o.Validation.Criterion; !o.OneSE || v != "" && v != CV || status == outcome.Failed {
		return false
	}
	top := e.Max()
	return (len(top) == 1 || e.family.form.Common && !o.PerClass) && !math.IsNaN(top[0])
}

// checkStrengths refuses a choice of λ if the model is the same at every λ.
func (e *engine) checkStrengths() error {
	nothing := func(why string) *outcome.Error {
		return outcome.Errorf(outcome.BadParameter, "αmax is 0: %s, so there is no λ to choose", why)
	}
	if e.statement.Count == 0 {
		return nothing("there are no columns")
	}
	class := slices.IndexFunc(e.Max(), func(l float64) bool { return math.IsInf(l, -1) })
	switch {
	case class < 0:
		return nil
	case e.isConstantTarget():
		return nothing("the target is the same in every row")
	case e.family.form.Dense:
		return nothing("no column varies")
	case !e.config.Positive:
		return nothing("the target does not depend on any penalised column, or only beyond its bounds")
	case e.family.classes:
		labels, _, _ := bilevel.Classes(e.statement.Kernels, e.statement.Y)
		err := nothing("no column increases with the class, as coefficients of 0 or more require")
		err.HasClass, err.Class = true, labels[class]
		return err
	default:
		return nothing("no column increases with the target, as coefficients of 0 or more require")
	}
}

// isConstantTarget reports whether all rows of positive weight have the same target.
func (e *engine) isConstantTarget() bool {
	first, pace := math.NaN(), e.statement.Kernels.Pace()
	for i, t := range e.statement.Y {
		pace.Did(1)
		switch {
		case e.config.Weights != nil && e.config.Weights[i] == 0:
		case math.IsNaN(first):
			first = t
		case t != first:
			return false
		}
	}
	return !math.IsNaN(first)
}

// errTime is the cause with which the context of a search ends after MaxDuration.
var errTime = errors.New("the time allowed for the search is used up")

// stopper ends the context of a search, but not that of the refit.
type stopper struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}

	stop     <-chan struct{}
	deadline time.Time // zero: none
}

// withStop returns a context that ends with ctx, when o.Stop is closed, and after
// o.MaxDuration.
func withStop(ctx context.Context, o SelectOptions) (context.Context, *stopper) {
	inner, cancel := context.WithCancelCause(ctx)
	s := &stopper{ctx: inner, cancel: cancel, done: make(chan struct{}), stop: o.Stop}
	var clock <-chan time.Time
	if o.MaxDuration > 0 {
		clock, s.deadline = time.After(o.MaxDuration), time.Now().Add(o.MaxDuration)
	}
	s.check() // Stop may be closed already
	go func() {
		defer close(s.done)
		select {
		case <-o.Stop:
			cancel(context.Canceled)
		case <-clock:
			cancel(errTime)
		case <-inner.Done():
		}
	}()
	return inner, s
}

// check ends the context if Stop is closed or the time is over.
func (s *stopper) check() {
	select {
	case <-s.stop:
		s.cancel(context.Canceled)
	default:
		if !s.deadline.IsZero() && !time.Now().Before(s.deadline) {
			s.cancel(errTime)
		}
	}
}

// watched returns progress followed by a check. The goroutine of withStop ends evaluations that take long, but may not
// run before a search of short ones is over.
func (s *stopper) watched(progress func(search.Evaluation)) func(search.Evaluation) {
	if s.stop == nil && s.deadline.IsZero() {
		return progress
	}
	return func(at search.Evaluation) {
		if progress != nil {
			progress(at)
		}
		s.check()
	}
}

// status is the status of a search that its context has ended: Budget after MaxDuration, else Cancelled.
func (s *stopper) status() outcome.Status {
	if errors.Is(context.Cause(s.ctx), errTime) {
		return outcome.Budget
	}
	return outcome.Cancelled
}

// earlyError is the error of a search that ended before its first evaluation.
func (s *stopper) earlyError() error {
	return &outcome.Error{Kind: outcome.Limit, Message: "the search ended before its first evaluation, so there is no λ and no model", Err: context.Cause(s.ctx)}
}

// end releases the context and waits for the goroutine to end.
func (s *stopper) end() {
	s.cancel(nil)
	<-s.done
}
