package iterdiff

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// rate returns the spectral radius of the derivative in β of one epoch of the method at the current point:
// the rate at which Jacobians converge once the support is identified (theorem 3.2). For PGD that is
// max|eig(∂_z prox⊙(I − γ∇²f))| on the support, for PCD the radius of the product of the coordinate maps.
//
// Eigenvalues of PCD may be complex, so growth is averaged over blocks of steps
// that double in length, until two agree to a thousandth of 1 − rate.
func (e *engine) rate(ctx context.Context) float64 {
	t := e.startPerturbation()
	if t == nil {
		return 0
	}
	const (
		first, passes = 32, 1 << 14
		enough        = 1e-3
	)
	last := math.Inf(1)
	for block, done := first, 0; ; block *= 2 {
		var growth float64
		for range block {
			if ctx.Err() != nil {
				return last
			}
			norm := e.applyEpoch(t)
			if norm == 0 {
				return 0
			}
			growth += kernels.Log(norm)
		}
		now := kernels.Exp(growth / float64(block))
		if done += block; done >= passes || math.Abs(now-last) <= enough*math.Abs(1-now) {
			return now
		}
		last = now
	}
}

// singular reports whether some perturbation of β on the support survives as many epochs as the descent took.
// The iterates have then converged, but not to a point that the problem determines: its system on the support
// is singular, as far as the descent can tell.
func (e *engine) singular(ctx context.Context) bool {
	t := e.startPerturbation()
	if t == nil {
		return false
	}
	const leastPasses = 1000
	left := 1.0
	for range max(e.epoch, leastPasses) {
		if left *= e.applyEpoch(t); left <= math.Sqrt(e.opts.Tol) || ctx.Err() != nil {
			return false
		}
	}
	return true
}

// startPerturbation returns a perturbation of β on the generalized support, of norm 1 and in no special direction, and
// sets the responses there. It returns nil where the generalized support is empty.
func (e *engine) startPerturbation() *tangent {
	e.clearTangents(1)
	t := &e.tangents[0]
	live := 0
	for k, j := range e.order {
		step := e.steps[j]
		if e.gradientStep {
			step = e.step
		}
		r := e.respond(j, math.FMA(step, e.score(&e.now, j), e.now.beta[j]), step)
		r.dl = [2]float64{}
		e.responses[k] = r
		if r.dz != 0 {
			t.j[j] = 1 + float64(live%3)
			if live%2 == 1 {
				t.j[j] = -t.j[j]
			}
			live++
		}
	}
	if live == 0 {
		return nil
	}
	e.normalise(t)
	return t
}

// normalise scales a perturbation to norm 1, recomputes its image, and returns its previous norm. (An image
// that is updated and scaled up would accumulate rounding errors, and these would look like the direction of
// slowest decay.)
func (e *engine) normalise(t *tangent) (norm float64) {
	norm = e.k.Nrm2(t.j)
	clear(t.u)
	t.offset = 0
	if norm == 0 {
		return 0
	}
	e.k.Scal(1/norm, t.j)
	for _, j := range e.order {
		if t.j[j] != 0 {
			e.addColumn(j, t.j[j], t.u, &t.offset)
		}
	}
	return norm
}

// applyEpoch applies the derivative of one epoch to a perturbation of norm 1 and normalises the result; it returns
// the norm of the result before.
func (e *engine) applyEpoch(t *tangent) (norm float64) {
	for k, j := range e.order {
		if e.gradientStep {
			t.j[j] = e.derivative(t, j, 0, &e.responses[k], e.step)
		} else {
			e.updateTangentRow(t, j, 0, &e.responses[k], e.steps[j])
		}
	}
	return e.normalise(t)
}
