package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
)

const (
	mostBlockSteps  = 20
	blockTol        = 1e-3 // of the systems that are not factorised, in steps to full accuracy
	halvedViolation = 0.5
	roundingRise    = 1e-13 // of the objective: attributed to rounding
	newtonHalves    = 12    // halvings of a step that is too long
	leastDecrease   = 1e-4  // of the decrease that the slope predicts
	polishShare     = 0.03  // of the certified violation: target of the steps between working sets
	diagonalShift   = 1e-8  // of the diagonal, added where the system is singular to working precision
)

// polish takes Newton steps on the coefficients that are not 0, as long as their largest violation exceeds
// target. A step that does not halve the violation is shortened until it lowers the objective, and stops at the
// kinks in its way; under a penalty that is not convex it is the last.
func (s *Blocks) polish(ctx context.Context, g model.Blocks, target float64) {
	s.refit()
	lack, value := s.largestViolation(g), s.value(g)
	for range mostBlockSteps {
		if lack <= max(target, leastLack*s.scale) || ctx.Err() != nil || len(s.out.Support) == 0 {
			return
		}
		s.before, s.shift = append(s.before[:0], s.beta...), append(s.shift[:0], s.point.Intercept...)
		slope, ok := s.newton(ctx, g, target == 0)
		if !ok {
			return
		}
		s.out.Steps++
		s.refit()
		next, after := s.largestViolation(g), s.value(g)
		if next <= halvedViolation*lack && after <= value+float64(roundingRise*math.Abs(value)) {
			lack, value = next, after
			continue
		}
		if !s.shorten(g, s.before, value, slope) || g.Concavity() > 0 {
			return
		}
		lack, value = s.largestViolation(g), s.value(g)
	}
}

// shorten repeats a step with coefficients stopped at the kinks that they cross, and halves it until the
// objective falls by a share of what the slope predicts. If it never does, shorten returns to the start of the
// step and reports false.
func (s *Blocks) shorten(g model.Blocks, before []float64, value, slope float64) bool {
	step := slices.Clone(s.beta)
	for k, v := range before {
		step[k] -= v
	}
	length := 1.0
	for range newtonHalves {
		for k, v := range before {
			s.beta[k] = math.FMA(length, step[k], v)
			if (s.beta[k] < 0) != (v < 0) && s.kinked(g, k) {
				s.beta[k] = 0
			}
		}
		s.refitFrom(s.shift)
		if s.value(g) <= value-float64(leastDecrease*length*slope) {
			return true
		}
		length *= 0.5
	}
	copy(s.beta, before)
	s.refitFrom(s.shift)
	return false
}

// kinked reports whether the penalty has a kink where coefficient k, by column and score, is 0.
func (s *Blocks) kinked(g model.Blocks, k int) bool {
	j := int32(k / s.q)
	block := s.part.Of(j)
	columns := s.part.Columns(block)
	if len(columns) == 1 && s.q == 1 {
		return true
	}
	at, _ := slices.BinarySearch(columns, j)
	return g.Kinked(block, at*s.q+k%s.q)
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
		sum += g.Value(b, model.Entries(s.part, b, s.q, s.beta, s.scratch))
	}
	return sum
}

// largestViolation computes the correlations of the support, and returns the largest violation of its entries
// that are not 0.
func (s *Blocks) largestViolation(g model.Blocks) (worst float64) {
	s.correlate(s.out.Support)
	s.drift.forget(s.out.Support)
	for _, b := range s.live() {
		beta, z, lack := s.block(b)
		g.Lack(b, beta, z, lack)
		for k, v := range lack {
			if beta[k] != 0 {
				worst = max(worst, math.Abs(v))
			}
		}
	}
	return worst
}

// newton takes a step, and returns the rate at which the objective falls along it; ok is false if there is no
// step. The correlations of the support must be those at the point.
func (s *Blocks) newton(ctx context.Context, g model.Blocks, sharp bool) (slope float64, ok bool) {
	s.fit.Metric(s.point, &s.metric)
	s.hessian.Reset(&s.metric, s.out.Support, s.fit.Quadratic())
	s.system.Reset(g, s.part, s.out.Support, s.beta)
	if s.system.Factorises() && !s.system.Factorise() {
		if g.Concavity() > 0 {
			return 0, false
		}
		s.system.FactoriseShifted(diagonalShift)
	}
	rhs := make([]float64, s.system.Size())
	for _, b := range s.system.Blocks {
		z := model.Entries(s.part, b.Block, s.q, s.z, s.scratch)
		lack := make([]float64, len(z))
		g.Lack(b.Block, b.Beta, z, lack)
		for k, at := range b.At {
			rhs[at] = lack[b.Of[k]]
		}
	}
	x := make([]float64, len(rhs))
	if sharp {
		s.system.SolveStep(ctx, rhs, x, blockTol, 0)
	} else {
		s.system.SolveStep(ctx, rhs, x, newtonTol, newtonEnough)
	}
	s.chargeVisit(s.out.Support)
	full := s.system.Spread(x)
	for c, j := range s.out.Support {
		for k := range s.q {
			if at := int(j)*s.q + k; s.beta[at] != 0 {
				s.beta[at] += full[c*s.q+k]
			}
		}
	}
	return s.view.Kernels().Dot(rhs, x), true
}
