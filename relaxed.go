package pare

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Relax refits the columns in the support of f without penalty, which undoes the shrinkage of the
// ℓ1 penalty (Meinshausen, "Relaxed Lasso", Computational Statistics and Data Analysis 52, 2007,
// with φ = 0). x, y and c must be those that f was fitted with; f is not modified. The result has
// the λ's of f, and its objective is the loss alone. If the columns of the support separate two
// classes, the unpenalised fit does not exist: coefficients grow until the tolerance is met, or the
// status is not Converged.
// Only for models of one predictor with an ℓ1 penalty and no bounds on coefficients. The errors
// are those of [Fit].
func Relax(ctx context.Context, x sparse.Matrix, y []float64, f *Fitted, c Config) (*Fitted, error) {
	e, err := newEngine(ctx, x, y, c)
	if err != nil {
		return nil, err
	}
	if _, p := x.Dims(); f == nil || f.PerClass == nil && !f.consistent(p) {
		return nil, outcome.At(outcome.Shape, "relaxed", "a refit needs a fitted model whose support lists ascending columns below %d, each with a finite coefficient", p)
	}
	return e.relax(ctx, f)
}

// checkRelaxed refuses models and options that have no unpenalised refit.
func (e *engine) checkRelaxed() error {
	switch f := e.family; {
	case f.samples || f.classes || f.form.Dense:
		return outcome.At(outcome.Usage, "relaxed", "%s has no support to refit on; models with one predictor and an ℓ1 penalty do", e.config.Model)
	case e.config.Positive || e.config.Lower != nil || e.config.Upper != nil:
		return outcome.At(outcome.Usage, "relaxed", "a refit without penalty does not support bounds on coefficients")
	default:
		return nil
	}
}

func (e *engine) relax(ctx context.Context, f *Fitted) (_ *Fitted, err error) {
	defer outcome.Caught(&err)
	if err := e.checkRelaxed(); err != nil {
		return nil, err
	}
	c := e.config
	c.Model, c.PenaltyFactors, c.Method = WeightedLasso, nil, Implicit
	c.Groups, c.GroupWeights, c.Tau, c.Gamma, c.A = nil, nil, 0, 0, 0
	if c.Loss = e.family.loss; e.family.quadratic() {
		c.Loss = nil
	}
	_, p := e.statement.X.Dims()
	free := slices.Repeat([]float64{math.Inf(1)}, p)
	for _, j := range f.Support {
		free[j] = math.Inf(-1)
	}
	part, err := e.subEngine(ctx, c)
	if err != nil {
		return nil, err
	}
	if near, ok := part.Problem.(interface{ StartNear([]int32, []float64) }); ok {
		near.StartNear(f.Support, f.Coef)
	}
	out, took, err := part.solve(ctx, free)
	if err != nil {
		return nil, err
	}
	out.Model, out.LogLambda, out.LogLambdaMax = f.Model, f.LogLambda, f.LogLambdaMax
	e.observe(out, took)
	return out, nil
}

// relaxed refits the final model without penalty. It returns the refit, and the criterion of such refits
// of the folds at the same λ: NaN for a criterion on all rows.
func (e *engine) relaxed(ctx context.Context, v Validation, final *Fitted) (fitted *Fitted, value float64, err error) {
	if fitted, err = e.relax(ctx, final); err != nil || fitted.Status == outcome.Cancelled {
		return nil, math.NaN(), err
	}
	if v.onAllRows() {
		return fitted, math.NaN(), nil
	}
	judge := v.Loss
	if judge == nil {
		judge = e.Problem.(interface{ Judged() criterion.Criterion }).Judged()
	}
	v.Loss = nil
	held, err := e.outOfFold(ctx, final.LogLambda, v, refitOptions{from: final, relax: true})
	if err != nil {
		return nil, math.NaN(), err
	}
	defer e.turn(ctx)()
	return fitted, meanOverFolds(held.rows(e.statement.Kernels, e.config.Weights), func(rows []int32) float64 {
		return criterion.Eval(e.statement.Kernels, e.statement.Weighted(judge), rows, e.statement.Y, held.scores, nil, nil)
	}), nil
}
