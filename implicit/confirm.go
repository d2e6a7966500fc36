package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// A solution on a support is β̂ = β + A⁻¹ρ to first order, for the squared loss exactly, and
// it is the solution of the problem if it has the signs of the support and leaves the
// correlations of all other columns within their strengths. With r = ‖ρ‖ under A⁻¹, L the
// smoothness of the loss and s the weights of the rows,
//
//	|β̂ⱼ − βⱼ| ≤ r√(A⁻¹)ⱼⱼ,  ‖change of the residual‖ₛ ≤ r√(NL)
//
// A loss that is self-concordant with M changes its curvature along the way by no more than
// factors e^±t, t = M·max|xᵢ(β̂ − β)|, and t ≤ M·r·κ, κ² = max xᵢᵀA⁻¹xᵢ ≤ N/min dᵢ, or with ηD ≼ A
// the sum of all sᵢxᵢᵀD⁻¹xᵢ over η and the least weight.

const (
	farthestStep = 0.1 // t up to which the first order and a share of it bound all orders
	orders       = 4   // that share: 1 + 4t
	nearStep     = 0.01
)

// distance is how far the solution may be from the point.
type distance struct {
	energy float64 // r
	step   float64 // t
	known  bool    // that the curvature cannot change by more than t says
}

// across returns a bound of xᵢᵀA⁻¹xᵢ over the rows, none of which is lighter than it says.
func (s *Solver) across(at Point, lightest float64) (bound float64) {
	eta, total := max(s.least(), s.ridge), s.view.Total()
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

// factor is what first-order bounds are multiplied by.
func (d distance) factor() float64 { return 1 + float64(orders*d.step) }

// distance returns how far the solution may be, by ρ in the norm of the last solve.
func (s *Solver) distance(at Point, rho, mu float64) distance {
	d := distance{energy: rho / math.Sqrt(mu), known: true}
	if s.curved == nil {
		return d
	}
	var concordance float64
	if concordance, d.known = s.curved.Concordance(); !d.known {
		d.step = s.jumps(at, d.energy)
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
		// A row whose curvature is less than any number has far to go to any that counts.
		if v > 0 && weight > 0 {
			least, lightest = min(least, v), min(lightest, weight)
		}
	}
	total := s.view.Total()
	furthest := total / least
	furthest = min(furthest, s.across(at, lightest))
	if d.step = concordance * d.energy * math.Sqrt(furthest); d.step <= nearStep {
		return d
	}
	size := float64(len(at.Support))
	if s.direct.ready && float64(s.store.Rows())*size*size <= rowProof {
		if s.direct.leverage == 0 {
			s.direct.leverage = s.leverage(s.store, s.direct.representatives, s.direct.l)
		}
		d.step = min(d.step, concordance*d.energy*math.Sqrt(s.direct.leverage/s.direct.sure))
	}
	return d
}

// confirm checks that the support is that of the solution, and makes a bound of first order
// one of all orders.
func (s *Solver) confirm(ctx context.Context, g model.Penalty, at Point, outer Outer, opts Options) {
	if s.out.Status != outcome.Converged {
		return
	}
	mu := s.mu()
	found := s.rank(ctx, g, opts)
	if now := s.mu(); now < mu { // errors grow at most as 1/μ
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
	if math.IsNaN(s.out.ErrorBound) { // what it is made of has met the largest number
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
		case knot, !s.inside(g, at, d, mu):
			s.out.Status = outcome.NotDifferentiable
		}
	case found == deficient, knot, !(moved < clearance), !s.inside(g, at, d, mu): // what is on the edge may be within reach
		s.out.Status = outcome.SupportUncertified
	}
}

// scale is ‖r‖ₛ, what changes of the residual are small beside.
func (s *Solver) scale() float64 {
	residual, _ := s.sizes()
	return residual * math.Sqrt(s.view.Total())
}

// inside reports that no coefficient changes its sign, or meets a bound, on the way to the
// solution.
func (s *Solver) inside(g model.Penalty, at Point, d distance, mu float64) bool {
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

// clearance returns the clearance of the point, but for columns off the support on the edge of
// entering, and whether there are such: there is no derivative then.
func (s *Solver) clearance(g model.Penalty, at Point) (least float64, knot bool) {
	if g.Quadratic() {
		return math.Inf(1), false
	}
	// Nαⱼ/‖X̃_j‖ₛ is ‖r‖ₛ at most where the strength is reached.
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
