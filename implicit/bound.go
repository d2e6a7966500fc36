package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// What a gradient is worth. At the exact solution β + δβ, δβ = A⁻¹ρ to first order, ρ what
// the optimality conditions lack on the support, the criterion's slope on it is that at β
// plus K·δβ, K = X̃_Sᵀdiag(C″)X̃_S. With r what the linear solve left of its right-hand
// side the gradient ∇Cᵀ_S·A⁻¹B is off by
//
//	hᵀA⁻¹r + JᵀK·A⁻¹ρ,  h = ∇C_S, J = A⁻¹B solved for; or
//	Bᵀ(A⁻¹r + A⁻¹K·A⁻¹ρ),  v = A⁻¹h solved for
//
// and by what B and A themselves move with β. All is bounded by |aᵀA⁻¹b| ≤ ‖a‖‖b‖/μ, in
// the norms of the last solve: ‖a‖² = aᵀM⁻¹a, μ the smallest eigenvalue of M^-½AM^-½.
//
// K·A⁻¹ρ takes a system or, with J, two passes over the columns of the support. Solvers end
// with Newton steps, after which ρ is next to nothing, and what is known of K serves:
//
//	K ≼ κD,  D = diag A, κ the trace of D^-½KD^-½ or more
//	ηD ≼ A,  η = μ where M = D, or α₂/max D

// negligible is the share of what the linear solve leaves that ρ may be said to add by κ.
const negligible = 0.25

// safety divides what Ritz values say of the smallest eigenvalue, which they approach from
// above. Of 2,900 gradients of the hunt made without factors none was outside its bound.
const (
	safety        = 10
	fewIterations = 20
)

// mu returns the μ of the last solve: proved where the system was factorised.
func (s *Solver) mu() float64 {
	switch {
	case s.direct.ready:
		return s.direct.sure
	case s.system.Factorised():
		return s.ritz[0] / safety
	case s.ridge > 0 && s.out.Iterations < min(len(s.diag), fewIterations):
		return s.ridge // Ritz values of a few steps say nothing of the smallest eigenvalue
	default:
		return max(s.ritz[0]/safety, s.ridge)
	}
}

// least returns η without a ridge: that of the factor, or μ where M = D, 0 where it is not
// known.
func (s *Solver) least() float64 {
	switch {
	case s.direct.ready:
		return s.direct.least * s.direct.sure
	case s.system.Factorised():
		return 0
	default:
		return s.mu()
	}
}

// errorTerms are what a gradient is off by, and how far that may reach.
type errorTerms struct {
	residual, rho float64 // ‖r‖ of the adjoint, ‖ρ‖, rounding included
	prediction    float64 // how far predictions may be off by rounding
	reach         float64 // κ/η; +Inf where η is not known
	least         float64 // η
	jumps         float64 // the share by which A may change at once, see jumps.go
	curvature     []float64
}

// errorTermsOf returns the lacks of a point after a solve.
func (s *Solver) errorTermsOf(g model.Penalty, at Point, outer Outer) errorTerms {
	b := errorTerms{least: max(s.least(), s.ridge), curvature: outer.Curvature}
	b.rho, b.prediction = s.roundingError(g, at)
	b.rho += s.norm(s.rho)
	var trace float64
	for k, j := range at.Support {
		trace += s.view.Whole(int(j), s.store.Centre(j)) / s.diag[k]
	}
	d := s.distance(at, b.rho, s.mu())
	if !d.known {
		b.jumps = d.step
	}
	if outer.CurvatureWithin != nil {
		// Predictions on held-out rows are off by r·√(xᵢᵀA⁻¹xᵢ) at most.
		b.curvature = outer.CurvatureWithin(float64(d.energy*d.factor()*math.Sqrt(trace/b.least)) + b.prediction)
	}
	if b.reach = s.k.MaxAbs(b.curvature) * trace / b.least; math.IsNaN(b.reach) {
		b.reach = math.Inf(1)
	}
	return b
}

// curvatureChange returns κ with −κA ≼ ∂A ≼ κA, ∂A the change of A in the direction that u
// holds the predictions of: 0 where the curvature does not vary.
func (s *Solver) curvatureChange() float64 {
	if s.curved == nil {
		return 0
	}
	concordance, _ := s.curved.Concordance() // where the curvature jumps: as between the jumps, which errorTerms have
	return concordance * s.k.MaxAbs(s.u)
}

// roundedCurvature returns κ as curvatureChange does, for the change of A by what predictions are off by rounding, and by
// jumps.
func (s *Solver) roundedCurvature(b errorTerms) float64 {
	if s.curved == nil {
		return 0
	}
	concordance, _ := s.curved.Concordance()
	return float64(concordance*b.prediction) + b.jumps
}

// Where A changes, so do the means of its columns, and the intercept's part of the bordered
// system is felt: interceptShift is what it adds to ‖h‖, as ‖(∇C_S, ∂C/∂b)‖² = ‖h‖² + (∂C/∂b)²·N/Σd,
// and interceptTilt to the predictions of v, times the self-concordance.
func (s *Solver) interceptShift(outer Outer) float64 {
	if s.curved == nil || !s.view.Centred() {
		return 0
	}
	var sum float64
	for from, to := range s.k.Pieces(len(outer.Slope)) {
		for _, g := range outer.Slope[from:to] {
			sum += g
		}
	}
	return math.Abs(sum) * math.Sqrt(s.view.Total()/s.store.Total())
}

func (s *Solver) interceptTilt(outer Outer) float64 {
	if s.curved == nil {
		return 0
	}
	concordance, _ := s.curved.Concordance()
	return concordance * s.interceptShift(outer) * math.Sqrt(s.view.Total()/s.store.Total())
}

// applyCurvature sets u ← C″⊙u and q to its product with the columns.
func (s *Solver) applyCurvature(at Point, curvature []float64) {
	for from, to := range s.k.Pieces(len(curvature)) {
		for r, c := range curvature[from:to] {
			s.u[from+r] *= c
		}
	}
	s.project(at.Support, s.u, s.q)
}

// criterionDrift returns ‖K·A⁻¹ρ‖ or more. It solves for A⁻¹ρ as far as that matters.
func (s *Solver) criterionDrift(ctx context.Context, at Point, b errorTerms, opts Options) float64 {
	if b.rho == 0 {
		return 0
	}
	crude, tol := b.reach*b.rho, 0.1
	if crude <= negligible*b.residual {
		return crude
	}
	unknown := math.IsInf(b.reach, 1)
	if !unknown {
		tol = min(tol, max(opts.Tol, negligible*b.residual/crude))
	}
	clear(s.q)
	known := s.norm(s.rho)
	report := s.improve(ctx, s.rho, s.q, tol, opts)
	s.k.Clear(s.u)
	s.predict(s.store, at.Support, s.q, s.u)
	s.applyCurvature(at, b.curvature)
	size := s.norm(s.q)
	if unknown {
		return size / (1 - min(0.5, report.Relative)) // as if what is left of ρ had the same effect as the rest
	}
	return size + float64(b.reach*(report.Residual+b.rho-known))
}
