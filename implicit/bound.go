package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// The error bound of a gradient. Let the exact solution be β + δβ, with δβ = A⁻¹ρ to first order and ρ the
// residual of the optimality conditions on the support. The criterion's slope on the support at the exact
// solution is its slope at β plus K·δβ, K = X̃_Sᵀdiag(C″)X̃_S. With r the residual of the linear solve, the
// error of the gradient ∇Cᵀ_S·A⁻¹B is
//
//	hᵀA⁻¹r + JᵀK·A⁻¹ρ,  h = ∇C_S, J = A⁻¹B solved for; or
//	Bᵀ(A⁻¹r + A⁻¹K·A⁻¹ρ),  v = A⁻¹h solved for
//
// plus the effect of the changes of B and A with β. All terms are bounded by |aᵀA⁻¹b| ≤ ‖a‖‖b‖/μ, in the
// norms of the last solve: ‖a‖² = aᵀM⁻¹a, where M is its preconditioner or factor and μ the smallest
// eigenvalue of M^-½AM^-½.
//
// K·A⁻¹ρ costs a system or, with J at hand, two passes over the columns of the support. Solvers end with
// Newton steps, after which ρ is tiny, and these bounds of K suffice:
//
//	K ≼ κD,  D = diag A, κ the trace of D^-½KD^-½ or more
//	ηD ≼ A,  η = μ where M = D, or α₂/max D

// negligible is the share of the linear solve's own error up to which the effect of ρ is bounded by κ alone.
const negligible = 0.25

// safety divides the smallest Ritz value, which approaches the smallest eigenvalue from above. Of 2,900
// gradients computed without a factor in tests, none had an error beyond its bound.
const (
	safety        = 10
	fewIterations = 20
)

// mu returns the μ of the last solve: proved where the system was factorised.
func (s *Solver) mu() float64 {
	switch {
	case s.direct.ready:
		return s.direct.keptShare
	case s.system.Factorised():
		return s.ritz[0] / safety
	case s.ridge > 0 && s.out.Iterations < min(len(s.diag), fewIterations):
		return s.ridge // Ritz values of a few steps do not bound the smallest eigenvalue
	default:
		return max(s.ritz[0]/safety, s.ridge)
	}
}

// eta returns η without a ridge: from the factor, or μ where M = D; 0 where it is not known.
func (s *Solver) eta() float64 {
	switch {
	case s.direct.ready:
		return s.direct.inverseTrace * s.direct.keptShare
	case s.system.Factorised():
		return 0
	default:
		return s.mu()
	}
}

// errorTerms are the terms of the error of a gradient.
type errorTerms struct {
	residual, rho float64 // ‖r‖ of the adjoint, ‖ρ‖, rounding included
	prediction    float64 // how far predictions may be off by rounding
	kappaOverEta  float64 // κ/η; +Inf where η is not known
	eta           float64 // η
	jumps         float64 // the relative change of A at jumps of the curvature, see jumps.go
	curvature     []float64
}

// errorTermsOf returns the error terms of a point after a solve.
func (s *Solver) errorTermsOf(g model.Penalty, at Point, outer Outer) errorTerms {
	b := errorTerms{eta: max(s.eta(), s.ridge), curvature: outer.Curvature}
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
		b.curvature = outer.CurvatureWithin(float64(d.energy*d.factor()*math.Sqrt(trace/b.eta)) + b.prediction)
	}
	if b.kappaOverEta = s.k.MaxAbs(b.curvature) * trace / b.eta; math.IsNaN(b.kappaOverEta) {
		b.kappaOverEta = math.Inf(1)
	}
	return b
}

// curvatureChange returns κ with −κA ≼ ∂A ≼ κA, ∂A the change of A in the direction whose predictions are in
// u: 0 where the curvature does not vary.
func (s *Solver) curvatureChange() float64 {
	if s.curved == nil {
		return 0
	}
	concordance, _ := s.curved.Concordance() // of the pieces between jumps, where the curvature jumps; errorTerms has the jumps
	return concordance * s.k.MaxAbs(s.u)
}

// roundedCurvature returns κ as curvatureChange does, for the change of A due to the rounding of predictions
// and to jumps.
func (s *Solver) roundedCurvature(b errorTerms) float64 {
	if s.curved == nil {
		return 0
	}
	concordance, _ := s.curved.Concordance()
	return float64(concordance*b.prediction) + b.jumps
}

// Where A changes, so do the means of its columns, and the intercept's part of the bordered system matters.
// interceptShift is its contribution to ‖h‖, as ‖(∇C_S, ∂C/∂b)‖² = ‖h‖² + (∂C/∂b)²·N/Σd, and interceptTilt
// its contribution to the predictions of v, times the self-concordance.
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

// criterionDrift returns an upper bound of ‖K·A⁻¹ρ‖. It solves for A⁻¹ρ only to the accuracy that matters.
func (s *Solver) criterionDrift(ctx context.Context, at Point, b errorTerms, opts Options) float64 {
	if b.rho == 0 {
		return 0
	}
	crude, tol := b.kappaOverEta*b.rho, 0.1
	if crude <= negligible*b.residual {
		return crude
	}
	unknown := math.IsInf(b.kappaOverEta, 1)
	if !unknown {
		tol = min(tol, max(opts.Tol, negligible*b.residual/crude))
	}
	clear(s.q)
	known := s.norm(s.rho)
	report := s.solveSystem(ctx, s.rho, s.q, tol, opts)
	s.k.Clear(s.u)
	s.predict(s.store, at.Support, s.q, s.u)
	s.applyCurvature(at, b.curvature)
	size := s.norm(s.q)
	if unknown {
		return size / (1 - min(0.5, report.Relative)) // as if the unsolved part of ρ had the same effect as the solved part
	}
	return size + float64(b.kappaOverEta*(report.Residual+b.rho-known))
}
