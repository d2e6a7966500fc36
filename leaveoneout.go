package pare

import (
	"context"

	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// LeftOut is what one fit on all rows says of fits without a row.
type LeftOut struct {
	Scores  []float64 // of every row, by the fit without it, to first order
	Value   float64   // the model's loss on held-out rows, of these scores
	GCV     float64   // generalised cross-validation: that of the fit, over (1 − Freedom/n)²
	Freedom float64   // degrees of freedom, the intercept among them
	// StandardError is that of Value, over the rows.
	StandardError float64
	Support       int
	outcome.Certificate
	outcome.Effort
	Status outcome.Status
}

// LeaveOneOut approximates leave-one-out cross-validation at one λ by one fit: a Newton step
// from it takes a row out, on the support at hand (Rad and Maleki, A scalable estimate of the
// out-of-sample prediction error via approximate leave-one-out, JRSS B 82, 2020), and moves λ as
// the sum of the weights has it. It costs a factorisation and a triangular solve for each row.
// It is off where a row decides which columns are in, and knows nothing of standardisation by
// the rows left. For models of one predictor with a penalty on columns; [Config].Certify is
// not looked at. The error is an [outcome.Error], as of [Fit]; of kind Limit for supports of
// more than 1,000 columns, and BadParameter where columns of the support depend on one another.
func LeaveOneOut(ctx context.Context, x sparse.Matrix, y, logLambda []float64, c Config) (*LeftOut, error) {
	e, err := newEngine(x, y, c)
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
