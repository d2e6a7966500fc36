package pare

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// riskSpec states the choice of λ by an information criterion.
func (e *engine) riskSpec(ctx context.Context, v Validation) (bilevel.Spec, error) {
	spec := e.spec()
	switch {
	case !e.family.quadratic() || e.family.form.Blocks != nil:
		return spec, outcome.At(outcome.Usage, "criterion", "%s is available for %s, %s, %s and %s only; for %s use %s", v.Criterion, Lasso, ElasticNet, WeightedLasso, Ridge, e.config.Model, e.otherCriteria())
	case e.config.Weights != nil:
		return spec, outcome.At(outcome.Usage, "criterion", "%s assumes the same noise level in every row; for weighted rows use %s", v.Criterion, e.otherCriteria())
	case e.config.Offset != nil:
		return spec, outcome.At(outcome.Usage, "criterion", "%s does not take an offset; use %s", v.Criterion, e.otherCriteria())
	case v.Sigma != 0 && !(v.Sigma > 0 && !math.IsInf(v.Sigma, 1)):
		return spec, outcome.At(outcome.BadParameter, "sigma", "the noise level must be positive and finite, got %g", v.Sigma)
	}
	if name := v.foldField(); name != "" {
		return spec, outcome.At(outcome.Usage, name, "applies only to %s and %s; %s judges on all rows and holds none out", CV, HoldOut, v.Criterion)
	}
	if err := e.divideMemory(e.concurrentProblems(), e.laneProblems(nil)); err != nil {
		return spec, err
	}
	e.setBounds(&spec)
	sigma := v.Sigma
	if sigma == 0 {
		var err error
		if sigma, err = e.estimateNoise(ctx, v); err != nil {
			return spec, err
		}
	}
	n := len(e.statement.Y)
	of := map[Criterion]bilevel.Information{SURE: bilevel.SURE(n, sigma), AIC: bilevel.AIC(sigma), BIC: bilevel.BIC(n, sigma)}[v.Criterion]
	spec.Risk = &bilevel.Risk{Information: of, Sigma: sigma, Seed: v.Seed}
	return spec, nil
}

// foldField names a field that is set and applies only to criteria on held-out rows; "" if none is set.
func (v Validation) foldField() string {
	switch {
	case v.Loss != nil:
		return "validation-loss"
	case v.FoldIDs != nil:
		return "fold-ids"
	case v.Groups != nil:
		return "groups"
	case v.Folds != 0:
		return "folds"
	case v.Split != "":
		return "split"
	case v.InOrder:
		return "in-order"
	default:
		return ""
	}
}

// estimateNoise estimates the noise level from the residuals of a Lasso chosen by cross-validation,
// with one degree of freedom for each column of its support and one for the intercept. The
// Lasso is solved as in earlier versions, so that the estimate has the same bits and the logs
// of earlier searches remain valid.
func (e *engine) estimateNoise(ctx context.Context, v Validation) (float64, error) {
	c := e.config
	c.Model, c.Loss, c.Standardize, c.Method = Lasso, nil, false, Implicit // the residuals of any good fit will do
	c.sweepFew = true
	own, err := newEngine(ctx, e.statement.X, e.statement.Y, c)
	if err != nil {
		return 0, err
	}
	if math.IsInf(own.Max()[0], -1) { // the target depends on no column
		return own.noiseFromResiduals(float64(len(e.statement.Y))*2*own.Problem.(inner.Anchored).Null(), 0)
	}
	folds := Validation{Seed: v.Seed, Folds: min(5, max(2, len(e.statement.Y)))}
	s, err := Select(ctx, e.statement.X, e.statement.Y, SelectOptions{Validation: folds}, c)
	switch of, ok := errors.AsType[*outcome.Error](err); {
	case ok:
		return 0, &outcome.Error{Kind: of.Kind, Flag: "sigma", Message: "the noise level cannot be estimated from the data, so it must be given", Err: err}
	case err != nil:
		return 0, err
	case s.Final == nil: // whatever the status: ctx may have ended the search, or the refit after it
		return 0, outcome.Ended(ctx)
	}
	alpha := kernels.Exp(s.LogLambda[0])
	fit := s.Final.Objective
	for at, b := range s.Final.Coef {
		factor := 1.0
		if c.PenaltyFactors != nil {
			factor = c.PenaltyFactors[s.Final.Support[at]]
		}
		fit -= float64(alpha * factor * math.Abs(b))
	}
	return own.noiseFromResiduals(2*float64(len(e.statement.Y))*fit, len(s.Final.Support))
}

