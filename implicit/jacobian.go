package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// JVP returns J·w on the support: the derivative of β_S when λ moves along w.
// direction has one entry per hyperparameter; for a weighted penalty one per
// column of the support. The status is that of the linear solve.
func (s *Solver) JVP(ctx context.Context, g model.Penalty, at Point, direction []float64, opts Options) ([]float64, outcome.Status, error) {
	at = at.withoutBound(g)
	if err := s.setUp(g, at, &opts); err != nil {
		return nil, "", err
	}
	if want := s.coordinates(g, at); len(direction) != want {
		return nil, "", outcome.Errorf(outcome.Shape, "the direction has %d entries for %d hyperparameters", len(direction), want)
	}
	s.combine(g, at, direction)
	s.solve(ctx, opts)
	return append([]float64(nil), s.x...), s.out.Status, nil
}

// VJP returns Jᵀ·w for a vector w over the support: one entry per
// hyperparameter, or for a weighted penalty one per column of the support.
func (s *Solver) VJP(ctx context.Context, g model.Penalty, at Point, w []float64, opts Options) ([]float64, outcome.Status, error) {
	at = at.withoutBound(g)
	if err := s.setUp(g, at, &opts); err != nil {
		return nil, "", err
	}
	if len(w) != len(at.Support) {
		return nil, "", outcome.Errorf(outcome.Shape, "the vector has %d entries for a support of %d", len(w), len(at.Support))
	}
	copy(s.rhs, w)
	s.solve(ctx, opts)
	return s.pullBack(g, at, s.x), s.out.Status, nil
}

// HVP returns the product of ∂²L/∂λ² with a direction w, laid out as for
// [Solver.JVP], where the support does not change: with v = A⁻¹∇_S C,
//
//	Jᵀ(∇²C·J·w − (∂A/∂w)·v) + (∂B/∂w)ᵀv.
//
// It is the curvature between two knots of the path only. On real data knots add as much again, so that
// searches do better with slopes at two iterates.
func (s *Solver) HVP(ctx context.Context, g model.Penalty, at Point, outer Outer, direction []float64, opts Options) ([]float64, outcome.Status, error) {
	n, _ := s.view.Dims()
	if len(outer.Slope) != n || len(outer.Curvature) != n {
		return nil, "", outcome.Errorf(outcome.Shape, "slope and curvature must have one entry for each of the %d rows", n)
	}
	at = at.withoutBound(g)
	if err := s.setUp(g, at, &opts); err != nil {
		return nil, "", err
	}
	if want := s.coordinates(g, at); len(direction) != want {
		return nil, "", outcome.Errorf(outcome.Shape, "the direction has %d entries for %d hyperparameters", len(direction), want)
	}
	// v = A⁻¹∇_S C, and what it predicts.
	copy(s.rhs, s.projected(at, outer.Slope))
	s.solve(ctx, opts)
	v := append([]float64(nil), s.x...)
	predictV := make([]float64, n)
	s.predict(s.store, at.Support, v, predictV)
	if s.curved != nil && s.view.Centred() {
		// v_b = ∂_bC/Σd − x̄ᵀv; Predict has −x̄ᵀv already.
		var slope, total float64
		for i, d := range s.d {
			total += d
			slope += outer.Slope[i]
		}
		shift := slope * s.view.Total() / total
		for i := range predictV {
			predictV[i] += shift
		}
	}
	// u = X̃_S·J·w.
	s.combine(g, at, direction)
	s.solve(ctx, opts)
	moved := append([]float64(nil), s.x...)
	u := make([]float64, n)
	s.predict(s.store, at.Support, moved, u)
	// The right-hand side of the pull-back: how ∇C and A change along w.
	thirds := make([]float64, n)
	if s.curved != nil {
		s.curved.Third(s.state, thirds)
	}
	for i, third := range thirds {
		predictV[i] = (outer.Curvature[i] - float64(third*predictV[i]/s.view.Total())) * u[i]
	}
	rhs := s.projected(at, predictV)
	last := len(direction) - 1 // the index of the ridge, where there is one
	ridge := 0.0               // ∂A/∂w = ridge·I
	if g.Ridge() > 0 {
		ridge = g.Ridge() * direction[last]
	}
	for k := range rhs {
		rhs[k] = math.FMA(-ridge, v[k], rhs[k])
	}
	copy(s.rhs, rhs)
	s.solve(ctx, opts)
	out := s.pullBack(g, at, s.x)
	// The dependence of B itself: ∂B_i/∂λ_i = B_i, and the ridge's B₂ = −α₂β moves with β.
	for i, own := range s.pullBack(g, at, v) {
		out[i] = math.FMA(own, direction[i], out[i])
	}
	if g.Ridge() > 0 {
		out[last] = math.FMA(-g.Ridge(), s.k.Dot(v, moved), out[last])
	}
	return out, s.out.Status, nil
}

func (s *Solver) weighted(g model.Penalty) bool { return g.PerColumn() }

// coordinates returns the number of entries of a direction in λ.
func (s *Solver) coordinates(g model.Penalty, at Point) int {
	if s.weighted(g) {
		return len(at.Support)
	}
	return g.Hyperparameters()
}

// combine sets rhs = B·w.
func (s *Solver) combine(g model.Penalty, at Point, w []float64) {
	if s.weighted(g) {
		g.Sensitivity(0, at.Support, at.Coef, s.rhs)
		for k := range s.rhs {
			s.rhs[k] *= w[k]
		}
		return
	}
	clear(s.rhs)
	for i, factor := range w {
		g.Sensitivity(i, at.Support, at.Coef, s.res)
		s.k.Axpy(factor, s.res, s.rhs)
	}
}

// pullBack returns Bᵀ·v, laid out like a direction.
func (s *Solver) pullBack(g model.Penalty, at Point, v []float64) []float64 {
	out := make([]float64, s.coordinates(g, at))
	if s.weighted(g) {
		g.Sensitivity(0, at.Support, at.Coef, s.res)
		for k := range out {
			out[k] = s.res[k] * v[k]
		}
		return out
	}
	for i := range out {
		g.Sensitivity(i, at.Support, at.Coef, s.res)
		out[i] = s.k.Dot(s.res, v)
	}
	return out
}

// projected returns X̃_Sᵀg for a vector over the rows.
func (s *Solver) projected(at Point, g []float64) []float64 {
	out := make([]float64, len(at.Support))
	s.project(at.Support, g, out)
	return out
}
