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

// task is a choice of λ in progress.
type task struct {
	engine     *engine
	problem    inner.Outer // for a model with one λ per column: the problem with one λ for all columns
	spec       bilevel.Spec
	choice     choose.Problem
	columns    *choose.Columns // the problem with one λ per column; nil for other models
	earlyRefit *earlyRefit     // the refit that may start before λ is chosen; nil: the refit comes last
	earlier    *Selection      // an earlier selection whose refit may start this refit; nil: none
}

// common is a problem that returns the columns and coefficients that the solutions of its lanes have in
// common, as a start for the refit.
type common interface {
	Mean(ctx context.Context, logLambda []float64) ([]int32, []float64, error)
	MeanBefore(ctx context.Context, logLambda []float64) ([]int32, []float64, error)
	OnExpected(func(ctx context.Context, logLambda []float64))
}

// startable is an inner problem that can start its next solve from given coefficients.
type startable interface{ StartAt([]int32, []float64) }

// newTask states the choice of λ. ctx ends the search; call ends the whole call, and with it the engines
// made here, which may outlive the search.
func (e *engine) newTask(call, ctx context.Context, o SelectOptions) (t *task, err error) {
	defer outcome.Caught(&err)
	t = &task{engine: e}
	single := e // the engine of the problem with one λ for all columns
	columns := e.family.form.Hyperparameters == inner.PerColumn
	if columns {
		if v := o.Validation; v.Criterion == ALO || v.Criterion == GCV {
			_, err := e.leftOutSpec(v) // refuses one λ per column, which the Lasso below would not
			return nil, err
		}
		c := e.config
		c.Model = Lasso
		if single, err = newEngine(call, e.statement.X, e.statement.Y, c); err != nil {
			return nil, err
		}
	}
	if t.spec, err = single.outerSpec(ctx, o.Validation); err != nil {
		return nil, err
	}
	if columns { // both the scalar and the per-column problems are held in memory
		if err := e.divideMemory(2*e.concurrentProblems(), 2*e.laneProblems(t.spec.Folds)); err != nil {
			return nil, err
		}
		e.setBounds(&t.spec)
	}
	if t.problem, err = single.newOuter(ctx, t.spec, o); err != nil {
		return nil, err
	}
	if single.searchesPairs(o.Validation) && o.Search == Auto {
		if t.problem, err = single.withRidge(call, ctx, t.problem, o); err != nil {
			return nil, err
		}
	}
	t.choice = single.traits(t.problem, t.spec, o)
	if columns {
		t.choice.Roughness /= 2 // this choice is only the start for the λ's of the columns
		t.columns = e.columns(ctx, t, o)
	}
	return t, remember(ctx, t.problem, oneForAll, o.Log)
}

// The tags of the memories in a log.
const (
	oneForAll  byte = iota // of the problem with one λ for all columns
	oneForEach             // of the problem with one λ per column
)

// remember restores the state of a problem from the memories in a log, if there is one.
func remember(ctx context.Context, problem inner.Outer, tag byte, log *search.Log) error {
	if log == nil {
		return nil
	}
	return problem.Remember(ctx, tag, log.Memories())
}

// interpolatingRatio is the largest ratio of rows to columns at which solutions may follow single rows.
const interpolatingRatio = 2

// continuousRatio is the ratio n/p² from which degrees of freedom count as continuous: a column that enters changes the
// leave-one-out criterion by √(2/n) of its standard error, so p columns change it by at most a seventh of it.
const continuousRatio = 100

// traits describes the problem to package choose.
func (e *engine) traits(problem inner.Outer, spec bilevel.Spec, o SelectOptions) choose.Problem {
	x := e.statement.X
	if on, ok := problem.(interface{ Matrix() sparse.Matrix }); ok {
		x = on.Matrix()
	}
	p := choose.Problem{
		Objective: problem, Top: e.Max(), Common: e.family.form.Common, Start: o.Start,
		Pass: float64(x.NNZ()) * inner.PassCost(x) * float64(max(2, spec.Folds.Count(e.statement.Kernels))),
	}
	rows, columns := e.statement.X.Dims()
	p.Interpolates = interpolatingRatio*columns >= rows
	for _, r := range e.family.form.Ranges {
		p.Ranges = append(p.Ranges, choose.Range(r))
	}
	if v, ok := e.Problem.(interface{ Units() []float64 }); ok && len(p.Top) > 1 {
		p.Top = v.Units()
	}
	if !e.family.samples && !e.family.form.Dense && !e.config.Standardize {
		scales, err := sparse.ScalesOf(e.statement.Kernels, e.statement.X)
		p.Wide = err == nil && scales.Wide()
	}
	counted := e.leftOut != "" && !e.family.form.Dense && float64(continuousRatio)*float64(columns)*float64(columns) > float64(rows)
	p.Jumps = e.family.shape().Concave || counted
	if r := spec.Risk; r != nil { // the degrees of freedom jump as columns enter; BIC weighs them ln(n)/2 times as much as SURE and AIC
		p.Roughness = r.Freedom / (r.Fit * r.Sigma * r.Sigma)
	}
	p.Grouped = e.family.grouped()
	p.Curved = !e.family.quadratic()
	p.Separable = e.family.samples || e.family.classes || e.family.link().Classes() // the criteria of SVR have dips as deep as those of classes
	switch {
	case e.family.samples:
		p.Shape = choose.Dual
	case e.family.form.Dense:
		p.Shape = choose.Smooth
	}
	if r, ok := e.Problem.(interface{ RidgeMax() float64 }); ok && e.searchesPairs(o.Validation) {
		p.Pair, p.RidgeTop = true, kernels.Log(r.RidgeMax())
	}
	return p
}

