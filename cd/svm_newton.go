package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// boxNewton solves the optimality conditions mᵢ = 1 on the free samples F by
// (Q_FF + shift·I)·d = 1 − m_F, and moves by d within the box. The shift is a
// proximal term, since dependent samples leave Q_FF singular. It vanishes with
// the violations, so that the last steps are pure Newton steps. boxNewton implements
// [support.Operator] in the variables yᵢdᵢ, in which Q_FF is X_FX_Fᵀ.
type boxNewton struct {
	s  *SVM
	cg support.CG

	free       []int32   // positions
	values     int       // number of entries of the free samples
	rho, d     []float64 // 1 − m_F and the step, times y
	from       []float64 // β_F
	savedFree  []int32   // F before the step
	before     []float64 // β_F before the step
	objective  float64   // before the step
	a          []float64 // |F| × |F|
	u          []float64 // p
	shift      float64
	iterations int // CG iterations of the last step
}

const (
	proximal  = 0.1 // the shift, relative to the largest violation over the width of the box
	boxRounds = 8   // systems solved in one step
)

func (nw *boxNewton) init(s *SVM) {
	nw.s, nw.cg.Kernels = s, s.k
	nw.u = make([]float64, s.p)
	nw.iterations = firstGuess
}

// Apply implements [support.Operator].
func (nw *boxNewton) Apply(v, out []float64) {
	nw.s.work += nw.productCost(len(nw.free), nw.values)
	clear(nw.u)
	for k, pos := range kernels.Each(nw.s.k, nw.free) {
		if v[k] != 0 {
			nw.s.add(int(pos), v[k], nw.u)
		}
	}
	for k, pos := range kernels.Each(nw.s.k, nw.free) {
		out[k] = math.FMA(nw.shift, v[k], nw.s.dot(int(pos), nw.u))
	}
}

// Diagonal implements [support.Operator].
func (nw *boxNewton) Diagonal(out []float64) {
	for k, pos := range kernels.Each(nw.s.k, nw.free) {
		out[k] = 1/nw.s.at[pos].Inverse + nw.shift
	}
}

// collect lists the free samples among the live samples of the sweeps.
func (nw *boxNewton) collect() {
	s := nw.s
	nw.free, nw.values = nw.free[:0], 0
	for _, pos := range kernels.Each(s.k, s.sweeps.live) {
		if v := &s.at[pos]; v.Value > 0 && v.Value < v.Bound {
			nw.free = append(nw.free, pos)
			nw.values += s.entries(int(pos))
		}
	}
}

// price returns the modelled cost of a step on the samples that the last sweep left free.
func (nw *boxNewton) price() float64 {
	byCG, byFactor := nw.costs(nw.s.sweeps.e.Free, nw.s.sweeps.e.FreeEntries)
	return min(byCG, byFactor)
}

// productCost returns the modelled cost of one product with the matrix of size samples.
func (nw *boxNewton) productCost(size, entries int) float64 {
	return residualCost(2*entries, 2*size, nw.s.rows == nil) + float64(denseValue*float64(nw.s.p))
}

// costs returns the cost of conjugate gradients and of a factorisation.
func (nw *boxNewton) costs(size, entries int) (byCG, byFactor float64) {
	once := nw.productCost(size, entries)
	byFactor = math.Inf(1)
	if size <= largestCholesky {
		n := float64(size)
		byFactor = float64(n/2*once) + float64(factorValue*n*n*n/6) + float64(factorDot*n*n/2)
	}
	return float64(nw.iterations) * once, byFactor
}

// step moves the free samples along the Newton direction. Samples that reach a
// bound stay there, and the system of the remaining ones is solved again until none
// reaches a bound. The step is kept if it lowers the objective; step reports whether it
// is. Conjugate gradients may cost at most the budget.
func (nw *boxNewton) step(ctx context.Context, budget float64) bool {
	nw.collect()
	if len(nw.free) == 0 {
		return false
	}
	violation, bound := nw.updateResidual()
	nw.shift = proximal * violation / bound
	nw.savePoint()
	left := int(budget / nw.productCost(len(nw.free), nw.values))
	first := nw.s.k.Nrm2(nw.rho)
	for round := 0; round < boxRounds && violation > 0; round++ {
		tol := newtonTol
		if size := nw.s.k.Nrm2(nw.rho); round > 0 {
			tol = min(0.5, newtonTol*first/size)
		}
		iterations, ok := nw.direction(ctx, tol, left)
		if !ok {
			break
		}
		left -= iterations
		if nw.move() == 0 {
			break
		}
		violation, _ = nw.updateResidual()
	}
	return nw.keepIfLower()
}

