package inner

import (
	"cmp"
	"context"
	"math"
	"slices"

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
	rows := s.of.present()
	out.Value, out.StandardError, out.GCV = math.Inf(1), math.Inf(1), math.Inf(1)
	if determined {
		out.Value = criterion.Eval(k, judge, rows, s.of.Y, out.Scores, nil, nil)
		out.StandardError = s.of.errorOf(out.Value, s.judge, out.Scores, rows)
	}
	rest := 1 - out.Freedom/float64(len(rows))
	if rest < leastRest {
		return out, nil
	}
	out.GCV = criterion.Eval(k, judge, rows, s.of.Y, solution.Prediction, nil, nil) / float64(rest*rest)
	return out, nil
}

// present lists the rows that have weight.
func (s *Statement) present() []int32 {
	n, _ := s.X.Dims()
	rows, pace := make([]int32, 0, n), s.Kernels.Pace()
	for i := range n {
		if pace.Did(1); s.Weights == nil || s.Weights[i] > 0 {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// errorOf returns the standard error of a value of a criterion, its weighted mean over rows.
func (s *Statement) errorOf(value float64, c criterion.Criterion, scores []float64, rows []int32) float64 {
	losses, weight := make([]float64, len(rows)), slices.Repeat([]float64{1}, len(rows))
	pace := s.Kernels.Pace()
	for at, i := range rows {
		pace.Did(8)
		losses[at] = criterion.Eval(nil, c, rows[at:at+1], s.Y, scores, nil, nil)
		if s.Weights != nil {
			weight[at] = s.Weights[i]
		}
	}
	return criterion.StandardError(s.Kernels, losses, weight, value)
}
