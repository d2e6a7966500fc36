package search

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// recorder stands between a method and its objective: it counts evaluations,
// chooses their tolerance, and keeps the best.
type recorder struct {
	objective Objective
	options   Options
	result    Result
	// dropVectors says that result.Evaluations have no vectors.
	dropVectors bool
	// merit orders evaluations; nil means by value.
	merit func(*Evaluation) float64

	best, loose ranked      // of the evaluations at the final tolerance, and of the others
	leastFinite *Evaluation // the one of least finite value, whatever a later evaluation of its λ gave
	unranked    *Evaluation // the first without a merit, returned if no evaluation has one
	schedule    []float64   // tolerances of the first evaluations
	tolsChosen  int         // number of tolerances chosen
	tightest    float64     // no evaluation asks for a looser tolerance
	warmStart   []float64   // the λ whose solutions the next evaluation starts from; nil: the last evaluation
}

// ranked is an evaluation with its merit.
type ranked struct {
	*Evaluation
	merit float64
}

// errBudget ends a method whose evaluations are used up.
var errBudget = errors.New("search: evaluations used up")

func newRecorder(f Objective, o Options) (*recorder, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Tol == 0 && o.Schedule != "" && o.Schedule != Exact {
		o.Tol = defaultTol
	}
	schedule, err := o.Schedule.tolerances(o.Tol, o.Evaluations)
	if err != nil {
		return nil, err
	}
	return &recorder{objective: f, options: o, schedule: schedule, tightest: math.Inf(1)}, nil
}

// search runs a method, confirms the best point, and returns the result.
func (r *recorder) search(ctx context.Context, method func(ctx context.Context) (outcome.Status, error)) (*Result, error) {
	var status outcome.Status
	err := func() (err error) {
		defer outcome.Caught(&err)
		status, err = method(ctx)
		for (err == nil || errors.Is(err, errBudget)) && r.loose.meritOrInf() < r.best.meritOrInf() && r.evaluationsLeft() > 0 {
			if _, again := r.confirm(ctx, r.loose.Evaluation); again != nil {
				err = again
			}
		}
		return err
	}()
	if unsaved := r.options.Log.save(); unsaved != nil {
		err = unsaved
	}
	return r.finish(ctx, status, err)
}

// useFinalTol makes all evaluations that follow ask for the final tolerance.
func (r *recorder) useFinalTol() { r.tightest = r.options.Tol }

// evaluationsLeft returns the number of evaluations left in the budget.
func (r *recorder) evaluationsLeft() int { return r.options.Evaluations - len(r.result.Evaluations) }

// eval evaluates the objective at a copy of x, at the tolerance of [recorder.nextTol]. If the
// result is not trusted, it evaluates x again at the final tolerance, which then holds for
// all evaluations that follow.
func (r *recorder) eval(ctx context.Context, x []float64, valueOnly bool) (*Evaluation, error) {
	return r.evalAt(ctx, x, valueOnly, r.nextTol(0))
}

// evalWithin is [recorder.eval] for a step that needs no smaller relative gap than gap.
func (r *recorder) evalWithin(ctx context.Context, x []float64, gap float64) (*Evaluation, error) {
	return r.evalAt(ctx, x, false, r.nextTol(gap))
}

func (r *recorder) evalAt(ctx context.Context, x []float64, valueOnly bool, tol float64) (*Evaluation, error) {
	final := r.options.Tol
	for {
		e, err := r.evaluate(ctx, Request{LogLambda: slices.Clone(x), Tol: tol, ValueOnly: valueOnly, From: r.warmStart})
		r.warmStart = nil
		if err != nil || e.Trusted || e.Final {
			return e, err
		}
		// A system that is singular at a loose tolerance is mostly singular at the next one, too.
		tol = final
		r.tightest = tol
	}
}

// nextTol returns the tolerance of the next evaluation. need is the gap that the method's
// step needs, which counts under [Auto]; 0 if unknown.
func (r *recorder) nextTol(need float64) float64 {
	final := r.options.Tol
	k := r.tolsChosen
	r.tolsChosen++
	switch {
	case r.evaluationsLeft() <= 2: // the last evaluations may be the only ones to compare
		return final
	case need > 0 && r.options.Schedule == Auto:
		return min(sufficientTol(need, final), r.tightest)
	case k < len(r.schedule):
		return max(final, min(r.schedule[k], r.tightest))
	}
	return final
}

