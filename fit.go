package pare

import (
	"context"
	"iter"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Fit solves the inner problem at one λ. X has one row per entry of y; neither
// is changed or kept. logLambda has one entry per hyperparameter, see
// [Model.Hyperparameters]: 1, but 2 for the elastic net (ℓ1, then ridge), one for
// each class of [Multiclass], labels ascending, and p for the weighted Lasso, where
// +Inf excludes a column and −Inf leaves it unpenalised.
//
// A solve that ran out of epochs, or whose ctx ended, is returned with its true
// gap and the status that says so. The error is an [outcome.Error] about the
// arguments, found before work starts: of kind Usage for what a model does not have,
// Shape for lengths that do not fit, NonFinite or BadParameter for numbers that cannot
// be, SingleClass for a target of one class, and Limit where [Config].MaxBytes is too
// little; [Config].MaxSupport may end a solve with one of kind Limit.
func Fit(ctx context.Context, x sparse.Matrix, y, logLambda []float64, c Config) (*Fitted, error) {
	e, err := newEngine(x, y, c)
	if err != nil {
		return nil, err
	}
	return e.fit(ctx, logLambda)
}

// Path solves the inner problem along a sequence of λ's, each from the solution
// before it; decreasing order is the fast one. It yields one result per λ, its own
// for good, and stops early after an error or, with a result that says Cancelled, when
// ctx ends. See [Fit] for the λ's and the errors.
func Path(ctx context.Context, x sparse.Matrix, y []float64, grid [][]float64, c Config) iter.Seq2[*Fitted, error] {
	return func(yield func(*Fitted, error) bool) {
		e, err := newEngine(x, y, c)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, logLambda := range grid {
			fitted, err := e.fit(ctx, logLambda)
			if !yield(fitted, err) || err != nil || fitted.Status == outcome.Cancelled {
				return
			}
		}
	}
}
