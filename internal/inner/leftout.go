package inner

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// leftOut is the choice of λ by the fits without one row, computed from one fit on all rows. Its slopes are
// central differences of fits that start at the coefficients predicted by the derivatives of the fit at λ.
type leftOut struct {
	inner       *separable
	x           sparse.Matrix // the matrix whose passes a search counts
	generalised bool
	nullEval    search.Evaluation // of the null model
	mostSupport float64           // the largest size of a support
}

const (
	leftOutStep = 1e-4  // step of the differences in λ
	leftOutTol  = 1e-10 // tolerance of the fits that the differences are of
	leftOutNull = 1e-6  // distance above ln αmax at which the null model is evaluated
	ridgeNull   = 25    // the same above the ln αmax of a ridge, whose fit there is the null model
)

// ByLeftOut implements [LeavesOut].
func (s *separable) ByLeftOut(generalised bool) (Outer, error) {
	on, err := s.rotated(context.Background())
	x := s.statement.X
	if err == nil && generalised && on == s {
		on, err = s.condensedProblem()
		x = on.statement.X
	}
	if err != nil {
		return nil, err
	}
	o := &leftOut{inner: on, x: x, generalised: generalised}
	n, p := s.statement.X.Dims()
	o.mostSupport = float64(max(1, min(n, p)))
	at, above := s.AppendMax(nil), leftOutNull
	if s.statement.Form.Dense {
		above = ridgeNull
	}
	for i := range at {
		if at[i] += above; math.IsInf(at[i], 0) {
			at[i] = 0 // the target depends on no column
		}
	}
	r, err := o.Evaluate(context.Background(), search.Request{LogLambda: at, ValueOnly: true})
	o.nullEval = r.Evaluation
	o.nullEval.LogLambda, o.nullEval.TrainLoss = nil, 1
	return o, err
}

// condensedProblem returns the problem on condensed rows, whose residual sum and degrees of freedom are those of the
// rows that they stand for; the problem itself where there are no condensed rows.
func (s *separable) condensedProblem() (*separable, error) {
	of := s.statement
	if !of.isTall(condensedPath) || of.unpenalised {
		return s, nil
	}
	inBatches := make(bilevel.Folds, len(of.Y)) // in batches, like a hold-out of all rows
	rows, few, err := of.Condense(of.Kernels.Context(), bilevel.Spec{Weights: of.Weights, Intercept: of.Intercept, Folds: inBatches})
	if rows == nil || err != nil {
		return s, err
	}
	few.batches, few.rowsCondensed = rows.Batches(), len(of.positiveRows())
	problem, err := OnColumns(few)
	if err != nil {
		return s, err
	}
	return problem.(*separable), nil
}

// Matrix returns the matrix whose passes a search counts.
func (o *leftOut) Matrix() sparse.Matrix { return o.x }

// Evaluate implements [Outer]. The value is +Inf where there are no leverages, because columns depend on one
// another or the numbers would be too many, and where a row alone determines its score; the status says so.
//
// The bound of a slope assumes exact fits: the fits are polished.
func (o *leftOut) Evaluate(ctx context.Context, r search.Request) (bilevel.Report, error) {
	return o.evaluate(ctx, r, !r.ValueOnly)
}

