package iterdiff

import (
	"context"
	"math"
)

// descent is the state of the iteration, and of the test for its convergence.
type descent struct {
	now            state
	z              []float64 // PGD, by position in order
	responses      []response
	class          []class
	epoch          int
	identified     int
	movement       float64 // max √Lⱼ|Δβⱼ| of the epoch
	iterateChanges convergence
	failure        error
}

// sweep runs one epoch of the method, with the Jacobian of a forward method or the tape of a backward one. It
// returns false where the context ended or the Jacobian became too large; the epoch is then incomplete.
func (e *engine) sweep(ctx context.Context) bool {
	e.movement = 0
	if e.gradientStep {
		return e.sweepGradient(ctx)
	}
	return e.sweepCoordinates(ctx)
}

// sweepCoordinates is an epoch of PCD (algorithm 3 and the first half of 4).
func (e *engine) sweepCoordinates(ctx context.Context) bool {
	s := &e.now
	for _, j := range e.order {
		if e.ended(ctx) {
			return false
		}
		step := e.steps[j]
		z := math.FMA(step, e.score(s, j), s.beta[j])
		r := e.respond(j, z, step)
		e.updateRow(j, &r, step)
		if e.failure != nil {
			return false
		}
		from := s.beta[j]
		e.recordStep(j, &r, z, from)
		if d := r.b - from; d != 0 {
			e.move(s, j, d)
			s.beta[j] = r.b
		}
	}
	return true
}

// updateRow updates row j of a forward Jacobian.
func (e *engine) updateRow(j int32, r *response, step float64) {
	switch {
	case !e.forward:
	case e.perColumn:
		e.jacobian.updateRow(e, j, r, step)
	default:
		e.updateTangents(j, r, step)
	}
}

// sweepGradient is an iteration of PGD (algorithm 1 and the first half of 2). The rows are recomputed from β,
// so that an iterate depends on the last one alone.
func (e *engine) sweepGradient(ctx context.Context) bool {
	s := &e.now
	for k, j := range e.order {
		if e.ended(ctx) {
			return false
		}
		z := math.FMA(e.step, e.score(s, j), s.beta[j])
		e.z[k] = z
		e.responses[k] = e.respond(j, z, e.step)
	}
	switch {
	case !e.forward:
	case e.perColumn:
		e.jacobian.updateRows(e)
	default:
		for i := range e.tangents {
			e.updateTangent(&e.tangents[i], i)
		}
	}
	if e.failure != nil {
		return false
	}
	for k, j := range e.order {
		r := &e.responses[k]
		e.recordStep(j, r, e.z[k], s.beta[j])
		s.beta[j] = r.b
	}
	e.rebuild(s)
	return true
}

// rebuild recomputes the rows of a state from its coefficients.
func (e *engine) rebuild(s *state) {
	e.reset(s)
	for _, j := range e.order {
		if s.beta[j] != 0 {
			e.add(s, j, s.beta[j])
		}
	}
	e.finish(s)
}

// recordStep records a step: its entry on the tape, the size of the move, and whether the support changed.
func (e *engine) recordStep(j int32, r *response, z, from float64) {
	if e.taping && (from != 0 || r.moves()) {
		e.tape.entries = append(e.tape.entries, entry{z: z, from: from, j: j})
	}
	e.movement = max(e.movement, math.Sqrt(e.lipschitz[j])*math.Abs(r.b-from)) // max keeps NaN
	if c := classOf(r); c != e.class[j] && j != e.unpenalised {
		e.class[j] = c
		e.identified = e.epoch + 1
	}
}

// class is the position of a coordinate: at a kink of g that holds it, on the generalized support, or at the
// upper end of its box, which moves with λ.
type class uint8

const (
	fixed class = iota
	onSupport
	atBound
)

func classOf(r *response) class {
	switch {
	case r.dz != 0:
		return onSupport
	case r.dl[0] != 0:
		return atBound
	default:
		return fixed
	}
}

// classAt is classOf for a coefficient that the prox has returned.
func (e *engine) classAt(j int32, b float64) class {
	switch {
	case b == 0:
		return fixed
	case e.svm != nil && b == e.upperBound(j):
		return atBound
	default:
		return onSupport
	}
}

// lipschitzBound returns an upper bound L of the Lipschitz constant of ∇f, up to the accuracy of a power
// iteration: γ = 1/L.
func (e *engine) lipschitzBound(ctx context.Context) float64 {
	if e.lipschitzF > 0 {
		return e.lipschitzF
	}
	v, u := e.z, e.t
	for k, j := range e.order {
		v[k] = math.Sqrt(e.lipschitz[j])
	}
	const (
		steps  = 100
		enough = 1e-3
		safety = 1.02
	)
	last := 0.0
	for range steps {
		norm := e.k.Nrm2(v)
		if norm == 0 || e.ended(ctx) {
			break
		}
		e.k.Scal(1/norm, v)
		e.k.Clear(u)
		off := 0.0
		for k, j := range e.order {
			e.addColumn(j, v[k], u, &off)
		}
		for k, j := range e.order {
			v[k] = e.curvatureBound * e.gram(j, u, off)
		}
		now := e.k.Nrm2(v)
		if now-last <= enough*now {
			e.lipschitzF = safety * now
			return e.lipschitzF
		}
		last = now
	}
	return safety * last
}
