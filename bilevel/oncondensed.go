package bilevel

import (
	"context"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// OnCondensed is a problem on condensed rows whose predictions are for the rows of X.
type OnCondensed struct {
	*Problem
	condensed *Condensed
	k         *kernels.Set
	x         sparse.Matrix
	fullSpec  Spec // the spec of the problem on X
}

// NewOnCondensed returns the problem on X with the given spec, for a problem p on its condensed rows.
func NewOnCondensed(p *Problem, of *Condensed, k *kernels.Set, x sparse.Matrix, spec Spec) *OnCondensed {
	return &OnCondensed{p, of, k, x, spec}
}

// Matrix returns the condensed rows.
func (p *OnCondensed) Matrix() sparse.Matrix { return p.condensed.X }

// Eval implements [search.Objective].
func (p *OnCondensed) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	return evalOnSide(ctx, p, r)
}

// startTol is the relative gap of a solution on condensed rows at which a solve on X begins.
const startTol = 1e-9

// Mean returns the solution on all condensed rows, which is nearly that on all rows of X.
func (p *OnCondensed) Mean(ctx context.Context, logLambda []float64) (columns []int32, coef []float64, err error) {
	defer outcome.Caught(&err)
	all, err := p.laneOnAll()
	if err != nil {
		return nil, nil, err
	}
	options := p.spec.Solver
	options.Tol = startTol
	if err := all.solve(ctx, &LaneRequest{LogLambda: logLambda}, options); err != nil {
		return nil, nil, err
	}
	s := all.solution()
	return s.Support, s.Coef, nil
}

// MeanBefore is [OnCondensed.Mean], which does not depend on what the lanes have kept.
func (p *OnCondensed) MeanBefore(ctx context.Context, logLambda []float64) (columns []int32, coef []float64, err error) {
	return p.Mean(ctx, logLambda)
}

// laneOnAll returns a lane that trains on all condensed rows, and validates on those of fold 0.
func (p *OnCondensed) laneOnAll() (lane, error) {
	view, err := p.spec.View(p.k, p.condensed.X, p.condensed.weights)
	if err != nil {
		return nil, err
	}
	_, some := p.spec.Split(p.k, 0)
	judged := newFoldCriterion(p.k, &p.spec, p.condensed.Y, some)
	if p.spec.Blocked != nil {
		fit, err := p.spec.scoresFit(view, p.condensed.Y)
		if err != nil {
			return nil, err
		}
		return newBlockLane(p.spec, fit, judged)
	}
	fit, err := p.spec.datafit(view, p.condensed.Y)
	if err != nil {
		return nil, err
	}
	return newLane(p.spec, fit, judged)
}

// HeldOut is [Problem.HeldOut] for the rows of X.
func (p *OnCondensed) HeldOut(ctx context.Context, logLambda []float64) (_ []Predicted, err error) {
	defer outcome.Caught(&err)
	results, err := p.askPredictions(ctx, logLambda)
	if err != nil {
		return nil, err
	}
	out := make([]Predicted, len(results))
	for fold := range results {
		_, out[fold].Rows = p.fullSpec.Split(p.k, fold)
		out[fold].Status = results[fold].Solved.Status
		scores, err := p.predict(fold, results[fold].Solution, out[fold].Rows)
		if err != nil {
			return nil, err
		}
		out[fold].Scores = [][]float64{scores}
	}
	return out, nil
}

// predict returns the predictions of a fold's solution for the given rows of X.
func (p *OnCondensed) predict(fold int, s *Solution, rows []int32) ([]float64, error) {
	weights, _ := p.spec.Split(p.k, fold)
	view, err := p.spec.View(p.k, p.condensed.X, weights)
	if err != nil {
		return nil, err
	}
	own, intercept := make([]float64, len(s.Coef)), 0.0 // in units of X
	if p.spec.Intercept {
		intercept = p.k.Dot(weights, p.condensed.Y) / view.Total()
	}
	for at, j := range s.Support {
		own[at] = s.Coef[at] * view.Scale(int(j))
		intercept -= float64(s.Coef[at] * view.Mean(int(j)))
	}
	intercept += p.condensed.Shifted(s.Support, own)
	return p.scores(rows, s.Support, own, intercept), nil
}

// scores returns the entries of intercept + Xβ for the given rows of X.
func (p *OnCondensed) scores(of, columns []int32, coef []float64, intercept float64) []float64 {
	n, _ := p.x.Dims()
	all, scores, pace := make([]float64, n), make([]float64, len(of)), p.k.Pace()
	for at, j := range columns {
		rows, values := p.x.Column(int(j))
		pace.Did(len(values))
		if rows == nil {
			for _, i := range of {
				all[i] += float64(coef[at] * values[i])
			}
			continue
		}
		for k, i := range rows {
			all[i] += float64(coef[at] * values[k])
		}
	}
	for t, i := range of {
		scores[t] = all[i] + intercept
	}
	return scores
}
