package pare

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// HeldOut has predictions of rows by models that were not trained on them.
type HeldOut struct {
	Scores  [][]float64      // n: the scores of each row, see [Predictor.DecideRow], with its offset; nil where Fold is −1
	Fold    []int            // n: the fold that held the row out, −1 if no fold did
	Classes []float64        // the labels in the order of the scores, if a row has several scores; else nil
	Status  []outcome.Status // how the fit of each fold ended
}

// OutOfFold predicts the rows of every fold of v by a model that is fitted at one λ to the training
// rows of the fold. The scores serve for ROC curves, calibration and residuals. With the criterion
// [HoldOut] there is one fold; with a criterion on all rows, such as [SURE], there are the default
// 5. See [Fit] for the other arguments and the errors; when ctx ends, its error is returned.
func OutOfFold(ctx context.Context, x sparse.Matrix, y, logLambda []float64, v Validation, c Config) (_ *HeldOut, err error) {
	defer runtime.KeepAlive(&v) // see [outcome.Caught]
	defer outcome.Caught(&err)
	if v.Criterion != "" && !slices.Contains(Criteria(), v.Criterion) {
		return nil, errCriterion(v.Criterion)
	}
	if v.onAllRows() {
		v = Validation{Seed: v.Seed}
	}
	c.Certify = false
	e, leave, err := admitEngine(ctx, x, y, c, &v, toPredict)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := e.check(logLambda); err != nil {
		return nil, err
	}
	v.Sigma = 0
	p, err := e.outOfFold(ctx, logLambda, v, refitOptions{})
	if err != nil {
		return nil, err
	}
	return p.byRow(e.statement.Kernels), nil
}

// predicted has the contents of a [HeldOut], with all scores in one vector.
type predicted struct {
	q       int       // the number of scores per row
	scores  []float64 // n × q, 0 where fold is −1
	fold    []int     // n
	classes []float64
	status  []outcome.Status

	allocated sync.Once // the first fold that has fitted its model sets q and scores
}

func newPredicted(k *kernels.Set, rows, folds int) *predicted {
	p := &predicted{fold: kernels.Undefined[int](rows), status: make([]outcome.Status, folds)}
	for from, to := range k.Pieces(rows) {
		for i := from; i < to; i++ {
			p.fold[i] = -1
		}
	}
	return p
}

// allocate allocates q scores for every row; only the first call has an effect.
func (p *predicted) allocate(k *kernels.Set, q int) {
	p.allocated.Do(func() { p.q, p.scores = q, kernels.Zeros[float64](k, q*len(p.fold)) })
}

// rowScores returns the scores of a row.
func (p *predicted) rowScores(i int) []float64 { return p.scores[i*p.q : (i+1)*p.q : (i+1)*p.q] }

// byRow returns the contents of p with a slice for each row.
func (p *predicted) byRow(k *kernels.Set) *HeldOut {
	h := &HeldOut{Scores: make([][]float64, len(p.fold)), Fold: p.fold, Classes: p.classes, Status: p.status}
	pace := k.Pace()
	for i, fold := range p.fold {
		if pace.Did(1); fold >= 0 {
			h.Scores[i] = p.rowScores(i)
		}
	}
	return h
}

// rows lists the rows that each fold holds out, without rows of weight 0.
func (p *predicted) rows(k *kernels.Set, weights []float64) [][]int32 {
	count, pace := make([]int, len(p.status)), k.Pace()
	counts := func(i, fold int) bool {
		pace.Did(1)
		return fold >= 0 && (weights == nil || weights[i] > 0)
	}
	for i, fold := range p.fold {
		if counts(i, fold) {
			count[fold]++
		}
	}
	out := make([][]int32, len(p.status))
	for fold, n := range count {
		out[fold] = kernels.Undefined[int32](n)[:0]
	}
	for i, fold := range p.fold {
		if counts(i, fold) {
			out[fold] = append(out[fold], int32(i))
		}
	}
	return out
}

// refitOptions says how the models of the folds are fitted.
type refitOptions struct {
	from  *Fitted // a model fitted on all rows as a warm start; nil: start from the null model
	relax bool    // refit on the support without penalty, see [Relax]
}

// outOfFold is [OutOfFold] with models that are fitted as how says.
func (e *engine) outOfFold(ctx context.Context, logLambda []float64, v Validation, how refitOptions) (*predicted, error) {
	spec, err := e.heldOutSpec(v)
	if err != nil {
		return nil, err
	}
	held := newPredicted(e.statement.Kernels, len(e.statement.Y), spec.Folds.Count(e.statement.Kernels))
	var group errgroup.Group
	group.SetLimit(concurrentRefits(spec))
	classes, failed := make([][]float64, len(held.status)), make([]error, len(held.status))
	var stop atomic.Bool
	for fold := range held.status {
		if stop.Load() {
			break
		}
		group.Go(func() error { // no error stops a fold under way, so that the error returned is always that of the first fold that fails
			classes[fold], failed[fold] = held.predict(ctx, e, logLambda, spec, fold, how)
			if failed[fold] != nil {
				stop.Store(true)
			}
			return nil
		})
	}
	_ = group.Wait()
	if err := cmp.Or(append([]error{ctx.Err()}, failed...)...); err != nil {
		return nil, err
	}
	held.classes = classes[0]
	return held, nil
}

// concurrentRefits returns how many folds are refitted at once.
func concurrentRefits(spec bilevel.Spec) int {
	threads := team.Count(spec.Threads)
	if spec.AtOnce > 0 {
		return min(threads, spec.AtOnce)
	}
	return threads
}

// predict fits a model to the training rows of a fold and predicts the rows that the fold holds out.
func (p *predicted) predict(ctx context.Context, e *engine, logLambda []float64, spec bilevel.Spec, fold int, how refitOptions) (classes []float64, err error) {
	defer outcome.Caught(&err)
	weights, _ := spec.Split(e.statement.Kernels, fold)
	c := e.config
	c.Weights, c.ClassWeights, c.Balanced, c.Certify, c.Threads, c.Observer = weights, nil, false, false, 1, nil
	part, err := e.subEngine(ctx, c)
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
		return nil, outcome.Ended(ctx)
	}
	defer e.turn(ctx)()
	p.status[fold] = fitted.Status
	model, pace := fitted.Predictor(), e.statement.Kernels.Pace()
	q := model.Scores()
	p.allocate(e.statement.Kernels, q)
	scores := make([]float64, len(e.statement.Y)*q)
	if err := model.decide(e.statement.Kernels, e.statement.X, scores); err != nil {
		return nil, err
	}
	if e.config.Offset != nil { // only models with one score have offsets
		for i, o := range e.config.Offset {
			pace.Did(1)
			scores[i] += o
		}
	}
	for i, id := range spec.Folds {
		if pace.Did(1); id == fold {
			pace.Did(q)
			p.fold[i] = fold
			copy(p.rowScores(i), scores[i*q:])
		}
	}
	return fitted.Classes, nil
}
