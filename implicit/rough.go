package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// roughGradient computes the gradient alone, see [Options].Rough.
func (s *Solver) roughGradient(ctx context.Context, g model.Penalty, at Point, opts Options) {
	out := &s.out
	out.Status, out.Bound, out.ErrorBound, out.InjectivityMargin = outcome.SupportUncertified, Estimated, math.Inf(1), 0
	solve := func() {
		if report := s.approximate(ctx, opts); !report.Converged {
			out.Status = outcome.LinearSystemStalled
		}
	}
	if s.usesAdjoint(g, opts) {
		copy(s.rhs, s.h)
		solve()
		s.appendGradient(g, at)
		return
	}
	for i := range g.Hyperparameters() {
		g.Sensitivity(i, at.Support, at.Coef, s.rhs)
		solve()
		out.Gradient = append(out.Gradient, s.k.Dot(s.h, s.x))
		out.Jacobian = append(out.Jacobian, s.x...)
		if opts.Motion != nil {
			s.predict(s.store, at.Support, s.x, opts.Motion[i])
		}
	}
}

// usesAdjoint reports whether one system, for the adjoint A⁻¹∇C_S, replaces one for each hyperparameter.
func (s *Solver) usesAdjoint(g model.Penalty, opts Options) bool {
	return s.weighted(g) || g.Hyperparameters() > 1 && opts.Motion == nil
}

// appendGradient appends ∂L/∂λᵢ = Bᵢᵀv for the adjoint v in x; for a weighted penalty, one entry for each
// column of the support.
func (s *Solver) appendGradient(g model.Penalty, at Point) {
	for i := range g.Hyperparameters() {
		g.Sensitivity(i, at.Support, at.Coef, s.h)
		if s.weighted(g) {
			for k, h := range s.h {
				s.out.Gradient = append(s.out.Gradient, h*s.x[k])
			}
			return
		}
		s.out.Gradient = append(s.out.Gradient, s.k.Dot(s.h, s.x))
	}
}

// approximate sets x to the solution for rhs, by the factor, the Gram matrix, the rows or the packed columns: the
// first of these that is ready.
func (s *Solver) approximate(ctx context.Context, opts Options) (report support.Report) {
	clear(s.x)
	switch {
	case s.direct.ready:
		s.direct.solve(s.rhs, s.x)
		return support.Report{Converged: true}
	case s.onGram:
		report = s.cg.Solve(ctx, &s.dense, s.rhs, s.x, opts.Tol, opts.MaxIterations)
	case s.rows.ready:
		s.rows.system.Solve(s.rhs, s.x)
		return support.Report{Converged: true}
	default:
		report = s.system.Solve(ctx, &s.cg, s.rhs, s.x, opts.Tol, opts.MaxIterations)
	}
	s.out.Iterations += report.Iterations
	return report
}
