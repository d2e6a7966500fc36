package pare

import (
	"context"
	"fmt"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// HeldOut are predictions of rows by models that were not trained on them.
type HeldOut struct {
	Scores  [][]float64      // of each row, as those of [Predictor.DecideRow] and with its offset; nil where Fold is −1
	Fold    []int            // the fold that held the row out, −1 where none did
	Classes []float64        // of [Multiclass], the labels in the order of the scores
	Status  []outcome.Status // of the model of each fold
}

// OutOfFold predicts the rows of every fold of a validation by a model of the rows that
// train for it, at one λ: what ROC curves, calibration and residuals are to be made from.
// The criterion of the validation is not looked at, but that [HoldOut] leaves one fold,
// and SURE, AIC and BIC have none: 5 folds then. See [Fit] for λ and the errors; when ctx
// ends, the error is that of ctx.
func OutOfFold(ctx context.Context, x sparse.Matrix, y, logLambda []float64, v Validation, c Config) (*HeldOut, error) {
	if v.Criterion == SURE || v.Criterion == AIC || v.Criterion == BIC {
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
	spec, err := e.held(v)
	if err != nil {
		return nil, err
	}
	held := &HeldOut{Scores: make([][]float64, len(y)), Fold: make([]int, len(y))}
	for i := range held.Fold {
		held.Fold[i] = -1
	}
	for fold := range spec.Folds.Count() {
		if err := held.predict(ctx, e, logLambda, spec, fold); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// predict fits the rows that train for a fold and predicts those it holds out.
func (h *HeldOut) predict(ctx context.Context, e *engine, logLambda []float64, spec bilevel.Spec, fold int) error {
	weights, rows := spec.Split(fold)
	c := e.config
	c.Weights = weights
	part, err := newEngine(e.x, e.y, c)
	if err != nil {
		return outcome.In(fmt.Sprintf("fold %d", fold), err)
	}
	fitted, err := part.fit(ctx, logLambda)
	if err != nil {
		return err
	}
	if fitted.Status == outcome.Cancelled {
		return ctx.Err()
	}
	h.Status = append(h.Status, fitted.Status)
	h.Classes = fitted.Classes
	p := fitted.Predictor()
	q := p.Scores()
	scores := make([]float64, len(e.y)*q)
	if err := p.Decide(e.x, scores); err != nil {
		return err
	}
	if e.config.Offset != nil { // of models with one score
		for i, o := range e.config.Offset {
			scores[i] += o
		}
	}
	for _, i := range rows {
		h.Fold[i], h.Scores[i] = fold, scores[int(i)*q:(int(i)+1)*q]
	}
	return nil
}