// searchesPairs reports whether two λ's are chosen starting from the best choice of each alone. A ridge alone has no
// constraints, so the problem must have none.
func (e *engine) searchesPairs(v Validation) bool {
	return e.family.strengths == L1AndRidge && e.family.quadratic() && !e.config.Positive && e.statement.Box == nil &&
		e.leftOut == "" && criterion.Curved(v.Loss) && e.config.Method.iterdiffMethod() == nil
}

// columns states the choice of one λ per column.
func (e *engine) columns(ctx context.Context, t *task, o SelectOptions) *choose.Columns {
	_, p := e.statement.X.Dims()
	c := &choose.Columns{One: t.choice, Count: p}
	if t.spec.Risk != nil {
		c.Rows, _ = e.statement.X.Dims()
		c.Constant = t.spec.Risk.Constant
	}
	c.Each = func() (_ search.Objective, _ []int32, err error) {
		defer outcome.Caught(&err)
		merged, group, err := bilevel.Merge(e.statement.Kernels, e.statement.X, t.spec, e.config.Positive)
		if err != nil {
			return nil, nil, err
		}
		var problem inner.Outer
		if o.Lanes != nil {
			problem, err = e.newOuter(ctx, t.spec, o)
		} else {
			problem, err = outerOn(e.Problem, merged, t.spec)
		}
		if err == nil {
			err = remember(ctx, problem, oneForEach, o.Log)
		}
		return problem, group, err
	}
	return c
}

// chooseOptions returns the options for package choose. If o.From applies, it also makes the problem begin
// at that earlier selection; stay says that its rows have stayed in their folds.
func (t *task) chooseOptions(o SelectOptions, stay bool) choose.Options {
	e := t.engine
	choosing := o.chooseOptions(e.config)
	if observer := e.config.Observer; observer != nil {
		choosing.Progress = func(at search.Evaluation) {
			observer.Evaluation(e.config.Model, at)
			if o.Progress != nil {
				o.Progress(at)
			}
		}
	}
	if o.From == nil || !t.comparable(o.From, o.Validation) {
		return choosing
	}
	choosing.From = o.From.earlierSearch(e.family.form.Common, e.Max())
	if stay { // at least one row counts as new, since Fresh = 0 means that rows have not stayed
		n, earlier := len(e.statement.Y), len(o.From.resume.foldOf)
		choosing.Fresh = max(1, float64(n-earlier)) / float64(n)
		if t.earlierRefitBetter(o.From, choosing.Fresh) {
			t.earlier = o.From
		}
	}
	if o.Log == nil || o.Log.Len() == 0 { // else the problem continues from the end of the log
		t.resume(o.From, stay)
	}
	return choosing
}

// minimise runs the search; common is the result with one share of αmax for all λ's, if the search
// continued from that.
func (t *task) minimise(ctx context.Context, o choose.Options) (result, common *search.Result, err error) {
	if t.columns != nil {
		return t.columns.Minimise(ctx, o)
	}
	return choose.Minimise(ctx, t.choice, o)
}

// finish makes the one-standard-error choice if it is asked for, and refits. If ctx ends before
// there is a model, it sets out.Err.
func (t *task) finish(ctx context.Context, best search.Evaluation, o SelectOptions, out *Selection) error {
	err := t.refit(ctx, best, o, out)
	if ctx.Err() == nil {
		return err
	}
	if out.Final == nil {
		out.Err = &outcome.Error{Kind: outcome.Limit, Message: "the context ended before the refit at the best λ so far, so there is no model", Err: context.Cause(ctx)}
	}
	return nil
}

// refit does the work of finish; when ctx ends, out lacks what was not computed.
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
			out.setChoice(chosen)
		}
	}
	began := time.Now()
	final, err := t.fit(ctx, chosen)
	if err != nil || final.Status == outcome.Cancelled {
		return err
	}
	if e.statement.Frugal {
		e.Restart() // frees memory: the folds are solved once more for the measures
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

// fit returns the refit at the chosen point, taken from earlyRefit if that has made it already.
func (t *task) fit(ctx context.Context, chosen search.Evaluation) (*Fitted, error) {
	if final := t.earlyRefit.result(chosen.LogLambda); final != nil {
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

// oneSE makes the one-standard-error choice. If threads are idle, the refit at the best λ runs meanwhile.
func (t *task) oneSE(ctx context.Context, best search.Evaluation, out *Selection) error {
	began := time.Now()
	if t.earlyRefit != nil && !t.earlyRefit.hasBegun(best.LogLambda) { // the best λ is final: earlyRefit is nil with TakeOneSE
		columns, coef, err := t.start(ctx, best)
		if err != nil {
			return err
		}
		t.earlyRefit.begin(ctx, best.LogLambda, columns, coef)
	}
	choice, err := choose.OneStandardError(ctx, t.choice, best, out.Evaluations)
	out.OneSE, out.SecondsOneSE = choice, time.Since(began).Seconds()
	return err
}

// start returns the coefficients at which the refit begins: those of the refit of an earlier selection at a nearby λ, or
// else the mean of the folds' solutions. If the search expected to choose this λ, it takes the mean from the solutions
// known before the evaluation at λ, because a refit that ran beside that evaluation began there as well.
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
