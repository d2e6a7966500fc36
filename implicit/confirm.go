package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// The solution on a given support is β̂ = β + A⁻¹ρ to first order, for the squared loss exactly. It solves
// the problem if it has the signs of the support and keeps the correlations of all other columns within their
// strengths. With r = ‖ρ‖ under A⁻¹, L the smoothness of the loss and s the weights of the rows,
//
//	|β̂ⱼ − βⱼ| ≤ r√(A⁻¹)ⱼⱼ,  ‖change of the residual‖ₛ ≤ r√(NL)
//
// The curvature of a loss that is self-concordant with M changes between β and β̂ by factors e^±t at most,
// t = M·max|xᵢ(β̂ − β)|, and t ≤ M·r·κ. Here κ² = max xᵢᵀA⁻¹xᵢ ≤ N/min dᵢ; with ηD ≼ A it is also at most the
// sum of all sᵢxᵢᵀD⁻¹xᵢ over η and the least weight.

const (
	farthestStep = 0.1 // the largest t at which 1 + orders·t times the first-order bound bounds all orders
	orders       = 4   // see farthestStep
	nearStep     = 0.01
)

// distance bounds how far the solution is from the point.
type distance struct {
	energy float64 // r
	step   float64 // t
	known  bool    // t bounds the change of the curvature
}

// leverageBound returns an upper bound of xᵢᵀA⁻¹xᵢ over the rows with a weight of at least lightest.
func (s *Solver) leverageBound(at Point, lightest float64) (bound float64) {
	eta, total := max(s.eta(), s.ridge), s.view.Total()
	if !(eta > 0) {
		return math.Inf(1)
	}
	for k, j := range at.Support {
		norm, off := s.view.Norm(int(j)), s.view.Mean(int(j))-s.store.Centre(j)
		bound += (float64(norm*norm) + float64(total*off*off)) / s.diag[k]
	}
	bound /= eta * lightest
	if s.view.Centred() {
		bound += total / s.store.Total()
	}
	return bound
}

// factor returns the factor that turns first-order bounds into bounds of all orders.
func (d distance) factor() float64 { return 1 + float64(orders*d.step) }

// distance returns bounds of the distance to the solution, from the norm rho of ρ in the norm of the last
// solve.
func (s *Solver) distance(at Point, rho, mu float64) distance {
	d := distance{energy: rho / math.Sqrt(mu), known: true}
	if s.curved == nil {
		return d
	}
	var concordance float64
	if concordance, d.known = s.curved.Concordance(); !d.known {
		d.step = s.jumpChange(at, d.energy)
		return d
	}
	least, lightest, weights := math.Inf(1), math.Inf(1), s.view.Weights()
	pace := s.k.Pace()
	for i, v := range s.d {
		pace.Did(1)
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		// A row whose curvature underflows to 0 is far from any point where its curvature matters.
		if v > 0 && weight > 0 {
			least, lightest = min(least, v), min(lightest, weight)
		}
	}
	total := s.view.Total()
	furthest := total / least
	furthest = min(furthest, s.leverageBound(at, lightest))
	if d.step = concordance * d.energy * math.Sqrt(furthest); d.step <= nearStep {
		return d
	}
	size := float64(len(at.Support))
	if s.direct.ready && float64(s.store.Rows())*size*size <= rowProof {
		if s.direct.leverage == 0 {
			s.direct.leverage = s.leverage(s.store, s.direct.representatives, s.direct.l)
		}
		d.step = min(d.step, concordance*d.energy*math.Sqrt(s.direct.leverage/s.direct.keptShare))
	}
	return d
}

