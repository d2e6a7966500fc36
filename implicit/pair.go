package implicit

import (
	"context"
	"math"
)

// adjointPair holds v ≈ A⁻¹h, h = ∇C_S, the companion of the Jacobian J ≈ A⁻¹B. With the residuals r_v = h − A·v and
// r_J = B − A·J,
//
//	hᵀA⁻¹B = vᵀB + r_vᵀJ + r_vᵀA⁻¹r_J,
//
// where the last term is at most ‖r_v‖‖r_J‖/μ. So each system may be solved to the square root of the
// tolerance. The rounding of r_v does not benefit: its effect is ‖δr_v‖‖B‖/μ. Where the J of several
// hyperparameters are wanted, one more system to half of the digits takes fewer iterations than the other
// half of the digits of all the others.
type adjointPair struct {
	v, residual  []float64 // v, r_v
	solved       bool
	residualNorm float64 // ‖r_v‖
	rounding     float64 // the rounding of r_v
}

// halfDigits returns the tolerance of each system of a pair.
func halfDigits(tol float64) float64 { return math.Sqrt(tol) }

// solveAdjoint solves for v. A tiny ridge may leave A singular to rounding, with h outside its range: v is then not
// known, and J alone is used.
func (s *Solver) solveAdjoint(ctx context.Context, opts Options) {
	p, size := &s.pair, len(s.h)
	p.v, p.residual = resize(p.v, size), resize(p.residual, size)
	clear(p.v)
	s.ritz = [2]float64{1, 1}
	report := s.solveSystem(ctx, s.h, p.v, halfDigits(opts.Tol), opts)
	if p.solved = report.Converged; p.solved {
		p.residualNorm, p.rounding = report.Residual, s.residualRounding(s.support, s.h, p.v)
		s.system.Remainder(s.h, p.v, p.residual)
	}
}

// pairedProduct solves A·J = B, B in rhs and J in x. It returns hᵀA⁻¹B, its error bound times μ, and ‖r_J‖.
func (s *Solver) pairedProduct(ctx context.Context, opts Options) (value, off, left float64) {
	p := &s.pair
	if !p.solved {
		report := s.solve(ctx, opts)
		return s.k.Dot(s.h, s.x), s.norm(s.h) * report.Residual, report.Residual
	}
	clear(s.x)
	report := s.solveSystem(ctx, s.rhs, s.x, halfDigits(opts.Tol), opts)
	s.updateStatus(ctx, report)
	return s.k.Dot(p.v, s.rhs) + s.k.Dot(p.residual, s.x), float64(p.residualNorm*report.Residual) + float64(p.rounding*s.norm(s.rhs)), report.Residual
}
