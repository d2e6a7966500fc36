package pare

import (
	"context"
	"time"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/choose"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// task is a choice of λ that is under way.
type task struct {
	engine  *engine
	problem inner.Outer // with one λ for all columns, where each has its own
	spec    bilevel.Spec
	choice  choose.Problem
	columns *choose.Columns // nil but for one λ per column
	ahead   *ahead          // nil: the refit comes last
	earlier *Selection      // whose refit is a start for this one; nil: none is
}

// common is a problem that says what the solutions of its lanes have in common.
type common interface {
	Mean(ctx context.Context, logLambda []float64) ([]int32, []float64, error)
	MeanBefore(ctx context.Context, logLambda []float64) ([]int32, []float64, error)
	OnExpected(func(ctx context.Context, logLambda []float64))
}

// startable is an inner problem that begins where it is told to.
type startable interface{ StartAt([]int32, []float64) }

// task states the choice of λ. What it makes for the call, which ends with call, may outlive the
// search, which ends with ctx.
func (e *engine) task(call, ctx context.Context, o SelectOptions) (t *task, err error) {
	defer outcome.Caught(&err)
	t = &task{engine: e}
	single := e // what has one λ for all, or each
	columns := e.family.form.Hyperparameters == inner.PerColumn
	if columns {
		if v := o.Validation; v.Criterion == ALO || v.Criterion == GCV {
			_, err := e.byLeftOut(v) // which one λ for all would not refuse
			return nil, err
		}
		c := e.config
		c.Model = Lasso
		if single, err = newEngine(call, e.of.X, e.of.Y, c); err != nil {
			return nil, err
		}
	}
	if t.spec, err = single.choice(ctx, o.Validation); err != nil {
		return nil, err
	}
	if columns { // both the scalar and the per-column problems are held in memory
		if err := e.afford(2*e.atOnce(), 2*e.solvers(t.spec.Folds)); err != nil {
			return nil, err
		}
		e.bound(&t.spec)
	}
	if t.problem, err = single.over(ctx, t.spec, o); err != nil {
		return nil, err
	}
	if single.pairs(o.Validation) && o.Search == Auto {
		if t.problem, err = single.withRidge(call, ctx, t.problem, o); err != nil {
			return nil, err
		}
	}
	t.choice = single.traits(t.problem, t.spec, o)
	if columns {
		t.choice.Roughness /= 2 // only where those of the columns begin
		t.columns = e.columns(ctx, t, o)
	}
	return t, remember(ctx, t.problem, oneForAll, o.Log)
}

// What memories in a log are of.
const (
	oneForAll byte = iota
	oneForEach
)

// remember makes a problem go on where the one before left it, if there is a log.
func remember(ctx context.Context, problem inner.Outer, tag byte, log *search.Log) error {
	if log == nil {
		return nil
	}
	return problem.Remember(ctx, tag, log.Memories())
}

// interpolating is how many times as many rows as columns there are at most where solutions may follow single rows.
const interpolating = 2

// steady is how many rows there are, for the square of the number of columns, where degrees of freedom may be taken as steady: a
// column that enters moves what is left out by √(2/n) of its standard error, and so all of them by at most a seventh.
const steady = 100

// traits says of a choice what its search has to know.
func (e *engine) traits(problem inner.Outer, spec bilevel.Spec, o SelectOptions) choose.Problem {
	x := e.of.X
	if on, ok := problem.(interface{ Matrix() sparse.Matrix }); ok {
		x = on.Matrix()
	}
	p := choose.Problem{
		Objective: problem, Top: e.Max(), Common: e.family.form.Common, Start: o.Start,
		Pass: float64(x.NNZ()) * inner.PassCost(x) * float64(max(2, spec.Folds.Count(e.of.Kernels))),
	}
	rows, columns := e.of.X.Dims()
	p.Interpolates = interpolating*columns >= rows
	for _, r := range e.family.form.Ranges {
		p.Ranges = append(p.Ranges, choose.Range(r))
	}
	if v, ok := e.Problem.(interface{ Units() []float64 }); ok && len(p.Top) > 1 {
		p.Top = v.Units()
	}
	if !e.family.samples && !e.family.form.Dense && !e.config.Standardize {
		scales, err := sparse.ScalesOf(e.of.Kernels, e.of.X)
		p.Wide = err == nil && scales.Wide()
	}
	counted := e.leftOut != "" && !e.family.form.Dense && float64(steady)*float64(columns)*float64(columns) > float64(rows)
	p.Jumps = e.family.shape().Concave || counted
	if r := spec.Risk; r != nil { // as columns come in, its degrees of freedom jump, which BIC counts for ln(n)/2 times as much as the others
		p.Roughness = r.Freedom / (r.Fit * r.Sigma * r.Sigma)
	}
	p.Grouped = e.family.grouped()
	p.Curved = !e.family.quadratic()
	p.Separable = e.family.samples || e.family.classes || e.family.link().Classes() // support vectors of numbers dip as deep as that
	switch {
	case e.family.samples:
		p.Shape = choose.Dual
	case e.family.form.Dense:
		p.Shape = choose.Smooth
	}
	if r, ok := e.Problem.(interface{ RidgeMax() float64 }); ok && e.pairs(o.Validation) {
		p.Pair, p.RidgeTop = true, kernels.Log(r.RidgeMax())
	}
	return p
}

// pairs reports whether two λ's are chosen from the best of each alone. A ridge alone has no constraint.
func (e *engine) pairs(v Validation) bool {
	return e.family.strengths == L1AndRidge && e.family.quadratic() && !e.config.Positive && e.of.Box == nil &&
		e.leftOut == "" && criterion.Curved(v.Loss) && e.config.Method.iterate() == nil
}

// columns states the choice of one λ for each column.
func (e *engine) columns(ctx context.Context, t *task, o SelectOptions) *choose.Columns {
	_, p := e.of.X.Dims()
	c := &choose.Columns{One: t.choice, Count: p}
	if t.spec.Risk != nil {
		c.Rows, _ = e.of.X.Dims()
		c.Constant = t.spec.Risk.Constant
	}
	c.Each = func() (_ search.Objective, _ []int32, err error) {
		defer outcome.Caught(&err)
		merged, group, err := bilevel.Merge(e.of.Kernels, e.of.X, t.spec, e.config.Positive)
		if err != nil {
			return nil, nil, err
		}
		var problem inner.Outer
		if o.Lanes != nil {
			problem, err = e.over(ctx, t.spec, o)
		} else {
			problem, err = on(e.Problem, merged, t.spec)
		}
		if err == nil {
			err = remember(ctx, problem, oneForEach, o.Log)
		}
		return problem, group, err
	}
	return c
}

// choosing returns the options of the policy, and begins at an earlier selection, whose rows
// stay in their folds or not.
func (t *task) choosing(o SelectOptions, stay bool) choose.Options {
	e := t.engine
	choosing := o.choosing(e.config)
	if observer := e.config.Observer; observer != nil {
		choosing.Progress = func(at search.Evaluation) {
			observer.Evaluation(e.config.Model, at)
			if o.Progress != nil {
				o.Progress(at)
			}
		}
	}
	if o.From == nil || !t.alike(o.From, o.Validation) {
		return choosing
	}
	choosing.From = o.From.seen(e.family.form.Common, e.Max())
	if stay { // one row at least, or it would be said that none has stayed
		n, earlier := len(e.of.Y), len(o.From.left.dealt)
		choosing.Fresh = max(1, float64(n-earlier)) / float64(n)
		if t.knownBetter(o.From, choosing.Fresh) {
			t.earlier = o.From
		}
	}
	if o.Log == nil || o.Log.Len() == 0 { // else it goes on where the log ends
		t.goOn(o.From, stay)
	}
	return choosing
}

func (t *task) minimise(ctx context.Context, o choose.Options) (result, common *search.Result, err error) {
	if t.columns != nil {
		return t.columns.Minimise(ctx, o)
	}
	return choose.Minimise(ctx, t.choice, o)
}

// conclude makes the one-standard-error choice where it is asked for, and refits. Where ctx ends
// before there is a model, out.Err says so.
func (t *task) conclude(ctx context.Context, best search.Evaluation, o SelectOptions, out *Selection) error {
	err := t.refit(ctx, best, o, out)
	if ctx.Err() == nil {
		return err
	}
	if out.Final == nil {
		out.Err = &outcome.Error{Kind: outcome.Limit, Message: "the context ended before the refit at the best λ so far, so there is no model", Err: context.Cause(ctx)}
	}
	return nil
}

func (t *task) refit(ctx context.Context, best search.Evaluation, o SelectOptions, out *Selection) (err error) {
	defer outcome.Caught(&err)
	e, chosen := t.engine, best
	if e.hasOneSE(o, out.Status) && ctx.Err() == nil {
		if err := t.oneSE(ctx, best, out); err != nil {
			return err
		}
		if o.TakeOneSE && out.OneSE != nil {
			out.Least = &best
			chosen = *out.OneSE
			out.take(chosen)
		}
	}
	began := time.Now()
	final, err := t.fit(ctx, chosen)
	if err != nil || final.Status == outcome.Cancelled {
		return err
	}
	if e.of.Frugal {
		e.Restart() // the folds are solved once more for measures
	}
	out.Final = final
	out.SecondsRefit = time.Since(began).Seconds() - out.Final.SecondsCertify
	if c := o.Validation.Criterion; o.Measures && (c == "" || c == CV || c == HoldOut) {
		out.Measures, err = t.measures(ctx, o.Validation, final)
	}
	if o.Relaxed && err == nil {
		out.Relaxed, out.RelaxedValue, err = e.relaxed(ctx, o.Validation, final)
	}
	return err
}

// fit returns the refit at a point, which may have been made already.
func (t *task) fit(ctx context.Context, chosen search.Evaluation) (*Fitted, error) {
	if final := t.ahead.take(chosen.LogLambda); final != nil {
		return final, nil
	}
	columns, coef, err := t.start(ctx, chosen)
	if err != nil {
		return nil, err
	}
	if able, ok := t.engine.Problem.(startable); ok {
		able.StartAt(columns, coef)
	}
	return t.engine.fit(ctx, chosen.LogLambda)
}

// oneSE makes the one-standard-error choice, beside the refit at the best λ where threads are idle.
func (t *task) oneSE(ctx context.Context, best search.Evaluation, out *Selection) error {
	began := time.Now()
	if t.ahead != nil && !t.ahead.begun(best.LogLambda) { // the choice is made, but for the rule's
		columns, coef, err := t.start(ctx, best)
		if err != nil {
			return err
		}
		t.ahead.begin(ctx, best.LogLambda, columns, coef)
	}
	choice, err := choose.OneStandardError(ctx, t.choice, best, out.Evaluations)
	out.OneSE, out.SecondsOneSE = choice, time.Since(began).Seconds()
	return err
}

// start returns where the refit begins: at that of an earlier selection near by, or at what the folds' solutions have in
// common or, where the search expected to choose λ, at what could be known of them before they were there.
func (t *task) start(ctx context.Context, chosen search.Evaluation) (columns []int32, coef []float64, err error) {
	from, ok := t.problem.(common)
	if !ok || t.columns != nil {
		return nil, nil, nil
	}
	if columns, coef = t.earlierRefit(chosen.LogLambda); len(columns) > 0 {
		return columns, coef, nil
	}
	if chosen.Expected {
		columns, coef, err = from.MeanBefore(ctx, chosen.LogLambda)
	}
	if err == nil && len(columns) == 0 {
		columns, coef, err = from.Mean(ctx, chosen.LogLambda)
	}
	return columns, coef, err
}
