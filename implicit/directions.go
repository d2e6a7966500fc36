package implicit

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// forward solves A·J = B for hyperparameter i and appends ∂L/∂λᵢ = ∇C_SᵀJ.
func (s *Solver) forward(ctx context.Context, g model.Penalty, i int, at Point, outer Outer, opts Options) {
	g.Sensitivity(i, at.Support, at.Coef, s.rhs)
	value, off, left := s.pairedProduct(ctx, opts)
	s.out.Gradient = append(s.out.Gradient, value)
	s.out.Jacobian = append(s.out.Jacobian, s.x...)
	b, mu := s.errorTermsOf(g, at, outer), s.mu()
	h := s.norm(s.h)
	moved := s.scaled(s.x) * b.kappaOverEta * b.rho * math.Sqrt(b.eta) // JᵀK·A⁻¹ρ
	if s.curved == nil && opts.Motion == nil && float64(moved*math.Sqrt(mu)) <= negligible*off {
		off += float64(moved * math.Sqrt(mu))
	} else {
		s.k.Clear(s.u)
		s.predict(s.store, at.Support, s.x, s.u)
		if opts.Motion != nil {
			s.k.Copy(opts.Motion[i], s.u)
		}
		shift := s.interceptShift(outer)
		size := math.Sqrt(float64(h*h) + float64(shift*shift))
		off += float64(s.curvatureChange()*size*b.rho) + float64(s.roundedCurvature(b)*size*math.Sqrt(math.Abs(s.k.Dot(s.x, s.rhs))))
		s.applyCurvature(at, b.curvature)
		off += float64(s.norm(s.q) * b.rho)
		s.out.MotionNorm = math.Sqrt(max(0, s.k.Dot(s.x, s.q)))
		s.out.ErrorNorm = float64(math.Sqrt(s.k.MaxAbs(b.curvature)) * b.prediction)
		if b.rho > 0 {
			s.out.ErrorNorm += float64(math.Sqrt(b.kappaOverEta/mu) * b.rho)
		}
	}
	off /= mu
	if s.direct.ready {
		off += float64(b.kappaOverEta*left*b.rho) / mu // r_JᵀA⁻¹K·A⁻¹ρ
	}
	if ridge := g.Ridge(); ridge > 0 && g.OfRidge(i) {
		// B = −α₂β has the error −α₂A⁻¹ρ.
		off += float64(min(1/mu, ridge/(float64(b.eta*mu)*slices.Min(s.diag))) * h * b.rho)
		if b.rho > 0 {
			off += float64(b.kappaOverEta*b.rho*b.rho) / mu // the slope moves, too: α₂ρᵀA⁻¹K·A⁻²ρ
		}
	}
	s.out.ErrorBound = max(s.out.ErrorBound, off+s.slopeRounding(at, outer, s.x, b.prediction))
}

// adjoint solves A·v = ∇C_S, which serves all hyperparameters: ∂L/∂λᵢ = Bᵢᵀv. Under a weighted penalty column
// j has its own entry −αⱼ sign(βⱼ)vⱼ.
func (s *Solver) adjoint(ctx context.Context, g model.Penalty, at Point, outer Outer, opts Options) {
	copy(s.rhs, s.h)
	report := s.solve(ctx, opts)
	b := s.errorTermsOf(g, at, outer)
	b.residual = report.Residual
	off := b.residual
	if s.curved != nil {
		s.k.Clear(s.u)
		s.predict(s.store, at.Support, s.x, s.u)
		h, shift := s.norm(s.h), s.interceptShift(outer)
		off += float64((s.curvatureChange()+s.interceptTilt(outer))*b.rho) + float64(s.roundedCurvature(b)*math.Sqrt(float64(h*h)+float64(shift*shift)))
	}
	rounding := s.slopeRounding(at, outer, s.x, b.prediction)
	drift := s.criterionDrift(ctx, at, b, opts)
	off += drift
	mu := s.mu()
	if s.weighted(g) {
		s.appendGradient(g, at)
		s.out.ErrorBound = float64(s.largest(s.h)*off)/mu + rounding
		return
	}
	for i := range g.Hyperparameters() {
		g.Sensitivity(i, at.Support, at.Coef, s.h)
		s.out.Gradient = append(s.out.Gradient, s.k.Dot(s.h, s.x))
		bound := float64(s.norm(s.h)*off)/mu + rounding
		if i == 1 { // B = −α₂β has the error −α₂A⁻¹ρ
			for k, d := range s.diag {
				s.q[k] = math.Sqrt(g.Ridge()/d) * s.x[k]
			}
			bound += math.Sqrt(g.Ridge()) * s.k.Nrm2(s.q) * b.rho / math.Sqrt(b.eta*mu)
			bound += float64(drift*b.rho) / mu // the slope moves, too: α₂ρᵀA⁻¹K·A⁻²ρ
		}
		s.out.ErrorBound = max(s.out.ErrorBound, bound)
	}
}