// evaluate makes one evaluation and records it.
func (r *recorder) evaluate(ctx context.Context, request Request) (*Evaluation, error) {
	x := request.LogLambda
	// The last evaluation of the budget is reserved for a best point that is known only loosely.
	reserved := r.loose.Evaluation != nil && r.loose.merit < r.best.meritOrInf() && !slices.Equal(r.loose.LogLambda, x)
	if left := r.evaluationsLeft(); left == 0 || (left == 1 && reserved) {
		return nil, errBudget
	}
	e, old, err := r.replayOrEval(ctx, request)
	if err != nil {
		return nil, err
	}
	e.LogLambda, e.Final, e.Expected = x, request.Tol <= r.options.Tol, request.Expected
	answer := e
	e.Memory = Memory{}
	r.rank(&e)
	kept := e
	if r.dropVectors {
		kept.LogLambda, kept.Gradient, kept.Curvature = nil, nil, nil
	}
	r.result.Evaluations = append(r.result.Evaluations, kept)
	if old {
		return &e, nil
	}
	if r.options.Log != nil {
		if err := r.options.Log.add(request, answer); err != nil {
			return nil, err
		}
	}
	if r.options.Progress != nil {
		r.options.Progress(e)
	}
	return &e, nil
}

// replayOrEval returns an evaluation from the log, and then old is true, or from the objective.
func (r *recorder) replayOrEval(ctx context.Context, request Request) (e Evaluation, old bool, err error) {
	if log := r.options.Log; log != nil && r.options.Logged+len(r.result.Evaluations) < len(log.entries) {
		if err := ctx.Err(); err != nil {
			return e, false, err
		}
		e, err = log.at(r.options.Logged+len(r.result.Evaluations), request)
		return e, true, err
	}
	if e, err = r.objective.Eval(ctx, request); err != nil {
		return e, false, err
	}
	dim := len(request.LogLambda)
	if !request.ValueOnly && len(e.Gradient) != dim {
		return e, false, outcome.Errorf(outcome.Shape, "the objective returned %d slopes for %d coordinates", len(e.Gradient), dim)
	}
	if e.Curvature != nil && len(e.Curvature) != dim*dim {
		return e, false, outcome.Errorf(outcome.Shape, "the objective returned a curvature of %d entries for %d coordinates", len(e.Curvature), dim)
	}
	return e, false, nil
}

// rank keeps e if it is the best so far.
func (r *recorder) rank(e *Evaluation) {
	merit := e.Value
	if r.merit != nil {
		merit = r.merit(e)
	}
	if e.Final && r.loose.Evaluation != nil && slices.Equal(e.LogLambda, r.loose.LogLambda) {
		r.loose = ranked{} // e replaces it at the final tolerance
	}
	if finite(e.Value) && (r.leastFinite == nil || e.Value < r.leastFinite.Value) {
		r.leastFinite = e
	}
	if math.IsNaN(merit) && r.unranked == nil && finite(e.Value) {
		r.unranked = e
	}
	r.keepIfBest(ranked{e, merit})
}

// keepIfBest keeps an evaluation that has the least merit so far, among those at the final
// tolerance or among the others.
func (r *recorder) keepIfBest(e ranked) {
	top := &r.loose
	if e.Final {
		top = &r.best
	}
	if e.merit >= -math.MaxFloat64 && (top.Evaluation == nil || e.merit < top.merit) {
		*top = e
	}
}

// meritOrInf returns the merit, +Inf if there is no evaluation.
func (r ranked) meritOrInf() float64 {
	if r.Evaluation == nil {
		return math.Inf(1)
	}
	return r.merit
}

// restarts are the moves in every coordinate that are tried from an unusable start.
var restarts = [...]float64{2, -2, 6, -6}

