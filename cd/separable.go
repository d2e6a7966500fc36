package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Separable solves for penalties that are known by their proximal operator alone, a
// coefficient at a time in Go:
//
//	βⱼ ← prox_{gⱼ/Lⱼ}(βⱼ + zⱼ/Lⱼ),  z = −∇f,
//
// which never raises the objective. A sweep over all columns finds those that want to
// move, sweeps over these follow. There is no duality gap: what is certified is that the
// point is stationary, by the optimality conditions of every column. With a penalty that is
// not convex it may be one of several such points, and which one depends on the start. It
// is not safe for concurrent use.
type Separable struct {
	fit    model.Datafit
	curved model.Curved // fit where its curvature varies, else nil
	view   *sparse.View
	state  *model.State
	bound  float64   // of ℓ″
	beta   []float64 // by column
	order  []int32   // columns with entries
	scale  float64   // max |zⱼ| of the null model
}

// Stationary is a point at which the optimality conditions have been checked. Its slices
// belong to the solver and change with its next call.
type Stationary struct {
	Beta           []float64 // by column
	Intercept      float64   // 0 where the view is not centred
	State          *model.State
	Objective      float64
	Violation      float64        // max over columns of [model.Separable].Stationarity, all computed from X
	outcome.Effort                // sweeps over some columns, passes over all
	Status         outcome.Status // Stationary, NotConverged or Cancelled
}

// NewSeparable returns a solver, at β = 0. The error is an [outcome.Error] of kind Usage
// for a loss whose curvature has no bound: steps are one over it.
func NewSeparable(fit model.Datafit) (*Separable, error) {
	bound, ok := fit.Smoothness()
	if !ok {
		return nil, outcome.Errorf(outcome.Usage, "a penalty that is known by its prox takes steps of 1/L, and the curvature of the loss has no bound L")
	}
	null := model.NewNull(fit)
	_, p := fit.View().Dims()
	s := &Separable{fit: fit, view: fit.View(), state: null.State, bound: bound, beta: make([]float64, p), order: fit.View().Matrix().Order()}
	s.curved, _ = fit.(model.Curved)
	for _, c := range null.Correlation {
		s.scale = max(s.scale, math.Abs(c)/s.view.Total())
	}
	return s, nil
}

// Start makes the next Solve begin at these coefficients, by column.
func (s *Separable) Start(beta []float64) { copy(s.beta, beta) }

// Solve minimises f + g from the last solution until no column violates its optimality
// condition by more than Tol times the largest |zⱼ| of the null model. Of the options it
// has Tol and MaxEpochs. The error is an [outcome.Error] about them or the penalty.
func (s *Separable) Solve(ctx context.Context, g model.Separable, opts Options) (*Stationary, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	longest := 0.0
	for _, j := range s.order {
		if l := s.lipschitz(j); l > 0 {
			longest = max(longest, 1/l)
		}
	}
	if err := model.CheckStep(g, longest); err != nil {
		return nil, err
	}
	out := &Stationary{Beta: s.beta, State: s.state}
	for {
		s.refit()
		var active []int32
		out.Violation = 0
		for _, j := range s.order {
			lack := g.Stationarity(int(j), s.beta[j], s.correlation(j))
			out.Violation = max(out.Violation, lack)
			if s.beta[j] != 0 || lack > 0 {
				active = append(active, j)
			}
		}
		out.Passes++
		switch {
		case out.Violation <= opts.Tol*s.scale:
			out.Status = outcome.Stationary
		case ctx.Err() != nil:
			out.Status = outcome.Cancelled
		case out.Epochs >= opts.MaxEpochs:
			out.Status = outcome.NotConverged
		default:
			s.settle(ctx, g, active, 0.1*opts.Tol*s.scale, opts.MaxEpochs, out)
			continue
		}
		s.finish(g, out)
		return out, nil
	}
}

// settle sweeps some columns until none of them violates its condition by more than tol.
func (s *Separable) settle(ctx context.Context, g model.Separable, columns []int32, tol float64, most int, out *Stationary) {
	for out.Epochs < most && ctx.Err() == nil {
		out.Epochs++
		worst := 0.0
		for _, j := range columns {
			l := s.lipschitz(j)
			if l == 0 {
				continue
			}
			z := s.correlation(j)
			worst = max(worst, g.Stationarity(int(j), s.beta[j], z))
			next, _ := g.Prox(int(j), s.beta[j]+z/l, 1/l)
			s.move(j, next-s.beta[j])
			s.beta[j] = next
		}
		if worst <= tol {
			return
		}
	}
}

// lipschitz returns Lⱼ.
func (s *Separable) lipschitz(j int32) float64 {
	norm := s.view.Norm(int(j))
	return s.bound * norm * norm / s.view.Total()
}

// correlation returns zⱼ.
func (s *Separable) correlation(j int32) float64 {
	return s.view.Dot(int(j), s.state.Weighted) / s.view.Total()
}

// move moves the state with the coefficient of a column.
func (s *Separable) move(j int32, d float64) {
	switch {
	case d == 0:
	case s.curved != nil:
		s.view.AddColumns([]int32{j}, []float64{d}, s.state.Linear)
		s.curved.Move(s.state, s.state)
	default:
		s.view.AddColumns([]int32{j}, []float64{-d}, s.state.Residual)
		s.view.Weigh(s.state.Residual, s.state.Weighted)
	}
}

// refit makes the state that of the coefficients, from X.
func (s *Separable) refit() {
	cols, coef := s.support()
	s.fit.Fit(cols, coef, s.state)
}

func (s *Separable) support() (cols []int32, coef []float64) {
	for j, b := range s.beta {
		if b != 0 {
			cols, coef = append(cols, int32(j)), append(coef, b)
		}
	}
	return cols, coef
}

// finish sets what the result says of the point.
func (s *Separable) finish(g model.Separable, out *Stationary) {
	cols, coef := s.support()
	out.Intercept = s.state.UncentredIntercept(s.view, cols, coef)
	out.Objective = s.state.Loss
	for k, j := range cols {
		out.Objective += g.Value(int(j), coef[k])
	}
}