// scaled returns ‖D^½v‖.
func (s *Solver) scaled(v []float64) float64 {
	var sum float64
	for k, d := range s.diag {
		sum = math.FMA(d*v[k], v[k], sum)
	}
	return math.Sqrt(sum)
}

// largest returns an upper bound of the largest ‖vₖeₖ‖ in the norm of the last solve.
func (s *Solver) largest(v []float64) (norm float64) {
	switch {
	case s.direct.ready:
		for k, x := range v {
			norm = max(norm, math.Abs(x)*math.Sqrt(s.direct.inverseAt(k)))
		}
	case s.system.Factorised():
		return s.norm(v)
	default:
		for k, x := range v {
			norm = max(norm, math.Abs(x)/math.Sqrt(s.diag[k]))
		}
	}
	return norm
}

// solve sets x to the solution for the right-hand side rhs and updates the result's margin and status.
func (s *Solver) solve(ctx context.Context, opts Options) support.Report {
	clear(s.x)
	s.ritz = [2]float64{1, 1}
	report := s.solveSystem(ctx, s.rhs, s.x, opts.Tol, opts)
	s.updateStatus(ctx, report)
	return report
}

// updateStatus updates the result's margin and status from the report on a system.
func (s *Solver) updateStatus(ctx context.Context, report support.Report) {
	out := &s.out
	margin := s.ritz[0] / s.ritz[1]
	if s.direct.ready {
		margin = s.eta()
	}
	out.InjectivityMargin = min(out.InjectivityMargin, margin)
	switch {
	case ctx.Err() != nil && !report.Converged:
		out.Status = outcome.Cancelled
	case !(margin > singular):
		out.Status = outcome.NotDifferentiable
	case !report.Converged && out.Status == outcome.Converged:
		out.Status = outcome.LinearSystemStalled
	}
}

// solveSystem solves A·x = b from x = 0, by the factor where there is one, else by conjugate gradients, which
// start from a solution on the rows or on the Gram matrix if there is one. It widens the range of Ritz
// values.
func (s *Solver) solveSystem(ctx context.Context, b, x []float64, tol float64, opts Options) (report support.Report) {
	if s.direct.ready {
		report = s.refine(b, x, tol)
		report.Converged = report.Converged && ctx.Err() == nil
		return report
	}
	if s.rows.ready {
		s.rows.system.Solve(b, x)
		s.ritz[0] = min(s.ritz[0], s.rows.least)
	}
	if s.onGram {
		// The solution on the Gram matrix is the start: the solve below begins with its residual on X, and
		// mostly ends there.
		report = s.cg.Solve(ctx, &s.dense, b, x, gramShare*tol, opts.MaxIterations)
		s.countIterations(report)
	}
	report = s.system.Solve(ctx, &s.cg, b, x, tol, opts.MaxIterations)
	report.Residual += s.residualRounding(s.support, b, x)
	s.countIterations(report)
	return report
}

// countIterations counts the iterations of a solve and widens the range of Ritz values.
func (s *Solver) countIterations(report support.Report) {
	if report.Iterations > 0 {
		s.out.Iterations += report.Iterations
		least, most := s.cg.Ritz()
		s.ritz = [2]float64{min(s.ritz[0], least), max(s.ritz[1], most)}
	}
}
