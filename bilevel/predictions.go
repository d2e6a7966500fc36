package bilevel

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Predicted holds the held-out rows of a fold and the predictions of its solution for them.
type Predicted struct {
	Rows   []int32
	Scores [][]float64 // by class, a single one without classes: the score of each row
	Status outcome.Status
}

// predictTol is a relative gap at which predictions are accurate enough.
const predictTol = 1e-6

// predictionRequest returns the request for solutions and predictions at λ.
func (s *Spec) predictionRequest(kept points, logLambda []float64, anew bool) LaneRequest {
	return LaneRequest{Ask: AskSolve, LogLambda: logLambda, Tol: max(s.Solver.Tol, predictTol), ValueOnly: true, From: kept.number(logLambda), Tell: true, Anew: anew}
}

// scores returns the predictions for the held-out rows; with several scores of a row, those of the first class
// for all rows, then those of the second, and so on.
func (j *foldCriterion) scores() []float64 {
	q := len(j.prediction) / len(j.y)
	out := make([]float64, 0, q*len(j.rows))
	for k := range q {
		for _, i := range j.rows {
			out = append(out, j.prediction[int(i)*q+k])
		}
	}
	return out
}

// HeldOut predicts the held-out rows of every fold at λ. Lanes begin at their solutions kept at λ, if
// any. When ctx ends HeldOut returns ctx's error.
func (p *Problem) HeldOut(ctx context.Context, logLambda []float64) (_ []Predicted, err error) {
	defer outcome.Caught(&err)
	results, err := p.askPredictions(ctx, logLambda)
	if err != nil {
		return nil, err
	}
	out := make([]Predicted, len(results))
	for fold := range results {
		_, rows := p.spec.Split((*kernels.Set)(nil).Until(ctx), fold)
		out[fold] = Predicted{Rows: rows, Scores: slices.Collect(slices.Chunk(results[fold].Scores, len(rows))), Status: results[fold].Solved.Status}
	}
	return out, nil
}

// askPredictions asks the lanes for their solutions and predictions.
func (p *Problem) askPredictions(ctx context.Context, logLambda []float64) ([]LaneResult, error) {
	return p.runner.Run(ctx, p.toAllLanes(p.spec.predictionRequest(p.kept, logLambda, p.solvesAnew())), nil)
}

// HeldOut is [Problem.HeldOut], with a score for each class.
func (m *Multiclass) HeldOut(ctx context.Context, logLambda []float64) ([]Predicted, error) {
	results, err := m.runner.Run(ctx, setClassLambda(m.toAllLanes(m.spec.predictionRequest(m.kept, logLambda, false)), logLambda), nil)
	if err != nil {
		return nil, err
	}
	out := make([]Predicted, len(m.folds))
	for fold := range out {
		of := results[fold*len(m.classes):][:len(m.classes)]
		out[fold].Rows, out[fold].Status = m.folds[fold].rows, outcome.Converged
		for k := range of {
			out[fold].Scores = append(out[fold].Scores, slices.Clone(of[k].Scores))
			if s := of[k].Solved.Status; s != outcome.Converged {
				out[fold].Status = s
			}
		}
	}
	return out, nil
}
