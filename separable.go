package pare

import (
	"context"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// separable is the inner problem of a model with one predictor and a separable penalty.
type separable struct {
	engine *engine
	fit    model.Datafit
	judge  criterion.Criterion // on held-out rows
	zero   *model.Null         // the null model; nil before it is asked for, and once the solver has taken it over
	solver *cd.Solver          // nil before the first solve
	stated []float64           // the λ's of the last penalty made
	last   model.Penalty
	top    []float64 // nil before it is asked for
	box    *model.Box
}

func newSeparable(e *engine) (problem, error) {
	view, err := e.view()
	if err != nil {
		return nil, err
	}
	s := &separable{engine: e, box: e.box.In(view)}
	if s.fit, err = e.datafit(view, e.y); err != nil {
		return nil, err
	}
	bound, err := loss.Bind(e.family.loss, e.y, view.Weights(), view.Centred())
	if err != nil {
		return nil, err
	}
	s.judge = e.family.judge(bound)
	if e.unpenalised {
		_, released, err := cd.NewReleased(context.Background(), model.NewNull(s.fit), e.weighing, e.solver())
		if err != nil {
			return nil, err
		}
		s.setMax(released)
	}
	return s, nil
}

// datafit makes the datafit of a view.
func (e *engine) datafit(view *sparse.View, y []float64) (model.Datafit, error) {
	return model.NewOffset(view, y, e.config.Offset, e.family.loss)
}

// null implements [anchored].
func (s *separable) null() float64 { return s.fit.Null() }

// start implements [problem].
func (s *separable) start() float64 { return s.engine.shareOfMax() }

// shareOfMax returns the first share of αmax.
func (e *engine) shareOfMax() float64 {
	if _, dense := e.x.(*sparse.Dense); dense {
		if n, p := e.x.Dims(); n < p {
			return 0.1
		}
	}
	return 0.01
}

// max makes a pass over X the first time, which a solve afterwards begins with.
func (s *separable) max() []float64 {
	if s.top == nil {
		s.setMax(s.nullModel())
	}
	return s.top
}

func (s *separable) setMax(null *model.Null) {
	s.top = slices.Repeat([]float64{kernels.Log(s.engine.family.max(null.Within(s.box)))}, s.engine.hyperparameters)
}

// nullModel returns the null model, without columns.
func (s *separable) nullModel() *model.Null {
	if s.zero == nil {
		s.zero = model.NewNull(s.fit)
	}
	return s.zero
}

func (s *separable) accepts(logLambda []float64) error {
	_, err := s.strengths(logLambda)
	return err
}

// strengths returns the penalty of the λ's. A penalty with a strength for each column is
// expensive to build, so the last one is kept.
func (s *separable) strengths(logLambda []float64) (model.Penalty, error) {
	if s.stated != nil && slices.Equal(s.stated, logLambda) {
		return s.last, nil
	}
	g, err := s.engine.family.penalty(logLambda)
	if err == nil {
		g, err = g.Within(s.box)
	}
	if err == nil {
		s.stated, s.last = append(s.stated[:0], logLambda...), g
	}
	return g, err
}

func (s *separable) solve(ctx context.Context, logLambda []float64) (*Fitted, error) {
	penalty, err := s.strengths(logLambda)
	if err != nil {
		return nil, err
	}
	defer s.engine.turn(ctx)()
	s.begin()
	solution, err := s.solver.Solve(ctx, penalty, s.engine.solver())
	if err != nil {
		return nil, err
	}
	return s.engine.newFitted(ctx, s.fit, s.solver, penalty, solution)
}

// begin makes the solver, at the null model.
func (s *separable) begin() {
	switch {
	case s.solver != nil:
	case s.engine.reused != nil: // to restart from
		s.max()
		s.solver = cd.NewFrom(s.nullModel().Clone())
	default:
		s.max()
		s.solver, s.zero = cd.NewFrom(s.nullModel()), nil
	}
}

// restart implements [problem].
func (s *separable) restart() {
	if s.solver != nil {
		s.solver.Restart(s.zero)
	}
}

// newFitted copies a solution, its coefficients those of the matrix behind the view,
// and proves what it can of it if asked to.
func (e *engine) newFitted(ctx context.Context, fit model.Datafit, solver *cd.Solver, g model.Penalty, s *cd.Solution) (*Fitted, error) {
	out := e.blank()
	out.Support, out.Coef = append(out.Support, s.Support...), append(out.Coef, s.Coef...)
	for k, j := range s.Support {
		out.Coef[k] *= fit.View().Scale(int(j))
		if g.Held(int(j), s.Coef[k]) {
			out.Coef[k] = e.config.bound(int(j), out.Coef[k])
			out.Bound++
		}
	}
	out.Intercept, out.Objective = s.Intercept, s.Objective
	out.Certificate, out.Effort, out.Status = s.Certificate, s.Effort, s.Status
	if g.Ridge() > 0 { // ½α₂‖β‖² is strictly convex
		out.Unique = e.proved()
	}
	if !e.config.Certify || s.Status == outcome.Cancelled {
		return out, nil
	}
	began := time.Now()
	c, err := implicit.NewSharing(fit, solver.Cache()).Certify(ctx, g, implicit.Point{Support: s.Support, Coef: s.Coef, State: s.State})
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

func (s *separable) outer(spec bilevel.Spec) (outer, error) {
	if by := s.engine.leftOut; by != "" {
		return newLeftOut(s, by)
	}
	return s.on(s.engine.x, spec)
}

// on states the choice of λ for another matrix of the same rows.
func (s *separable) on(x sparse.Matrix, spec bilevel.Spec) (outer, error) {
	return bilevel.New(s.engine.k, x, s.engine.y, s.complete(spec))
}

// complete adds to a spec what is particular to the model.
func (s *separable) complete(spec bilevel.Spec) bilevel.Spec {
	spec.Datafit, spec.Penalty, spec.AlphaMax = s.engine.datafit, s.engine.family.penalty, s.engine.family.max
	if s.engine.unpenalised {
		spec.Free = s.engine.weighing
	}
	if spec.Criterion == nil {
		spec.Criterion = s.judge
	}
	return spec
}

// ridgeMax returns the αmax of a ridge beside the squared loss.
func (s *separable) ridgeMax() float64 { return (&model.Null{Fit: s.fit}).RidgeMax() }

// startAt makes the next solve begin at these coefficients, of ascending columns.
func (s *separable) startAt(columns []int32, coef []float64) {
	if len(columns) == 0 {
		return
	}
	s.begin()
	s.solver.MoveTo(columns, coef)
}

// startNear makes the next solve begin at a solution of another choice of the rows.
func (s *separable) startNear(f *Fitted) {
	columns, coef := slices.Clone(f.Support), slices.Clone(f.Coef)
	for k, j := range columns {
		if scale := s.fit.View().Scale(int(j)); scale > 0 {
			coef[k] /= scale
		} else {
			coef[k] = 0
		}
	}
	s.startAt(columns, coef)
}

// judged returns the criterion on held-out rows.
func (s *separable) judged() criterion.Criterion { return s.judge }
