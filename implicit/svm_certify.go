package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/support"
)

// Certify proves what it can of the exact solution of the dual problem of C = e^logC, from ‖w − ŵ‖² ≤ gap.
// Sample i is at 0 if mᵢ − ‖xᵢ‖√gap > 1, and at Cᵢ if mᵢ + ‖xᵢ‖√gap < 1. Where that settles all samples but
// the free samples F, and Q_FF is positive definite, i is free if βᵢ is further than √(gap·(Q_FF⁻¹)ᵢᵢ) from
// both ends of its box. Certify makes a pass over X, unless the point has its predictions, and factorises
// Q_FF.
//
// In the certificate, Unique refers to β (w is always unique), Dependent to the samples of F, and DualMargin
// is min |1 − mᵢ| over the samples at a bound, 1 where there are none.
func (s *SVM) Certify(ctx context.Context, logC float64, at SVMPoint) (Certificate, error) {
	c, err := s.fit.Strength(logC)
	if err != nil {
		return Certificate{}, err
	}
	if err := s.setPoint(c, at); err != nil {
		return Certificate{}, err
	}
	s.out.DegeneracyMargin = math.Inf(1)
	dual := s.optimality(at)
	out := Certificate{Gap: dual.Gap(), KKT: dual.KKT(), DualMargin: s.out.DegeneracyMargin}
	if math.IsInf(out.DualMargin, 1) {
		out.DualMargin = 1
	}
	gap := out.Gap + float64(roundingGap*s.fit.Null(c))
	radius := math.Sqrt(gap)
	for i, bound := range s.bound {
		reach := float64(radius * math.Sqrt(s.fit.Square(i)))
		switch {
		case bound == 0:
		case s.beta[i] == 0:
			if !(s.margins[i]-reach > 1) {
				out.Undecided++
			}
		case s.beta[i] == bound:
			if !(s.margins[i]+reach < 1) {
				out.Undecided++
			}
		}
	}
	size := len(s.samples)
	if size > largestProof || ctx.Err() != nil {
		out.Undecided += size
		return out, nil
	}
	// In the variables yᵢvᵢ, which have the same (Q_FF⁻¹)ᵢᵢ.
	q := make([]float64, size*size)
	s.system.Take(s.fit.Samples(), s.samples)
	s.system.Gram(q)
	if support.Cholesky(s.k, q, size) < size {
		out.Dependent = true
		out.Undecided += size
		return out, nil
	}
	// While a sample is undecided the error of β may have entries outside F.
	settled := out.Undecided == 0
	for k, i := range s.samples {
		clear(s.x)
		s.x[k] = 1
		support.CholeskySolve(s.k, q, size, s.x)
		reach := math.Sqrt(gap * s.x[k])
		if b := s.beta[i]; !settled || !(b > reach && s.bound[i]-b > reach) {
			out.Undecided++
		}
	}
	out.Unique, out.Support = settled, out.Undecided == 0
	return out, nil
}
