package inner

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// LeavesOut is a problem whose fits without one row are computed from one fit on all rows.
type LeavesOut interface {
	// LeaveOneOut computes the fits without one row, from a fit to the relative gap tol; 0 means the
	// tolerance of the Statement.
	LeaveOneOut(ctx context.Context, logLambda []float64, tol float64) (*LeftOut, error)
	// ByLeftOut returns the choice of λ by the mean loss of these fits, or by generalised cross-validation.
	ByLeftOut(generalised bool) (Outer, error)
}

// LeftOut holds the predictions of the fits without one row, and the fit they are computed from. Its fields
// have the same meaning as those of the same names in pare.LeftOut.
type LeftOut struct {
	Scores              []float64
	Value, GCV, Freedom float64
	StandardError       float64
	// GCVError is StandardError, or where that is infinite the standard error of GCV by the fit's own losses.
	GCVError float64
	Support  int
	outcome.Certificate
	outcome.Effort
	Status          outcome.Status
	Objective, Work float64 // of the fit

	// columns and coef are the support and the coefficients of the fit, moves the derivatives of coef in each
	// λ: nil where there are none.
	columns     []int32
	coef        []float64
	derivatives [][]float64
}

// leastKept is the least share of its residual that a row may keep, and the least 1 − Freedom/n: less is
// rounding.
const leastKept = 0x1p-44

// LeaveOneOut implements [LeavesOut].
func (s *separable) LeaveOneOut(ctx context.Context, logLambda []float64, tol float64) (*LeftOut, error) {
	on, err := s.rotated(ctx)
	if err != nil {
		return nil, err
	}
	opts := s.statement.Solver()
	opts.Tol = cmp.Or(tol, opts.Tol)
	opts.Polish = opts.Tol <= leftOutTol // such a tolerance asks for scores to many digits
	return on.leaveOneOut(ctx, logLambda, opts)
}

// leaveOneOut is LeaveOneOut without a rotation of the columns.
func (s *separable) leaveOneOut(ctx context.Context, logLambda []float64, opts cd.Options) (*LeftOut, error) {
	if err := s.Accepts(logLambda); err != nil {
		return nil, err
	}
	defer s.statement.Turn(ctx)()
	s.ensureSolver()
	fit, err := s.newRemovalFit(ctx, logLambda, opts)
	if err != nil {
		return nil, err
	}
	solution := fit.solution
	out := &LeftOut{
		Scores: make([]float64, len(fit.Leverage)), Status: solution.Status, Support: cmp.Or(s.unrotatedColumns, len(solution.Support)),
		Certificate: solution.Certificate, Effort: solution.Effort, Objective: solution.Objective, Work: solution.Work,
		columns: solution.Support, coef: solution.Coef, derivatives: fit.Moves,
	}
	for i, h := range fit.Leverage {
		if d := fit.curvature[i]; d != 0 { // else the row has no effect on its own score, whatever its leverage
			out.Freedom = math.FMA(d, h, out.Freedom)
		}
	}
	weights, total := s.statement.trainingWeights(), s.fit.View().Total()
	from, moved := fit, false
	if s.unrotatedColumns > 0 && weights == nil { // with few rows each affects its own score strongly: use the strength of a fit without one row
		lower := []float64{logLambda[0] + kernels.Log(1-1/total)}
		if from, err = s.newRemovalFit(ctx, lower, opts); err != nil {
			return nil, err
		}
		moved = true
		out.Add(from.solution.Effort)
		out.Work += from.solution.Work
	}
	pace, determined := s.statement.Kernels.Pace(), s.statement.batches == nil // condensed rows are not left out
	for i, h := range from.Leverage {
		pace.Did(1)
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		rest, residual := 1.0, from.solution.Residual[i]
		if d := from.curvature[i]; d != 0 {
			rest -= float64(d * h)
		}
		if rest < leastKept || weight >= total || residual != 0 && math.IsInf(h, 1) { // without the row its score is not determined
			out.Scores[i], determined = math.NaN(), false
			continue
		}
		if out.Scores[i] = from.solution.Prediction[i]; residual != 0 {
			out.Scores[i] -= residual * h / rest
		}
		if !moved {
			out.Scores[i] += float64(kernels.Log(1-weight/total) * from.Motion[i])
		}
	}
	k, judge, rows := s.statement.Kernels, s.statement.Weighted(s.judge), s.statement.positiveRows()
	out.Value, out.StandardError, out.GCV, out.GCVError = math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
	if determined {
		out.Value = criterion.Eval(k, judge, rows, s.statement.Y, out.Scores, nil, nil)
		out.StandardError = s.statement.standardError(out.Value, s.judge, out.Scores, rows)
	}
	s.setGCV(out, solution.Prediction, rows)
	return out, nil
}

