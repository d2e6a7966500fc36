package cd

import (
	"context"
	"math"
	"math/bits"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// boxNewton solves the optimality conditions mᵢ = 1 on the free samples F:
// (Q_FF + shift·I)·d = 1 − m_F, and moves there within the box. The shift is a
// proximal term: dependent samples leave Q_FF singular, and it vanishes with
// the violations, so that the last steps are Newton's. It implements
// [support.Operator], in the variables yᵢdᵢ, of which Q_FF is X_FX_Fᵀ.
type boxNewton struct {
	s  *SVM
	cg support.CG

	free       []int32   // positions
	values     int       // their entries
	rho, d     []float64 // 1 − m_F and the step, times y
	from       []float64 // β_F before the step
	a          []float64 // s × s
	u          []float64 // p
	shift      float64
	iterations int // CG iterations of the last step
}

// proximal is the largest violation, in units of box widths per unit of shift.
const proximal = 0.1

func (nw *boxNewton) init(s *SVM) {
	nw.s, nw.cg.Kernels = s, s.k
	nw.u = make([]float64, s.p)
	nw.iterations = firstGuess
}

// Apply implements [support.Operator].
func (nw *boxNewton) Apply(v, out []float64) {
	clear(nw.u)
	for k, pos := range nw.free {
		if v[k] != 0 {
			nw.s.add(int(pos), v[k], nw.u)
		}
	}
	for k, pos := range nw.free {
		out[k] = math.FMA(nw.shift, v[k], nw.s.dot(int(pos), nw.u))
	}
}

// Diagonal implements [support.Operator].
func (nw *boxNewton) Diagonal(out []float64) {
	for k, pos := range nw.free {
		out[k] = nw.s.square[pos] + nw.shift
	}
}

// collect lists the free samples among the live ones of a pack.
func (nw *boxNewton) collect(p *pack) {
	s := nw.s
	nw.free, nw.values = nw.free[:0], 0
	for b, live := range p.live {
		for ; live != 0; live &= live - 1 {
			pos := p.position[b*block+bits.TrailingZeros8(live)]
			if beta := s.beta[pos]; beta > 0 && beta < s.bound[pos] {
				nw.free = append(nw.free, pos)
				nw.values += s.entries(int(pos))
			}
		}
	}
}

// zeros returns a vector of zeros over the features. It is to be left so.
func (nw *boxNewton) zeros() []float64 {
	clear(nw.u)
	return nw.u
}

// price returns the modelled cost of a step on the samples free in the last sweep.
func (nw *boxNewton) price() float64 {
	byCG, byFactor := nw.costs(nw.s.sweeps.free, nw.s.sweeps.freeEntries)
	return min(byCG, byFactor)
}

// once is the modelled cost of one product with the matrix of size samples.
func (nw *boxNewton) once(size, entries int) float64 {
	return residualCost(2*entries, 2*size, nw.s.rows == nil) + float64(denseValue*float64(nw.s.p))
}

// costs returns that of conjugate gradients and that of a factorisation.
func (nw *boxNewton) costs(size, entries int) (byCG, byFactor float64) {
	once := nw.once(size, entries)
	byFactor = math.Inf(1)
	if size <= largestCholesky {
		n := float64(size)
		byFactor = float64(n/2*once) + float64(factorValue*n*n*n/6) + float64(factorDot*n*n/2)
	}
	return float64(nw.iterations) * once, byFactor
}

// step moves the free samples along the Newton direction, projected to the box,
// to a point that lowers the objective. It reports whether it found one. Sweeps
// have cost budget since the last step; conjugate gradients may cost as much.
func (nw *boxNewton) step(ctx context.Context, budget float64) bool {
	nw.collect(nw.s.sweeps.here)
	violation, bound := nw.aim()
	nw.shift = proximal * violation / bound
	return violation > 0 && nw.direction(ctx, newtonTol, int(budget/nw.once(len(nw.free), nw.values))) && nw.descend()
}

// polish takes a step to working precision without the proximal term.
func (nw *boxNewton) polish(ctx context.Context) {
	nw.s.activate()
	nw.collect(&nw.s.sweeps.all)
	nw.aim()
	nw.shift = 0
	if nw.direction(ctx, polishTol, newtonIterations) {
		nw.descend()
	}
}

// aim notes β_F and 1 − m_F and returns the largest violation and bound.
func (nw *boxNewton) aim() (violation, bound float64) {
	s, size := nw.s, len(nw.free)
	nw.rho, nw.d, nw.from = grow(nw.rho, size), grow(nw.d, size), grow(nw.from, size)
	for k, pos := range nw.free {
		lack := 1 - float64(s.y[pos]*s.dot(int(pos), s.w))
		nw.from[k] = s.beta[pos]
		nw.rho[k] = lack * s.y[pos]
		violation = max(violation, math.Abs(lack))
		bound = max(bound, s.bound[pos])
	}
	return violation, bound
}

// direction sets d to the solution of the system, or near it. It reports whether
// there is one.
func (nw *boxNewton) direction(ctx context.Context, tol float64, iterations int) bool {
	size := len(nw.free)
	if byCG, byFactor := nw.costs(size, nw.values); byFactor < byCG && nw.factorise() {
		copy(nw.d, nw.rho)
		support.CholeskySolve(nw.s.k, nw.a, size, nw.d)
		return size > 0
	}
	clear(nw.d)
	report := nw.cg.Solve(ctx, nw, nw.rho, nw.d, tol, min(iterations, 2*size+10))
	nw.iterations = max(firstGuess, report.Iterations)
	return report.Iterations > 0 && ctx.Err() == nil
}

// factorise computes the matrix and its Cholesky factor. It reports whether the
// matrix is positive definite to working precision.
func (nw *boxNewton) factorise() bool {
	s, size := nw.s, len(nw.free)
	nw.a = grow(nw.a, size*size)
	for k, pos := range nw.free {
		clear(nw.u)
		s.add(int(pos), 1, nw.u)
		for l, other := range nw.free[:k+1] {
			nw.a[k*size+l] = s.dot(int(other), nw.u)
		}
		nw.a[k*size+k] += nw.shift
	}
	return support.Cholesky(s.k, nw.a, size) == size
}

// descend tries the projected step, and a shorter one.
func (nw *boxNewton) descend() bool {
	before := nw.objective()
	slack := roundoff * nw.s.fit.Null(nw.s.c)
	for _, length := range [...]float64{1, shortening} {
		nw.move(length)
		if nw.objective() <= before+slack {
			return true
		}
	}
	nw.move(0)
	return false
}

// objective returns ½‖w‖² − Σβᵢ over the free samples; the rest of the sum does
// not change.
func (nw *boxNewton) objective() float64 {
	s := nw.s
	sum := 0.5 * s.k.Dot(s.w, s.w)
	for _, pos := range nw.free {
		sum -= s.beta[pos]
	}
	return sum
}

// move sets β_F to from + length·d, projected to the box.
func (nw *boxNewton) move(length float64) {
	s := nw.s
	for k, pos := range nw.free {
		b := model.Clip(math.FMA(length, float64(nw.d[k]*s.y[pos]), nw.from[k]), s.bound[pos])
		if d := b - s.beta[pos]; d != 0 {
			s.beta[pos] = b
			s.add(int(pos), d*s.y[pos], s.w)
		}
	}
}
