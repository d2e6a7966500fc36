package pare

import (
	"context"

	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// LeftOut has an approximation, from one fit on all rows, of the n fits that each leave one row out.
type LeftOut struct {
	Scores  []float64 // n: the score of each row by the fit without that row, to first order; NaN if the other rows do not determine it
	Value   float64   // the weighted mean over the rows of the loss of Scores, by the loss of [Validation]; +Inf if a score is NaN
	GCV     float64   // generalised cross-validation: the same mean for the fit's own scores, divided by (1 − Freedom/n)², n the number of rows of positive weight
	Freedom float64   // the degrees of freedom of the fit, including the intercept
	// StandardError is the standard error of Value over the rows. It also serves for GCV, which
	// estimates the same loss.
	StandardError float64
	Support       int // the number of columns in the support
	outcome.Certificate
	outcome.Effort
	Status outcome.Status
}

// LeaveOneOut approximates leave-one-out cross-validation at one λ from one fit: one Newton step
// on the support removes a row (Rad and Maleki, "A scalable estimate of the out-of-sample
// prediction error via approximate leave-one-out cross-validation", JRSS B 82, 2020). Removing one
// of n losses leaves a penalty of α·n/(n−1) relative to the mean of the remaining losses; a step of
// first order in λ, by ln(n/(n−1)), corrects this to the α given, which Fit without the row would
// use. For the squared loss with a ridge the Newton step is exact, with or without an intercept, and
// the only error of the scores is the remainder of the step in λ beyond the first order, which grows
// with the leverages. LeaveOneOut is inaccurate if a single row decides which columns are in the
// support, and it standardises by all rows. It costs the fit, a factorisation, and a triangular
// solve per row.
//
// Without weights, a ridge on dense data of up to 2,048 rows and at least twice as many columns is
// fitted at α·(n−1)/n for the scores, which are then exact for the squared loss.
//
// Only for models of one predictor with a penalty on columns; [Config].Certify has no effect.
// The errors are those of [Fit], and also Limit for a support of more than 1,000 columns (for such
// a ridge, more than 1,000 rows), and BadParameter if columns of the support are linearly dependent.
func LeaveOneOut(ctx context.Context, x sparse.Matrix, y, logLambda []float64, c Config) (_ *LeftOut, err error) {
	defer outcome.Caught(&err)
	e, err := newEngine(ctx, x, y, c)
	if err != nil {
		return nil, err
	}
	if err := e.check(logLambda); err != nil {
		return nil, err
	}
	one, ok := e.Problem.(inner.LeavesOut)
	if !ok {
		return nil, outcome.At(outcome.Usage, "model", "%s has no leave-one-out from a single fit; models with one predictor and a penalty on columns do", e.config.Model)
	}
	out, err := one.LeaveOneOut(ctx, logLambda, 0)
	if err != nil {
		return nil, err
	}
	return &LeftOut{out.Scores, out.Value, out.GCV, out.Freedom, out.StandardError, out.Support, out.Certificate, out.Effort, out.Status}, nil
}