// setGCV sets the generalised cross-validation of a fit, from its predictions and its degrees of freedom.
func (s *separable) setGCV(out *LeftOut, prediction []float64, rows []int32) {
	rest := 1 - out.Freedom/float64(cmp.Or(s.statement.rowsCondensed, len(rows)))
	if rest < leastKept {
		return
	}
	own := criterion.Eval(s.statement.Kernels, s.statement.Weighted(s.judge), rows, s.statement.Y, prediction, nil, nil)
	out.GCV, out.GCVError = own/float64(rest*rest), out.StandardError
	if math.IsInf(out.GCVError, 1) {
		out.GCVError = s.statement.standardError(own, s.judge, prediction, rows) / float64(rest*rest)
	}
}

// removalFit is a fit, with its own copies of the vectors, and what is needed to remove rows from it.
type removalFit struct {
	*implicit.Removal
	solution  cd.Solution
	curvature []float64
}

func (s *separable) newRemovalFit(ctx context.Context, logLambda []float64, opts cd.Options) (*removalFit, error) {
	penalty, err := s.boundedPenalty(logLambda)
	if err != nil {
		return nil, err
	}
	solution, err := s.solver.Solve(ctx, penalty, opts)
	if err != nil {
		return nil, err
	}
	solver := implicit.NewSharing(s.fit, s.solver.Cache())
	at := implicit.Point{Support: solution.Support, Coef: solution.Coef, KKT: solution.KKT, State: solution.State}
	removal, err := solver.Leverages(penalty, at)
	if err != nil {
		return nil, err
	}
	r := &removalFit{removal, *solution, solver.Curvatures()}
	r.solution.Support, r.solution.Coef = slices.Clone(solution.Support), slices.Clone(solution.Coef)
	r.solution.Prediction, r.solution.Residual = slices.Clone(solution.Prediction), slices.Clone(solution.Residual)
	return r, nil
}

// positiveRows lists the rows of positive weight.
func (s *Statement) positiveRows() []int32 {
	n, _ := s.X.Dims()
	rows, pace := make([]int32, 0, n), s.Kernels.Pace()
	for i := range n {
		if pace.Did(1); s.Weights == nil || s.Weights[i] > 0 {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// standardError returns the standard error of the value of a criterion, its weighted mean over the rows, or for
// condensed rows over batches of the rows that they stand for.
func (s *Statement) standardError(value float64, c criterion.Criterion, scores []float64, rows []int32) float64 {
	losses := make([]float64, len(rows))
	criterion.EachRow(s.Kernels, c, rows, s.Y, scores, losses)
	var weight []float64
	if s.Weights != nil {
		weight = make([]float64, len(rows))
		for from, to := range s.Kernels.Pieces(len(rows)) {
			for at, i := range rows[from:to] {
				weight[from+at] = s.Weights[i]
			}
		}
	}
	if s.batches != nil {
		losses, weight = s.batchMeans(rows, losses, weight)
	}
	return criterion.StandardError(s.Kernels, losses, weight, value)
}

// batchMeans returns the mean losses of the batches, and their weights.
func (s *Statement) batchMeans(rows []int32, losses, weight []float64) (means, total []float64) {
	count := s.batches.Count(s.Kernels)
	means, total = make([]float64, count), make([]float64, count)
	for at, i := range rows {
		b := s.batches[i]
		means[b] += float64(weight[at] * losses[at])
		total[b] += weight[at]
	}
	for b, w := range total {
		means[b] /= w
	}
	return means, total
}
