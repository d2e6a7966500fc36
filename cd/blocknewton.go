package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
)

const (
	blockNewton = 20
	blockTol    = 1e-3 // of the systems of a step that are not factorised
	halved      = 0.5
	rise        = 1e-13 // of the objective: rounding
)

// polish makes Newton steps on the coefficients that are not 0, for as long as they at least
// halve what these lack and do not raise the objective. A step that takes a coefficient through a kink does not, and ends at
// it if that lowers the objective.
func (s *Blocks) polish(ctx context.Context, g model.Blocks, most int) {
	s.refit()
	lack, value := s.largestViolation(g), s.value(g)
	for range most {
		if lack <= leastLack*s.scale || ctx.Err() != nil || len(s.out.Support) == 0 {
			return
		}
		before := slices.Clone(s.beta)
		if !s.newton(ctx, g) {
			return
		}
		s.out.Steps++
		s.refit()
		next, after := s.largestViolation(g), s.value(g)
		if next <= halved*lack && after <= value+float64(rise*math.Abs(value)) {
			lack, value = next, after
			continue
		}
		s.project(g, before)
		return
	}
}

// project sets the coefficients to 0 whose sign a step has changed, and takes the step back
// where that does not lower the objective.
func (s *Blocks) project(g model.Blocks, before []float64) {
	after := slices.Clone(s.beta)
	copy(s.beta, before)
	s.refit()
	value := s.value(g)
	for k, v := range after {
		if s.beta[k] = v; (v < 0) != (before[k] < 0) {
			s.beta[k] = 0
		}
	}
	s.refit()
	if !(s.value(g) < value) {
		copy(s.beta, before)
		s.refit()
	}
}

// live lists the blocks of the support.
func (s *Blocks) live() (blocks []int) {
	for _, j := range s.out.Support {
		blocks = append(blocks, s.part.Of(j))
	}
	slices.Sort(blocks)
	return slices.Compact(blocks)
}

// value returns the objective at the point.
func (s *Blocks) value(g model.Blocks) float64 {
	sum := s.point.Loss
	for _, b := range s.live() {
		sum += g.Value(b, model.Gather(s.part, b, s.q, s.beta, s.own))
	}
	return sum
}

// largestViolation returns the largest violation, among the columns of the support, of an entry that is
// not 0.
func (s *Blocks) largestViolation(g model.Blocks) (worst float64) {
	s.correlate(s.out.Support)
	size := len(s.own) / 4
	for _, b := range s.live() {
		beta := model.Gather(s.part, b, s.q, s.beta, s.own[:size])
		z := model.Gather(s.part, b, s.q, s.z, s.own[size:])
		lack := s.own[2*size:][:len(z)]
		g.Lack(b, beta, z, lack)
		for k, v := range lack {
			if beta[k] != 0 {
				worst = max(worst, math.Abs(v))
			}
		}
	}
	return worst
}

// newton makes a step, and reports whether there is one. The correlations of the support are
// those at the point.
func (s *Blocks) newton(ctx context.Context, g model.Blocks) bool {
	s.fit.Metric(s.point, &s.metric)
	s.hessian.Reset(&s.metric, s.out.Support, s.fit.Quadratic())
	s.system.Reset(g, s.part, s.out.Support, s.beta)
	if s.system.Factorises() && !s.system.Factorise() && g.Concavity() > 0 {
		return false
	}
	rhs := make([]float64, s.system.Size())
	for _, b := range s.system.Blocks {
		z := model.Gather(s.part, b.Block, s.q, s.z, s.own)
		lack := make([]float64, len(z))
		g.Lack(b.Block, b.Beta, z, lack)
		for k, at := range b.At {
			rhs[at] = lack[b.Of[k]]
		}
	}
	x := make([]float64, len(rhs))
	s.system.Solve(ctx, rhs, x, blockTol)
	s.count(s.out.Support)
	full := s.system.Spread(x)
	for c, j := range s.out.Support {
		for k := range s.q {
			at := int(j)*s.q + k
			if s.beta[at] == 0 {
				continue
			}
			if s.beta[at] += full[c*s.q+k]; s.beta[at] == 0 {
				return false
			}
		}
	}
	return true
}
