package pare

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// HeldOut has predictions of rows by models that were not trained on them.
type HeldOut struct {
	Scores  [][]float64      // n: the scores of each row, see [Predictor.DecideRow], with its offset; nil where Fold is −1
	Fold    []int            // n: the fold that held the row out, −1 if none did
	Classes []float64        // the labels in the order of the scores, if a row has several; else nil
	Status  []outcome.Status // how the fit of each fold ended
}

// OutOfFold predicts the rows of every fold of v by a model fitted at one λ to the rows that
// train for it: the scores to make ROC curves, calibration and residuals from. With the
// criterion [HoldOut] there is one fold; with one on all rows, such as [SURE], there are the
// default 5. See [Fit] for the other arguments and the errors; when ctx ends, its error is
// returned.
func OutOfFold(ctx context.Context, x sparse.Matrix, y, logLambda []float64, v Validation, c Config) (*HeldOut, error) {
	if v.onAllRows() {
		v = Validation{Seed: v.Seed}
	}
	c.Certify = false
	e, leave, err := admitted(ctx, x, y, c, nil) // one fold at a time
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := e.check(logLambda); err != nil {
		return nil, err
	}
	v.Sigma = 0
	return e.outOfFold(ctx, logLambda, v, refit{})
}

// refit says how the models of folds are made.
type refit struct {
	from  *Fitted // a model of all rows to begin at; nil: at the null model
	relax bool    // without penalty on their supports, see [Relax]
}

// outOfFold is [OutOfFold].
func (e *engine) outOfFold(ctx context.Context, logLambda []float64, v Validation, how refit) (*HeldOut, error) {
	spec, err := e.held(v)
	if err != nil {
		return nil, err
	}
	held := newHeldOut(e.of.Kernels, len(e.of.Y), spec.Folds.Count(e.of.Kernels))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(e.config.threads())
	classes := make([][]float64, len(held.Status))
	for fold := range held.Status {
		group.Go(func() (err error) {
			classes[fold], err = held.predict(inner, e, logLambda, spec, fold, how)
			return err
		})
	}
	err = group.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	held.Classes = classes[0]
	return held, nil
}

func newHeldOut(k *kernels.Set, rows, folds int) *HeldOut {
	h := &HeldOut{Scores: make([][]float64, rows), Fold: make([]int, rows), Status: make([]outcome.Status, folds)}
	for from, to := range k.Pieces(rows) {
		for i := from; i < to; i++ {
			h.Fold[i] = -1
		}
	}
	return h
}

// predict fits the rows that train for a fold and predicts those it holds out.
func (h *HeldOut) predict(ctx context.Context, e *engine, logLambda []float64, spec bilevel.Spec, fold int, how refit) (classes []float64, err error) {
	defer kernels.Caught(&err)
	weights, rows := spec.Split(e.of.Kernels, fold)
	c := e.config
	c.Weights, c.ClassWeights, c.Balanced, c.Certify, c.Threads = weights, nil, false, false, 1
	part, err := newEngine(ctx, e.of.X, e.of.Y, c)
	if err != nil {
		return nil, outcome.In(fmt.Sprintf("fold %d", fold), err)
	}
	if able, ok := part.Problem.(interface{ StartNear([]int32, []float64) }); ok && how.from != nil {
		able.StartNear(how.from.Support, how.from.Coef)
	}
	fitted, err := part.fit(ctx, logLambda)
	if err == nil && how.relax {
		fitted, err = part.relax(ctx, fitted)
	}
	if err != nil {
		return nil, err
	}
	if fitted.Status == outcome.Cancelled {
		return nil, ctx.Err()
	}
	h.Status[fold] = fitted.Status
	p, pace := fitted.Predictor(), e.of.Kernels.Pace()
	q := p.Scores()
	scores := make([]float64, len(e.of.Y)*q)
	if err := p.decide(e.of.Kernels, e.of.X, scores); err != nil {
		return nil, err
	}
	if e.config.Offset != nil { // of models with one score
		for i, o := range e.config.Offset {
			pace.Did(1)
			scores[i] += o
		}
	}
	for _, i := range rows {
		pace.Did(1)
		h.Fold[i], h.Scores[i] = fold, scores[int(i)*q:(int(i)+1)*q]
	}
	return fitted.Classes, nil
}