// begin evaluates the start. If the solutions do not change with λ there, as at and above
// λmax, begin tries points below; if a value or slope is not finite, or not trusted at
// the first tolerance, points above and below. It returns the last flat evaluation, too.
// A status other than "" says that there is no point to start from.
func (r *recorder) begin(ctx context.Context, start []float64, box Box) (here, flat *Evaluation, status outcome.Status, err error) {
	start = slices.Clone(start)
	box.clamp(start)
	if here, err = r.evaluate(ctx, Request{LogLambda: slices.Clone(start), Tol: r.nextTol(0)}); err != nil {
		return nil, nil, "", err
	}
	if doubtful(here) {
		r.useFinalTol() // a system that is singular here is mostly singular close by, too
	}
	if here, flat, err = r.restart(ctx, here, start, box); err != nil {
		return nil, nil, "", err
	}
	if doubtful(here) { // and there is no other point in the box
		if here, err = r.confirm(ctx, here); err != nil {
			return nil, nil, "", err
		}
	}
	switch {
	case here.Flat:
		if here, err = r.confirm(ctx, here); err != nil {
			return nil, nil, "", err
		}
		if here.Flat || !here.usable() {
			return here, flat, outcome.Flat, nil
		}
	case !here.usable():
		return nil, nil, "", outcome.Errorf(outcome.NonFinite, "the value or the slope is not finite at the start %g and around it", start)
	}
	return here, flat, "", nil
}

// doubtful reports whether an evaluation is not trusted, and not at the final tolerance.
func doubtful(e *Evaluation) bool { return !e.Trusted && !e.Final }

// restart moves from an unusable start to the first usable point among [restarts], if there is one. It also returns
// the last flat evaluation on the way.
func (r *recorder) restart(ctx context.Context, here *Evaluation, start []float64, box Box) (_, flat *Evaluation, err error) {
	for _, move := range restarts {
		if here.usable() && !here.Flat && !doubtful(here) {
			break
		}
		if here.Flat {
			if flat = here; move > 0 {
				continue
			}
		}
		x := slices.Clone(start)
		for i := range x {
			x[i] += move
		}
		box.clamp(x)
		if slices.Equal(x, here.LogLambda) || slices.Equal(x, start) {
			continue
		}
		if here, err = r.eval(ctx, x, false); err != nil {
			return nil, nil, err
		}
	}
	return here, flat, nil
}

// beginAt begins at an evaluation, and the next at its solutions, if that is good enough to go on from; else it calls
// [recorder.begin].
func (r *recorder) beginAt(ctx context.Context, start Evaluation, box Box) (here *Evaluation, status outcome.Status, err error) {
	if start.Gradient != nil && start.Final && start.Trusted && start.usable() && !start.Flat && start.Tol <= r.options.Tol {
		r.warmStart = start.LogLambda
		r.rank(&start)
		return &start, "", nil
	}
	here, _, status, err = r.begin(ctx, start.LogLambda, box)
	return here, status, err
}

// confirm returns e if it was evaluated at the final tolerance. If not, it evaluates
// the λ of e again at that tolerance, which then holds for all evaluations that follow.
func (r *recorder) confirm(ctx context.Context, e *Evaluation) (*Evaluation, error) {
	if e.Final {
		return e, nil
	}
	r.useFinalTol()
	return r.eval(ctx, e.LogLambda, false)
}

// confirmUsable is [recorder.confirm] of a point to go on from; it returns an error if that is not usable.
func (r *recorder) confirmUsable(ctx context.Context, e *Evaluation) (*Evaluation, error) {
	next, err := r.confirm(ctx, e)
	if err == nil && !next.usable() {
		err = unusableError(next)
	}
	return next, err
}

// unusableError returns the error of a point that is not usable at the final tolerance.
func unusableError(e *Evaluation) error {
	return outcome.Errorf(outcome.NonFinite, "the value or slope is not finite at %g with the final tolerance, although it was with a looser one", e.LogLambda)
}

// finish sets the best evaluation, and the status of an early end. It returns an error
// that is neither errBudget nor that of ctx together with the result so far.
func (r *recorder) finish(ctx context.Context, status outcome.Status, err error) (*Result, error) {
	out := &r.result
	out.Status = status
	switch {
	case err == nil:
	case errors.Is(err, errBudget):
		out.Status, err = outcome.Budget, nil
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		out.Status, err = outcome.Cancelled, nil
	}
	switch out.Best.Value = math.NaN(); {
	case r.best.Evaluation != nil && finite(r.best.Value):
		out.Best = *r.best.Evaluation
	case r.loose.Evaluation != nil && finite(r.loose.Value):
		out.Best = *r.loose.Evaluation
	case r.unranked != nil:
		out.Best = *r.unranked
	case len(out.Evaluations) > 0:
		if r.leastFinite != nil {
			out.Best = *r.leastFinite
		}
		if err == nil {
			err = outcome.Errorf(outcome.NonFinite, "the criterion is not finite at any λ with the final tolerance")
		}
	}
	return out, err
}