func (o *leftOut) evaluate(ctx context.Context, r search.Request, polish bool) (_ bilevel.Report, err error) {
	defer outcome.Caught(&err)
	opts := o.inner.statement.Solver()
	opts.Tol, opts.Polish = cmp.Or(r.Tol, opts.Tol), polish
	if !r.ValueOnly {
		opts.Tol = min(opts.Tol, leftOutTol)
	}
	s := o.inner
	s.computeLogMax()
	s.solver = s.newSolver(s.nullModel().Clone()) // so that no value depends on earlier ones
	defer func() { s.solver = nil }()
	here, report, err := o.evaluateAt(ctx, r.LogLambda, opts)
	if err != nil || r.ValueOnly || math.IsInf(report.Value, 1) {
		return report, err
	}
	report.Gradient = make([]float64, len(r.LogLambda))
	moves := false
	for i := range r.LogLambda {
		var ends [2]float64
		for k, step := range []float64{leftOutStep, -leftOutStep} {
			moved := slices.Clone(r.LogLambda)
			moved[i] += step
			if here.derivatives != nil {
				s.solver.MoveTo(cd.Advance(slices.Clone(here.columns), slices.Clone(here.coef), step, here.derivatives[i]))
			}
			_, there, err := o.evaluateAt(ctx, moved, opts)
			if err != nil {
				return report, err
			}
			ends[k] = there.Value
			report.Add(there.Effort)
			report.Work += there.Work
			if report.Status.OK() && !there.Status.OK() { // a slope is no better than the values at its ends
				report.Status, report.Trusted = there.Status, false
			}
		}
		if math.IsInf(ends[0], 0) || math.IsInf(ends[1], 0) {
			continue
		}
		report.Gradient[i] = (ends[0] - ends[1]) / (2 * leftOutStep)
		report.ErrorBound = max(report.ErrorBound, math.Abs(ends[0]+ends[1]-2*report.Value)/leftOutStep)
		moves = moves || ends[0] != report.Value || ends[1] != report.Value
	}
	if report.Flat = !moves && here.Support == 0 && report.Status.OK(); report.Flat {
		report.Status = outcome.Flat
	}
	return report, nil
}

// evaluateAt evaluates at one λ, from the solver's current point.
func (o *leftOut) evaluateAt(ctx context.Context, logLambda []float64, opts cd.Options) (*LeftOut, bilevel.Report, error) {
	report := bilevel.Report{Evaluation: search.Evaluation{LogLambda: logLambda, Value: math.Inf(1)}, InjectivityMargin: math.NaN(), Bound: implicit.Estimated}
	s := o.inner
	here, err := s.leaveOneOut(ctx, logLambda, opts)
	if ctx.Err() != nil {
		return nil, report, ctx.Err()
	}
	of, ok := errors.AsType[*outcome.Error](err)
	switch {
	case ok && of.Kind == outcome.BadParameter: // columns depend on one another
		report.Status = outcome.NotDifferentiable
	case ok && of.Kind == outcome.Limit && s.statement.Solver().MaxSupport == 0:
		report.Status = outcome.Budget
	}
	if report.Status != "" {
		report.Gradient = make([]float64, len(logLambda))
		return &LeftOut{}, report, nil
	}
	if err != nil {
		return nil, report, err
	}
	report.Value = here.Value
	report.StandardError = here.StandardError
	if o.generalised {
		report.Value, report.StandardError = here.GCV, here.GCVError
	}
	report.Certificate, report.Effort, report.Status = here.Certificate, here.Effort, here.Status
	report.Support, report.Tol, report.Work = here.Support, here.RelativeGap, here.Work
	report.Trusted = here.Status == outcome.Converged
	if null := o.inner.Null(); null > 0 {
		report.TrainLoss = here.Objective / null
	}
	report.Saturation = float64(here.Support) / o.mostSupport
	if math.IsNaN(report.Value) || math.IsInf(report.Value, 0) {
		markUndefined(&report)
	}
	return here, report, nil
}

// markUndefined turns a report into that of a λ at which rows cannot be left out, or at which the fit is too
// inaccurate to tell.
func markUndefined(r *bilevel.Report) {
	r.Value, r.Gradient, r.Trusted = math.Inf(1), make([]float64, len(r.LogLambda)), false
	if r.Status.OK() {
		r.Status = outcome.NotDifferentiable
	}
}

// Eval implements [search.Objective].
func (o *leftOut) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	report, err := o.evaluate(ctx, r, false)
	return report.Evaluation, err
}

// NonNegative reports that the criterion is never below 0, as holds for the losses of this module.
func (o *leftOut) NonNegative() bool { return !criterion.Foreign(o.inner.judge) }

// NullValue implements [Outer].
func (o *leftOut) NullValue() float64 { return o.nullEval.Value }

// Null implements [Outer].
func (o *leftOut) Null() search.Evaluation { return o.nullEval }

// Remember implements [Outer]. It does nothing: fits to such tolerances do not depend on earlier ones.
func (o *leftOut) Remember(context.Context, byte, []search.Memory) error { return nil }
