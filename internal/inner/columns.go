package inner

import (
	"context"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// separable is the inner problem of a model with one predictor and a separable penalty.
type separable struct {
	statement *Statement
	fit       model.Datafit
	judge     criterion.Criterion // on held-out rows
	null      float64             // P₀, of the null model with unpenalised columns
	nullPoint *model.Null         // the null model; nil before its first use, and once the solver owns it
	solver    *cd.Solver          // nil before the first solve
	hasLogMax bool                // top is known
	logMax    float64             // ln αmax, of every hyperparameter
	box       *model.Box

	unrotatedColumns int // the number of columns of the matrix that X is the rotation of; 0: X is no rotation
}

// OnColumns makes the inner problem of one predictor and a separable penalty.
func OnColumns(of *Statement) (Problem, error) {
	view, err := of.View()
	if err != nil {
		return nil, err
	}
	s := &separable{statement: of, box: of.Box.In(view)}
	if s.fit, err = of.datafit(view, of.Y); err != nil {
		return nil, err
	}
	s.null = s.fit.Null()
	bound := of.Loss
	if rows, ok := s.fit.(*model.Rowwise); ok {
		bound = rows.Loss()
	}
	s.judge = of.Judge(bound)
	if of.unpenalised {
		solver, released, err := cd.NewReleased(of.Kernels.Context(), model.NewNull(s.fit), of.l1Factors, of.Solver())
		if err != nil {
			return nil, err
		}
		s.setLogMax(released)
		s.null = solver.Null()
	}
	return s, nil
}

// datafit returns the datafit on a view.
func (s *Statement) datafit(view *sparse.View, y []float64) (model.Datafit, error) {
	return model.NewOffset(view, y, s.Offset, s.Loss)
}

// penalty returns the penalty at a λ.
func (s *Statement) penalty(logLambda []float64) (model.Penalty, error) {
	return s.Form.Penalty(s.Kernels, logLambda)
}

// Null implements [Anchored].
func (s *separable) Null() float64 { return s.null }

// Start implements [Problem].
func (s *separable) Start() float64 { return s.statement.shareOfMax() }

// AppendMax makes a pass over X the first time, which the first solve then does not repeat.
func (s *separable) AppendMax(out []float64) []float64 {
	s.computeLogMax()
	from := len(out)
	out = slices.Grow(out, s.statement.Count)[:from+s.statement.Count]
	s.statement.Kernels.Fill(out[from:], s.logMax)
	return out
}

// computeLogMax computes ln αmax from the null model, the first time.
func (s *separable) computeLogMax() {
	if s.hasLogMax {
		return
	}
	s.setLogMax(s.nullModel())
	if s.statement.Frugal {
		s.nullPoint = nil
	}
}

func (s *separable) setLogMax(null *model.Null) {
	s.hasLogMax, s.logMax = true, kernels.Log(s.statement.Form.Max(null.Within(s.box)))
}

// nullModel returns the null model without unpenalised columns.
func (s *separable) nullModel() *model.Null {
	if s.nullPoint == nil {
		s.nullPoint = model.NewNull(s.fit)
	}
	return s.nullPoint
}

func (s *separable) Accepts(logLambda []float64) error {
	_, err := s.boundedPenalty(logLambda)
	return err
}

// boundedPenalty returns the penalty at λ, with the bounds of the coefficients.
func (s *separable) boundedPenalty(logLambda []float64) (model.Penalty, error) {
	g, err := s.statement.penalty(logLambda)
	if err != nil {
		return g, err
	}
	return g.Within(s.box)
}

func (s *separable) Solve(ctx context.Context, logLambda []float64) (*Solution, error) {
	penalty, err := s.boundedPenalty(logLambda)
	if err != nil {
		return nil, err
	}
	defer s.statement.Turn(ctx)()
	s.ensureSolver()
	solution, err := s.solver.Solve(ctx, penalty, s.statement.Solver())
	if err != nil {
		return nil, err
	}
	return s.statement.solution(ctx, s.fit, s.solver, penalty, solution)
}

// ensureSolver makes the solver, at the null model, where there is none.
func (s *separable) ensureSolver() {
	switch {
	case s.solver != nil:
	case s.statement.Keep: // the null model is kept to restart from
		s.computeLogMax()
		s.solver = s.newSolver(s.nullModel().Clone())
	default:
		s.computeLogMax()
		s.solver, s.nullPoint = s.newSolver(s.nullModel()), nil
	}
}

// newSolver makes a solver at the null model without unpenalised columns.
func (s *separable) newSolver(zero *model.Null) *cd.Solver {
	solver := cd.NewFrom(zero)
	solver.RelativeTo(s.null)
	return solver
}

// Restart implements [Problem].
func (s *separable) Restart() {
	switch {
	case s.solver == nil:
	case s.statement.Keep:
		s.solver.Restart(s.nullPoint)
	default: // the solver owned the null model
		s.solver = nil
	}
}

// solution copies a solution, with coefficients of the columns of X, and certifies it if asked to.
func (s *Statement) solution(ctx context.Context, fit model.Datafit, solver *cd.Solver, g model.Penalty, at *cd.Solution) (*Solution, error) {
	out := s.newResult()
	out.Support, out.Coef = append(out.Support, at.Support...), append(out.Coef, at.Coef...)
	for k, j := range at.Support {
		out.Coef[k] *= fit.View().Scale(int(j))
		if g.Held(int(j), at.Coef[k]) {
			out.Coef[k] = s.atBound(int(j), out.Coef[k])
			out.Bound++
		}
	}
	out.Intercept, out.Objective = at.Intercept, at.Objective
	out.Certificate, out.Effort, out.Work, out.Shared, out.Status = at.Certificate, at.Effort, at.Work, at.Shared, at.Status
	if g.Ridge() > 0 { // ½α₂‖β‖² is strictly convex
		out.Unique = s.provedUnique()
	}
	if !s.Certify || at.Status == outcome.Cancelled {
		return out, nil
	}
	began := time.Now()
	c, err := implicit.NewSharing(fit, solver.Cache()).Certify(ctx, g, implicit.Point{Support: at.Support, Coef: at.Coef, State: at.State})
	if err != nil {
		return nil, err
	}
	if one := c.Unique && !c.Shared; one || c.Dependent || c.Shared && c.Support {
		out.Unique = &one
	}
	out.SupportCertified, out.DualMargin = c.Support, c.DualMargin
	out.SecondsCertify = time.Since(began).Seconds()
	return out, nil
}

func (s *separable) Outer(spec bilevel.Spec) (Outer, error) {
	return s.On(s.statement.X, spec)
}

// On returns the outer problem on another matrix with the same rows.
func (s *separable) On(x sparse.Matrix, spec bilevel.Spec) (Outer, error) {
	return bilevel.New(s.statement.Kernels, x, s.statement.Y, s.completeSpec(spec))
}

// completeSpec adds to a spec what is particular to the model.
func (s *separable) completeSpec(spec bilevel.Spec) bilevel.Spec {
	spec.Datafit, spec.Penalty, spec.AlphaMax = s.statement.datafit, s.statement.penalty, s.statement.Form.Max
	if s.statement.unpenalised {
		spec.Free = s.statement.l1Factors
	}
	if spec.Criterion == nil {
		spec.Criterion = s.judge
	}
	return spec
}

// RidgeMax returns the αmax of a ridge with the squared loss.
func (s *separable) RidgeMax() float64 { return (&model.Null{Fit: s.fit}).RidgeMax() }

// StartAt makes the next solve start at the given coefficients of ascending columns.
func (s *separable) StartAt(columns []int32, coef []float64) {
	if len(columns) == 0 {
		return
	}
	s.ensureSolver()
	s.solver.MoveTo(columns, coef)
}

// StartNear makes the next solve start at a solution on another choice of the rows.
func (s *separable) StartNear(support []int32, coefficients []float64) {
	s.startNear(slices.Clone(support), slices.Clone(coefficients))
}

// startNear is StartNear for coefficients that may be overwritten.
func (s *separable) startNear(columns []int32, coef []float64) {
	toView(s.view(), columns, coef)
	s.StartAt(columns, coef)
}

// toView turns coefficients of X into those of a view.
func toView(view *sparse.View, columns []int32, coef []float64) {
	for k, j := range columns {
		if scale := view.Scale(int(j)); scale > 0 {
			coef[k] /= scale
		} else {
			coef[k] = 0
		}
	}
}

func (s *separable) view() *sparse.View { return s.fit.View() }

func (s *separable) dualErrorCost(_ *Solution, logLambda, off []float64) (share, objective float64, err error) {
	g, err := s.boundedPenalty(logLambda)
	if err != nil {
		return 0, 0, err
	}
	for j, v := range off {
		switch alpha := g.Alpha(j); {
		case g.Ridge() > 0:
			objective += v * v / (2 * g.Ridge())
		case v > 0:
			share = max(share, v/alpha)
		}
	}
	return share, objective, nil
}

// Judged returns the criterion on held-out rows.
func (s *separable) Judged() criterion.Criterion { return s.judge }

// Lanes implements [Distributable].
func (s *separable) Lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	return bilevel.NewLanes(s.statement.Kernels, x, s.statement.Y, s.completeSpec(spec))
}

// Over implements [Distributable].
func (s *separable) Over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (Outer, error) {
	return bilevel.NewOver(ctx, runner, s.completeSpec(spec))
}
