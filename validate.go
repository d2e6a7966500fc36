package pare

import (
	"context"
	"iter"
	"slices"

	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Validate evaluates the validation criterion, without its gradient, along a
// sequence of λ's, every fold from its solution before; decreasing order is the
// fast one. It yields one evaluation per λ and stops after an error, which is
// that of ctx where ctx ended. See [Fit] for the λ's and the other errors.
func Validate(ctx context.Context, x sparse.Matrix, y []float64, grid [][]float64, v Validation, c Config) iter.Seq2[search.Evaluation, error] {
	return func(yield func(search.Evaluation, error) bool) {
		e, err := newEngine(x, y, c)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		problem, err := e.bilevel(x, y, v)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		for _, logLambda := range grid {
			var evaluation search.Evaluation
			if _, err = e.makePenalty(logLambda); err == nil {
				evaluation, err = problem.Eval(ctx, search.Request{LogLambda: slices.Clone(logLambda), ValueOnly: true})
			}
			if !yield(evaluation, err) || err != nil {
				return
			}
		}
	}
}