// noiseFromResiduals returns the noise level from the sum of squares of the residuals of a fit with the given
// number of columns.
func (e *engine) noiseFromResiduals(squares float64, columns int) (float64, error) {
	free := len(e.statement.Y) - columns
	if !e.config.NoIntercept {
		free--
	}
	sigma := math.Sqrt(max(0, squares) / float64(max(1, free)))
	if sigma == 0 {
		return 0, outcome.At(outcome.BadParameter, "sigma", "the noise level cannot be estimated from data that a Lasso fits exactly, so it must be given")
	}
	return sigma, nil
}

// noiseLevel returns the noise level of a criterion on all rows, 0 for other criteria.
func noiseLevel(spec bilevel.Spec) float64 {
	if spec.Risk == nil {
		return 0
	}
	return spec.Risk.Sigma
}

// hasLeftOut reports whether the model has the approximate leave-one-out criteria [ALO] and [GCV].
func (e *engine) hasLeftOut() bool {
	_, ok := e.Problem.(inner.LeavesOut)
	return ok && e.family.form.Hyperparameters != inner.PerColumn
}

// otherCriteria names the criteria that the model has besides those of [engine.riskSpec].
func (e *engine) otherCriteria() string {
	if e.hasLeftOut() {
		return fmt.Sprintf("%s, %s, %s or %s", CV, HoldOut, ALO, GCV)
	}
	return fmt.Sprintf("%s or %s", CV, HoldOut)
}

// hasSingleRow reports whether only one row has positive weight, so that no rows are left without it.
func (e *engine) hasSingleRow() bool {
	if e.config.Weights == nil {
		return len(e.statement.Y) == 1
	}
	rows, pace := 0, e.statement.Kernels.Pace()
	for _, w := range e.config.Weights {
		pace.Did(1)
		if w > 0 {
			rows++
		}
	}
	return rows == 1
}

// leftOutSpec states the choice of λ by [ALO] or [GCV].
func (e *engine) leftOutSpec(v Validation) (bilevel.Spec, error) {
	spec := e.spec()
	name := v.foldField()
	switch {
	case !e.hasLeftOut():
		return spec, outcome.At(outcome.Usage, "criterion", "%s is available for models with one predictor, a penalty on columns and one or two λ's; for %s use %s or %s", v.Criterion, e.config.Model, CV, HoldOut)
	case e.config.Method.iterdiffMethod() != nil:
		return spec, outcome.At(outcome.Usage, "method", "%s computes its slopes by finite differences, which only method %s supports", v.Criterion, Implicit)
	case v.Sigma != 0:
		return spec, outcome.At(outcome.Usage, "sigma", "the noise level applies only to %s, %s and %s", SURE, AIC, BIC)
	case e.hasSingleRow():
		return spec, outcome.Errorf(outcome.BadParameter, "%s leaves one row out at a time, but only one row has positive weight", v.Criterion)
	case name != "":
		return spec, outcome.At(outcome.Usage, name, "applies only to %s and %s; %s judges on all rows and holds none out", CV, HoldOut, v.Criterion)
	}
	err := e.divideMemory(e.concurrentProblems(), e.laneProblems(nil))
	e.setBounds(&spec)
	e.leftOut = v.Criterion
	return spec, err
}
