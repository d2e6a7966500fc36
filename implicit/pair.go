package implicit

import (
	"context"
	"math"
)

// pair is v, near A⁻¹h, h = ∇C_S, beside the Jacobian J, near A⁻¹B. With what is left of
// either, r_v = h − A·v and r_J = B − A·J,
//
//	hᵀA⁻¹B = vᵀB + r_vᵀJ + r_vᵀA⁻¹r_J,
//
// and the last term is no more than ‖r_v‖‖r_J‖/μ. So each may be solved to the root of the
// tolerance. What rounding adds to r_v is not halved: it meets J itself, as ‖δr_v‖‖B‖/μ. Where
// the J of several hyperparameters are wanted, one system more to half of the digits takes fewer
// iterations than the other half of all the others.
type pair struct {
	v, left   []float64 // v, r_v
	known     bool
	remaining float64 // ‖r_v‖
	rounding  float64 // of it
}

// halve returns the tolerance of each system of a pair.
func halve(tol float64) float64 { return math.Sqrt(tol) }

// mirror solves for v. Next to no ridge may leave A singular to rounding and h outside of its range:
// v is not known then, and J alone serves.
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

// product solves A·J = B, B in rhs and J in x. It returns hᵀA⁻¹B, how far that may be off
// times μ, and ‖r_J‖.
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