// polish takes a step to working precision without the proximal term.
func (nw *boxNewton) polish(ctx context.Context) {
	nw.s.sweeps.activate()
	nw.collect()
	nw.updateResidual()
	nw.shift = 0
	nw.savePoint()
	if _, ok := nw.direction(ctx, polishTol, newtonIterations); ok {
		nw.move()
	}
	nw.keepIfLower()
}

// savePoint saves the current point and its objective for keepIfLower.
func (nw *boxNewton) savePoint() {
	nw.savedFree = append(nw.savedFree[:0], nw.free...)
	nw.before = append(nw.before[:0], nw.from...)
	nw.objective = nw.value()
}

// keepIfLower reports whether the objective is no higher than at the saved point, up to rounding,
// and returns to that point otherwise.
func (nw *boxNewton) keepIfLower() bool {
	s := nw.s
	if nw.value()-nw.objective <= roundoff*s.fit.Null(s.c) {
		return true
	}
	for k, pos := range kernels.Each(nw.s.k, nw.savedFree) {
		v := &s.at[pos]
		if d := nw.before[k] - v.Value; d != 0 {
			v.Value = nw.before[k]
			s.add(int(pos), d*v.Sign, s.w)
		}
	}
	return false
}

// value returns ½‖w‖² − Σβᵢ over the saved free samples; the rest of the sum does
// not change.
func (nw *boxNewton) value() float64 {
	s := nw.s
	sum := float64(0.5 * s.k.Dot(s.w, s.w))
	for _, pos := range kernels.Each(nw.s.k, nw.savedFree) {
		sum -= s.at[pos].Value
	}
	return sum
}

// updateResidual sets from to β_F and rho to y(1 − m_F), and returns the largest violation and bound.
func (nw *boxNewton) updateResidual() (violation, bound float64) {
	s, size := nw.s, len(nw.free)
	s.chargeProduct(nw.values, size)
	nw.rho, nw.d, nw.from = grow(nw.rho, size), grow(nw.d, size), grow(nw.from, size)
	for k, pos := range kernels.Each(nw.s.k, nw.free) {
		v := &s.at[pos]
		lack := 1 - float64(v.Sign*s.dot(int(pos), s.w))
		nw.from[k] = v.Value
		nw.rho[k] = lack * v.Sign
		violation = max(violation, math.Abs(lack))
		bound = max(bound, v.Bound)
	}
	return violation, bound
}

// direction sets d to the solution of the system, exact or approximate. ok is false if
// it found none.
func (nw *boxNewton) direction(ctx context.Context, tol float64, most int) (iterations int, ok bool) {
	size := len(nw.free)
	if byCG, byFactor := nw.costs(size, nw.values); byFactor < byCG && nw.factorise() {
		nw.s.k.Copy(nw.d, nw.rho)
		support.CholeskySolve(nw.s.k, nw.a, size, nw.d)
		return 0, size > 0
	}
	nw.s.k.Clear(nw.d)
	report := nw.cg.Solve(ctx, nw, nw.rho, nw.d, tol, min(most, 2*size+10))
	if tol == newtonTol {
		nw.iterations = max(firstGuess, report.Iterations)
	}
	return report.Iterations, report.Iterations > 0 && ctx.Err() == nil
}

// factorise computes the matrix and its Cholesky factor. It reports whether the
// matrix is positive definite to working precision.
func (nw *boxNewton) factorise() bool {
	s, size := nw.s, len(nw.free)
	_, cost := nw.costs(size, nw.values)
	s.work += cost
	nw.a = grow(nw.a, size*size)
	for k, pos := range kernels.Each(nw.s.k, nw.free) {
		clear(nw.u)
		s.add(int(pos), 1, nw.u)
		for l, other := range nw.free[:k+1] {
			nw.a[k*size+l] = s.dot(int(other), nw.u)
		}
		nw.a[k*size+k] += nw.shift
	}
	return support.Cholesky(s.k, nw.a, size) == size
}

// move sets β_F to β_F + d, clipped to the box, and removes the samples at a bound
// from F. It returns how many it removed.
func (nw *boxNewton) move() (clipped int) {
	s, kept := nw.s, 0
	s.chargeProduct(nw.values, len(nw.free))
	nw.values = 0
	for k, pos := range kernels.Each(nw.s.k, nw.free) {
		v := &s.at[pos]
		b := model.Clip(nw.from[k]+float64(nw.d[k]*v.Sign), v.Bound)
		if d := b - v.Value; d != 0 {
			v.Value = b
			s.add(int(pos), d*v.Sign, s.w)
		}
		if b > 0 && b < v.Bound {
			nw.free[kept] = pos
			kept++
			nw.values += s.entries(int(pos))
		}
	}
	clipped = len(nw.free) - kept
	nw.free = nw.free[:kept]
	return clipped
}
