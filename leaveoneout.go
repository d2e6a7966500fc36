package pare

import (
	"context"

	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// LeftOut approximates, from one fit on all rows, the n fits that each leave a row out.
type LeftOut struct {
	Scores  []float64 // n: the score of each row by the fit without it, to first order; NaN where nothing else determines it
	Value   float64   // the weighted mean over the rows of the loss of Scores, that of [Validation]; +Inf where one is NaN
	GCV     float64   // generalised cross-validation: the same mean of the fit's own scores, over (1 − Freedom/n)², n the rows with a weight
	Freedom float64   // the degrees of freedom of the fit, with the intercept
	// StandardError is the standard error of Value over the rows. GCV estimates the same loss, and
	// has no other.
	StandardError float64
	Support       int // columns in the support
	outcome.Certificate
	outcome.Effort
	Status outcome.Status
}

// LeaveOneOut approximates leave-one-out cross-validation at one λ from one fit: one Newton step
// on the support removes a row (Rad and Maleki, "A scalable estimate of the out-of-sample
// prediction error via approximate leave-one-out cross-validation", JRSS B 82, 2020). Beside n − 1
// losses instead of n the penalty then weighs α·n/(n−1) relative to their mean; a step to first
// order in λ takes that back to the α given, at which Fit without the row would be. For the
// squared loss with a ridge the Newton step is exact, with an intercept and without, and scores
// are off by what is left of ln(n/(n−1)) beyond the first order, the more the higher the leverages. It is
// inaccurate where a single row decides which columns are in the support, and it standardises by
// all rows. It costs the fit, a factorisation, and a triangular solve per row.
//
// Without weights, a ridge on dense data of up to 2,048 rows and at least twice as many columns is
// fitted at α·(n−1)/n for the scores, which are exact for the squared loss.
//
// Only for models of one predictor with a penalty on columns; [Config].Certify has no effect.
// The errors are those of [Fit], and further Limit for a support of more than 1,000 columns, of such
// a ridge 1,000 rows, and BadParameter if columns of the support depend on one another.
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
		return nil, outcome.At(outcome.Usage, "model", "%s has no leave-one-out by a single fit; models of one predictor with a penalty on columns have", e.config.Model)
	}
	out, err := one.LeaveOneOut(ctx, logLambda, 0)
	if err != nil {
		return nil, err
	}
	return &LeftOut{out.Scores, out.Value, out.GCV, out.Freedom, out.StandardError, out.Support, out.Certificate, out.Effort, out.Status}, nil
}
