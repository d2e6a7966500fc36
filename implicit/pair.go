package implicit

import (
	"context"
	"math"
)

// pair holds v ≈ A⁻¹h, h = ∇C_S, the companion of the Jacobian J ≈ A⁻¹B. With the residuals r_v = h − A·v and
// r_J = B − A·J,
//
//	hᵀA⁻¹B = vᵀB + r_vᵀJ + r_vᵀA⁻¹r_J,
//
// where the last term is at most ‖r_v‖‖r_J‖/μ. So each system may be solved to the square root of the
// tolerance. The rounding of r_v does not benefit: its effect is ‖δr_v‖‖B‖/μ. Where the J of several
// hyperparameters are wanted, one more system to half of the digits takes fewer iterations than the other
// half of the digits of all the others.
type pair struct {
	v, left   []float64 // v, r_v
	known     bool
	remaining float64 // ‖r_v‖
	rounding  float64 // the rounding of r_v
}

// halve returns the tolerance of each system of a pair.
func halve(tol float64) float64 { return math.Sqrt(tol) }

// mirror solves for v. A tiny ridge may leave A singular to rounding, with h outside its range: v is then not
// known, and J alone is used.
func (s *Solver) mirror(ctx context.Context, opts Options) {
	p, size := &s.pair, len(s.h)
	p.v, p.left = resize(p.v, size), resize(p.left, size)
	clear(p.v)
	s.ritz = [2]float64{1, 1}
	report := s.improve(ctx, s.h, p.v, halve(opts.Tol), opts)
	if p.known = report.Converged; p.known {
		p.remaining, p.rounding = report.Residual, s.residualRounding(s.listed, s.h, p.v)
		s.system.Remainder(s.h, p.v, p.left)
	}
}

// product solves A·J = B, B in rhs and J in x. It returns hᵀA⁻¹B, its error bound times μ, and ‖r_J‖.
func (s *Solver) product(ctx context.Context, opts Options) (value, off, left float64) {
	p := &s.pair
	if !p.known {
		report := s.solve(ctx, opts)
		return s.k.Dot(s.h, s.x), s.norm(s.h) * report.Residual, report.Residual
	}
	clear(s.x)
	report := s.improve(ctx, s.rhs, s.x, halve(opts.Tol), opts)
	s.judge(ctx, report)
	return s.k.Dot(p.v, s.rhs) + s.k.Dot(p.left, s.x), float64(p.remaining*report.Residual) + float64(p.rounding*s.norm(s.rhs)), report.Residual
}
