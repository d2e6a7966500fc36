package pare

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Validate evaluates the validation criterion, without its gradient, along a
// sequence of λ's, every fold from its solution before; decreasing order is the
// fast one. It yields one evaluation per λ and stops after an error, which is
// that of ctx where ctx ended. See [Fit] for the λ's and the other errors.
func Validate(ctx context.Context, x sparse.Matrix, y []float64, grid [][]float64, v Validation, c Config) iter.Seq2[search.Evaluation, error] {
	c.Method, c.Certify = Implicit, false // no gradients here
	return func(yield func(search.Evaluation, error) bool) {
		e, leave, err := admitted(ctx, x, y, c, &v)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		defer leave()
		spec, err := e.choice(ctx, v)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		problem, err := e.outer(spec)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		var path [][]float64
		var wrong error // of the λ after them
		for _, logLambda := range grid {
			if wrong = e.check(logLambda); wrong != nil {
				break
			}
			path = append(path, slices.Clone(logLambda))
		}
		for report, err := range along(ctx, problem, path) {
			if !yield(report.Evaluation, err) || err != nil {
				return
			}
		}
		if wrong != nil {
			yield(search.Evaluation{}, wrong)
		}
	}
}

// along evaluates a problem, without gradients, at one λ after the other.
func along(ctx context.Context, problem outer, path [][]float64) iter.Seq2[bilevel.Report, error] {
	if p, ok := problem.(interface {
		Along(context.Context, [][]float64) iter.Seq2[bilevel.Report, error]
	}); ok {
		return p.Along(ctx, path)
	}
	return func(yield func(bilevel.Report, error) bool) {
		for _, logLambda := range path {
			report, err := problem.Evaluate(ctx, search.Request{LogLambda: logLambda, ValueOnly: true})
			if !yield(report, err) || err != nil {
				return
			}
		}
	}
}

// choice states what judges λ, and on which rows.
func (e *engine) choice(ctx context.Context, v Validation) (bilevel.Spec, error) {
	switch v.Criterion {
	case "", CV, HoldOut:
		return e.held(v)
	case SURE, AIC, BIC:
		return e.risk(ctx, v)
	default:
		return bilevel.Spec{}, outcome.At(outcome.Usage, "criterion", "no criterion %q; there are %v", v.Criterion, Criteria())
	}
}

// held states what is common to all choices by held-out rows.
func (e *engine) held(v Validation) (bilevel.Spec, error) {
	spec := e.spec()
	n, _ := e.x.Dims()
	switch {
	case len(e.y) != n:
		return spec, outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(e.y), n)
	case v.Sigma != 0:
		return spec, outcome.At(outcome.Usage, "sigma", "the noise level is for %s, %s and %s", SURE, AIC, BIC)
	case v.Loss != nil && e.family.classes:
		return spec, outcome.At(outcome.Usage, "validation-loss", "%s is judged by the cross-entropy of all its scores", e.config.Model)
	}
	err := criterion.Check(v.Loss, e.y, e.config.Weights)
	if err != nil {
		return spec, err
	}
	spec.Folds, err = v.folds(e.y)
	if err != nil {
		return spec, err
	}
	spec.Criterion, spec.Forward = v.Loss, v.Split == Forward
	if err := spec.Check(n); err != nil {
		if e, ok := errors.AsType[*outcome.Error](err); ok && v.FoldIDs != nil {
			e.Flag = "fold-ids"
		}
		return spec, err
	}
	err = e.afford(e.atOnce() + e.solvers(spec.Folds))
	spec.Solver = e.solver()
	return spec, err
}
