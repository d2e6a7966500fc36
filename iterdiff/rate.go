package iterdiff

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// rate returns the spectral radius of the derivative in β of one epoch of the
// method at the point at hand: the rate at which Jacobians converge once the
// support is found (theorem 3.2). For PGD that is max|eig(∂_z prox⊙(I − γ∇²f))| on
// the support, for PCD the radius of the product of the coordinate maps.
//
// Eigenvalues of PCD may be complex, so growth is averaged over blocks of steps
// that double in length, until two agree to a thousandth of 1 − rate.
func (e *engine) rate(ctx context.Context) float64 {
	e.clearTangents(1)
	t := &e.tangents[0]
	live := 0
	for k, j := range e.order {
		step := e.steps[j]
		r := e.at(j, math.FMA(step, e.score(&e.now, j), e.now.beta[j]), step)
		r.dl = [2]float64{}
		e.responses[k] = r
		if r.dz != 0 {
			t.j[j] = 1 + float64(live%3)
			if live%2 == 1 {
				t.j[j] = -t.j[j]
			}
			e.push(j, t.j[j], t.u, &t.off)
			live++
		}
	}
	if live == 0 {
		return 0
	}
	const (
		first, steps = 32, 1 << 14
		enough       = 1e-3
	)
	last := math.Inf(1)
	for block, done := first, 0; ; block *= 2 {
		var growth float64
		for range block {
			if ctx.Err() != nil {
				return last
			}
			e.pass(t)
			norm := e.k.Nrm2(t.j)
			if norm == 0 {
				return 0
			}
			growth += kernels.Log(norm)
			e.k.Scal(1/norm, t.j)
			e.k.Scal(1/norm, t.u)
			t.off /= norm
		}
		now := kernels.Exp(growth / float64(block))
		if done += block; done >= steps || math.Abs(now-last) <= enough*math.Abs(1-now) {
			return now
		}
		last = now
	}
}

// pass applies the derivative of one epoch to a tangent.
func (e *engine) pass(t *tangent) {
	if e.gradientStep {
		e.followAll(t, 0)
		return
	}
	for k, j := range e.order {
		e.followOne(t, j, 0, &e.responses[k], e.steps[j])
	}
}
