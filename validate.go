package pare

import (
	"context"
	"iter"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Validation says which rows judge a λ. The zero value is 5-fold
// cross-validation on rows in file order; the criterion is the mean over folds
// of the loss on the fold's held-out rows: the mean squared error, or for
// logreg the mean logistic loss, for multiclass the mean cross-entropy of the
// classes' scores, for svm the mean smoothed hinge loss.
type Validation struct {
	// HoldOut validates on the last fold alone, or on fold 0 of FoldIDs.
	HoldOut bool
	Folds   int    // 0 means 5
	Shuffle bool   // permute the rows before dealing them into folds
	Seed    uint64 // of the permutation, and of searches that draw points
	// FoldIDs gives every row's fold instead: ≥ 0 validates that fold, −1 always
	// trains, −2 is left out.
	FoldIDs []int
}

// folds resolves a validation for n rows.
func (v Validation) folds(n int) (bilevel.Folds, error) {
	if v.FoldIDs != nil {
		if v.HoldOut {
			if i := slices.IndexFunc(v.FoldIDs, func(id int) bool { return id > 0 }); i >= 0 {
				return nil, &outcome.Error{Kind: outcome.BadParameter, HasRow: true, Row: i, Flag: "fold-ids", Message: "for a hold-out 0 validates and −1 trains"}
			}
		}
		return bilevel.Folds(v.FoldIDs), nil
	}
	k := v.Folds
	if k == 0 {
		k = 5
	}
	if v.HoldOut {
		return bilevel.HoldOut(n, k, v.Shuffle, v.Seed)
	}
	return bilevel.KFold(n, k, v.Shuffle, v.Seed)
}

// choice states the outer problem.
func (e *engine) choice(v Validation) (outer, error) {
	folds, err := v.folds(len(e.y))
	if err != nil {
		return nil, err
	}
	return e.outer(folds)
}

// Validate evaluates the validation criterion, without its gradient, along a
// sequence of λ's, every fold from its solution before; decreasing order is the
// fast one. It yields one evaluation per λ and stops after an error, which is
// that of ctx where ctx ended. See [Fit] for the λ's and the other errors.
func Validate(ctx context.Context, x sparse.Matrix, y []float64, grid [][]float64, v Validation, c Config) iter.Seq2[search.Evaluation, error] {
	c.Method, c.Certify = Implicit, false // no gradients here
	return func(yield func(search.Evaluation, error) bool) {
		e, err := newEngine(x, y, c)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		problem, err := e.choice(v)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		for _, logLambda := range grid {
			var evaluation search.Evaluation
			if err = e.check(logLambda); err == nil {
				evaluation, err = problem.Eval(ctx, search.Request{LogLambda: slices.Clone(logLambda), ValueOnly: true})
			}
			if !yield(evaluation, err) || err != nil {
				return
			}
		}
	}
}
