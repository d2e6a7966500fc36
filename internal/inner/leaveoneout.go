package inner

import (
	"cmp"
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// LeavesOut is a problem of which one fit on all rows says what fits without a row are.
type LeavesOut interface {
	// LeaveOneOut solves to a relative gap; 0 means that of the Statement.
	LeaveOneOut(ctx context.Context, logLambda []float64, tol float64) (*LeftOut, error)
	// ByLeftOut states the choice of λ by their mean loss, or by generalised cross-validation.
	ByLeftOut(generalised bool) (Outer, error)
}

// LeftOut is what one fit says of them. The fields mean what those of the same names in
// pare.LeftOut do.
type LeftOut struct {
	Scores              []float64
	Value, GCV, Freedom float64
	StandardError       float64
	Support             int
	outcome.Certificate
	outcome.Effort
	Status          outcome.Status
	Objective, Work float64 // of the fit
}

// leastRest is how much of its residual a row keeps, or the rows on the whole: what is less is rounding.
const leastRest = 0x1p-44

// LeaveOneOut implements [LeavesOut].
func (s *separable) LeaveOneOut(ctx context.Context, logLambda []float64, tol float64) (*LeftOut, error) {
	penalty, err := s.strengths(logLambda)
	if err != nil {
		return nil, err
	}
	defer s.of.Turn(ctx)()
	s.begin()
	opts := s.of.Solver()
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
		Certificate: solution.Certificate, Effort: solution.Effort, Objective: solution.Objective, Work: solution.Work,
	}
	total := s.fit.View().Total()
	weights := s.of.training()
	k := s.of.Kernels
	pace := k.Pace()
	determined := true
	for i, h := range leverage {
		pace.Did(1)
		out.Freedom = math.FMA(curvature[i], h, out.Freedom)
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		rest := 1 - float64(curvature[i]*h)
		if rest < leastRest || weight >= total { // without the row nothing says what its score is
			out.Scores[i], determined = math.NaN(), false
			continue
		}
		step := solution.Residual[i] * h / rest
		out.Scores[i] = solution.Prediction[i] - step + float64(kernels.Log(1-weight/total)*motion[i])
	}
	judge := s.of.Weighted(s.judge)
	rows := everyRow(k, len(out.Scores))
	out.Value, out.StandardError, out.GCV = math.Inf(1), math.Inf(1), math.Inf(1)
	if determined {
		out.Value = criterion.Eval(k, judge, rows, s.of.Y, out.Scores, nil, nil)
		out.StandardError = s.of.spreadOf(s.judge, out.Scores)
	}
	rest := 1 - out.Freedom/total
	if rest < leastRest {
		return out, nil
	}
	out.GCV = criterion.Eval(k, judge, rows, s.of.Y, solution.Prediction, nil, nil) / float64(rest*rest)
	return out, nil
}

// everyRow lists n rows.
func everyRow(k *kernels.Set, n int) []int32 {
	rows, pace := make([]int32, n), k.Pace()
	for i := range rows {
		pace.Did(1)
		rows[i] = int32(i)
	}
	return rows
}

// spreadOf returns the standard error of a mean over the rows that have weight.
func (s *Statement) spreadOf(c criterion.Criterion, scores []float64) float64 {
	var count, mean, square float64
	row, pace := make([]int32, 1), s.Kernels.Pace()
	for i := range scores {
		pace.Did(8)
		if s.Weights != nil && s.Weights[i] == 0 {
			continue
		}
		row[0] = int32(i)
		v := criterion.Eval(nil, c, row, s.Y, scores, nil, nil)
		count++
		off := v - mean
		mean += off / count
		square = math.FMA(off, v-mean, square)
	}
	return math.Sqrt(square / (max(1, count-1) * count))
}