// confirm checks that the support is that of the solution, and turns the first-order error bound into one of
// all orders.
func (s *Solver) confirm(ctx context.Context, g model.Penalty, at Point, outer Outer, opts Options) {
	if s.out.Status != outcome.Converged {
		return
	}
	mu := s.mu()
	found := s.rank(ctx, g, opts)
	if now := s.mu(); now < mu { // errors grow in proportion to 1/μ at most
		s.out.ErrorBound *= mu / now
		mu = now
	}
	rho, _ := s.roundingError(g, at)
	d := s.distance(at, s.norm(s.rho)+rho, mu)
	if s.out.Bound = Estimated; s.direct.ready && d.known && !outer.Blind {
		s.out.Bound = Proved
	}
	s.out.ErrorBound *= d.factor()
	smoothness := s.fit.Steepest(s.state)
	moved := d.energy * math.Sqrt(s.view.Total()*smoothness) * d.factor()
	clearance, knot := s.clearance(g, at)
	if math.IsNaN(s.out.ErrorBound) { // a term has overflowed
		s.out.ErrorBound = math.Inf(1)
	}
	switch {
	case !(mu > 0), found == unknownRank:
		s.out.Status = outcome.LinearSystemStalled
	case math.IsInf(s.out.ErrorBound, 1), !(d.step <= farthestStep): // the point is too far from the solution
		s.out.Status = outcome.SupportUncertified
	case moved < edgeMargin*s.scale() && moved < clearance: // β is the solution, to rounding
		switch {
		case found == deficient:
			s.out.Status = outcome.NotUnique
		case knot, !s.keepsSigns(g, at, d, mu):
			s.out.Status = outcome.NotDifferentiable
		}
	case found == deficient, knot, !(moved < clearance), !s.keepsSigns(g, at, d, mu): // the solution may have another support
		s.out.Status = outcome.SupportUncertified
	}
}

// scale returns ‖r‖ₛ, the scale of changes of the residual.
func (s *Solver) scale() float64 {
	residual, _ := s.sizes()
	return residual * math.Sqrt(s.view.Total())
}

// keepsSigns reports that no coefficient changes its sign, or reaches a bound, between the point and the
// solution.
func (s *Solver) keepsSigns(g model.Penalty, at Point, d distance, mu float64) bool {
	for k, j := range at.Support {
		inverse := 1 / (s.diag[k] * mu)
		if s.direct.ready {
			inverse = s.direct.inverseAt(k) / mu
		}
		moved := d.energy * d.factor() * math.Sqrt(inverse)
		if !g.Smooth(int(j)) && !(math.Abs(at.Coef[k]) > moved) || !(g.DistanceToBound(int(j), at.Coef[k], 1) > moved) || !(g.DistanceToBound(int(j), at.Coef[k], -1) > moved) {
			return false
		}
	}
	return true
}

// clearance returns the clearance of the point without the columns on the edge of the support, and whether
// there are such columns: the derivative does not exist then.
func (s *Solver) clearance(g model.Penalty, at Point) (least float64, knot bool) {
	if g.Quadratic() {
		return math.Inf(1), false
	}
	// Where |X_jᵀ(s⊙r)| = Nαⱼ, Nαⱼ/‖X̃_j‖ₛ is at most ‖r‖ₛ.
	if at.Clearance != 0 && math.Abs(at.Clearance) > edgeMargin*s.scale() {
		return at.Clearance, false
	}
	in := make(map[int32]bool, len(at.Support))
	for _, j := range at.Support {
		in[j] = true
	}
	least = math.Inf(1)
	for k, j := range at.held {
		in[j] = true
		z := s.view.Dot(int(j), s.state.Weighted) / s.view.Total()
		slack := boundSlack(g, j, at.heldCoef[k], z)
		if math.Abs(slack) < float64(edgeMargin*math.Abs(z)) {
			knot = true
			continue
		}
		least = min(least, s.view.Total()*slack/s.view.Norm(int(j)))
	}
	for _, j := range s.view.Matrix().Order() {
		threshold, norm := float64(s.view.Total()*g.Alpha(int(j))), s.view.Norm(int(j))
		if in[j] || norm == 0 || math.IsInf(threshold, 1) {
			continue
		}
		slack := threshold - g.Pull(int(j), s.view.Dot(int(j), s.state.Weighted))
		if math.Abs(slack) < float64(edgeMargin*threshold) {
			knot = true
			continue
		}
		least = min(least, slack/norm)
	}
	return least, knot
}
