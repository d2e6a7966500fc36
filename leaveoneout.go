package pare

import (
	"cmp"
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
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

	objective, work float64
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
	s, ok := e.problem.(*separable)
	if !ok {
		return nil, outcome.At(outcome.Usage, "model", "%s has no leave-one-out by a single fit; models of one predictor with a penalty on columns have", e.config.Model)
	}
	return s.leaveOneOut(ctx, logLambda, 0)
}

// leaveOneOut solves to a relative gap; 0 means that of the Config.
func (s *separable) leaveOneOut(ctx context.Context, logLambda []float64, tol float64) (*LeftOut, error) {
	penalty, err := s.strengths(logLambda)
	if err != nil {
		return nil, err
	}
	s.begin()
	opts := s.engine.solver()
	opts.Tol = cmp.Or(tol, opts.Tol)
	solution, err := s.solver.Solve(ctx, penalty, opts)
	if err != nil {
		return nil, err
	}
	solver := implicit.NewSharing(s.fit, s.solver.Cache())
	at := implicit.Point{Support: solution.Support, Coef: solution.Coef, KKT: solution.KKT, State: solution.State}
	leverage, err := solver.Leverages(penalty, at)
	if err != nil {
		return nil, err
	}
	curvature := solver.Curvatures()
	motion, err := solver.Motion(ctx, penalty, at)
	if err != nil {
		return nil, err
	}
	out := &LeftOut{
		Scores: make([]float64, len(leverage)), Status: solution.Status, Support: len(solution.Support),
		Certificate: solution.Certificate, Effort: solution.Effort, objective: solution.Objective, work: solution.Work,
	}
	total := s.fit.View().Total()
	weights := s.engine.training()
	for i, h := range leverage {
		out.Freedom = math.FMA(curvature[i], h, out.Freedom)
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		step := solution.Residual[i] * h / (1 - float64(curvature[i]*h))
		out.Scores[i] = solution.Prediction[i] - step + float64(kernels.Log(1-weight/total)*motion[i])
	}
	judge := s.engine.weighted(s.judge)
	rows := make([]int32, len(out.Scores))
	for i := range rows {
		rows[i] = int32(i)
	}
	out.Value = value(judge, rows, s.engine.y, out.Scores)
	out.StandardError = s.engine.spreadOf(s.judge, out.Scores)
	rest := 1 - out.Freedom/total
	out.GCV = value(judge, rows, s.engine.y, solution.Prediction) / float64(rest*rest)
	return out, nil
}

// spreadOf returns the standard error of a mean over the rows that have weight.
func (e *engine) spreadOf(c criterion.Criterion, scores []float64) float64 {
	var count, mean, square float64
	row := make([]int32, 1)
	for i := range scores {
		if e.config.Weights != nil && e.config.Weights[i] == 0 {
			continue
		}
		row[0] = int32(i)
		v := value(c, row, e.y, scores)
		count++
		off := v - mean
		mean += off / count
		square = math.FMA(off, v-mean, square)
	}
	return math.Sqrt(square / (max(1, count-1) * count))
}

func value(c criterion.Criterion, rows []int32, y, m []float64) float64 {
	return c.Eval(rows, y, m, nil, nil)
}
