package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// newton solves the optimality conditions on the support of the working set. With signs fixed they are the
// linear system A·d = ρ, ρ = z_S − α sign(β_S) − α₂β_S. Coordinate descent finds the support quickly but
// converges slowly on it; one Newton step does the rest.
//
// When to take the step is a ski rental problem: sweeps go on until they have cost a share of the modelled cost
// of the step, so that at worst a constant factor is lost.
type newton struct {
	in *inner
	k  *kernels.Set

	system support.System
	onGram support.GramSystem
	cg     support.CG

	columns     []int32 // the support
	values      int     // number of values of these columns
	position    []int32 // their positions in the working set
	rho, d      []float64
	product     []float64 // X̃_S·d by compact rows; nil: unknown
	from        []float64 // coefficients before the step
	changed     []int32   // positions of the coefficients that the last move changed
	changes     []float64
	a           []float64 // the system, s × s
	tol         float64   // of the linear system
	enough      float64   // see [support.CG], for matrix-free steps on few columns: iterations on a Gram matrix are cheap beside a pass
	iterations  int       // CG iterations of the last step, 0 before the first
	limit       int       // largest number of iterations where no factorisation can take over: see adaptLimit
	limited     bool      // the limit applied to the last step
	cost        float64   // of a step, as worth last modelled it
	priceFactor float64   // factor on the price of a step, raised by steps that failed
	blocked     int       // number of steps that ended at a coefficient in their way, less those that did not
	factor      support.Factor
	independent []int // of removeDependence: the independent columns, by index in columns
	order       []int
	row, null   []float64
	basis       basisChange
}

const (
	newtonShare      = 0.3  // of the cost of a step: what sweeps must have cost before it is taken
	newtonTol        = 5e-2 // of the linear system
	newtonEnough     = 0.5  // see [support.CG]
	newtonFast       = 0.7  // likewise, where no factorisation can take over
	polishTol        = 1e-8
	newtonIterations = 200
	firstGuess       = 15 // CG iterations expected of the first step
	firstLimit       = 30 // initial value of newton.limit
	leastLimit       = 3
	shortening       = 0.3
	rounds           = 2 // one to make the support independent, one to solve on it
	patience         = 8 // blocked steps before a step goes on without the coefficient in its way
	mostDoublings    = 6 // of the number of coefficients that a step goes on without
	mostPriceFactor  = 64
	// roundoff is the change of the objective, relative to P₀, that is attributed to rounding.
	roundoff = 1e-15
)

func (nw *newton) init(view *sparse.View, in *inner) {
	nw.in, nw.k = in, view.Kernels()
	nw.cg.Kernels, nw.factor.Kernels = nw.k, nw.k
	nw.tol = newtonTol
	nw.forget()
}

// forget drops the number of iterations learnt from earlier steps.
func (nw *newton) forget() { nw.iterations = 0 }

// newtonMethod is the method by which a step solves its system.
type newtonMethod int

const (
	byCholesky newtonMethod = iota // factorise the Gram matrix of the support
	byGram                         // conjugate gradients on it
	matrixFree                     // conjugate gradients on the columns
)

// plan returns the cheapest method for the collected support, and its cost.
func (nw *newton) plan() (newtonMethod, float64) {
	in := nw.in
	missing := in.gram.Missing(nw.columns)
	if !in.gram.Fits(missing.Columns()) {
		return matrixFree, nw.matrixFreeCost()
	}
	return nw.cheapest(in.buildFactor * in.gram.BuildCost(missing) / in.newtons)
}

// iterationsExpected returns the expected number of CG iterations.
func (nw *newton) iterationsExpected() float64 {
	if nw.iterations == 0 {
		return nw.iterationsGuess()
	}
	return float64(nw.iterations)
}

// matrixFreeCost returns the cost of a matrix-free step.
func (nw *newton) matrixFreeCost() float64 {
	if nw.in.squared > 0 {
		return math.Inf(1) // the Gram matrix is there, and has norms that the columns lack
	}
	return nw.iterationsExpected() * nw.in.store.ValuesCost(nw.values)
}

// cheapest is plan, given the cost of adding the missing columns to the Gram matrix.
func (nw *newton) cheapest(build float64) (newtonMethod, float64) {
	in, s := nw.in, len(nw.columns)
	size, iterations, free := float64(s), nw.iterationsExpected(), nw.matrixFreeCost()
	// Products with the Gram matrix in place cost less than this, but CG makes the step inexact: at the lower
	// price it would replace factorisations, and take twice as many steps on dependent columns.
	onGram := build + float64(size*size*(support.GatherValue+float64(iterations*gramValue)))
	if s <= largestCholesky {
		factor := build + float64(size*size*(support.GatherValue+float64(factorDot/2)+float64(factorValue/6*size)))
		if s <= in.alwaysFactorised || nw.basis.any() || factor <= min(free, onGram) {
			return byCholesky, factor
		}
	}
	if onGram < free {
		return byGram, onGram
	}
	return matrixFree, free
}

// iterationsGuess returns the number of iterations to expect of a first step: fewer than usual where the ridge bounds the
// condition number of the system.
func (nw *newton) iterationsGuess() float64 {
	in, largest := nw.in, 0.0
	if in.ridge == 0 {
		return firstGuess
	}
	for _, k := range nw.position {
		largest = max(largest, in.square[k])
	}
	return min(firstGuess, support.IterationsExpected(in.ridge/(largest+in.ridge), nw.tol))
}

// collect lists the columns of the support whose coefficients are not held at a bound.
func (nw *newton) collect() {
	nw.columns, nw.position, nw.values = nw.columns[:0], nw.position[:0], 0
	for k, j := range nw.in.columns {
		if b := nw.in.coef[k]; b != 0 && !nw.in.pen.Held(int(j), b) {
			nw.columns = append(nw.columns, j)
			nw.position = append(nw.position, int32(k))
			nw.values += nw.in.length[k]
		}
	}
}

// worth collects the support, and reports whether sweeps have cost enough to justify a step on it now. If so it
// sets cost. It first tries a bound that ignores what the Gram matrix lacks, which usually decides.
func (nw *newton) worth(spent float64) bool {
	nw.collect()
	share := newtonShare * nw.priceFactor
	if _, least := nw.cheapest(0); spent <= float64(share*min(least, nw.matrixFreeCost())) {
		return false
	}
	_, nw.cost = nw.plan()
	return spent > float64(share*nw.cost)
}

// step moves along the Newton direction on the collected support to a point that does not raise the objective.
// Where the columns of the support depend on one another there is no such direction, so the dependence is
// removed first. A coefficient that blocks the step becomes zero. If the last steps were blocked, too, the step
// goes on at once without the coefficient, since sweeps would bring it back for another short step (Lee,
// Battle, Raina and Ng, Efficient sparse coding algorithms, NIPS 2006).
func (nw *newton) step(ctx context.Context, null float64) bool {
	slack := float64(roundoff * nw.in.total * null)
	moved := false
	for left, blocks := rounds, 1<<max(0, nw.blocked-patience); left > 0; left-- {
		if len(nw.columns) == 0 || ctx.Err() != nil {
			break
		}
		nw.updateResidual()
		switch nw.solve(ctx) {
		case flat:
			if !nw.moveAlongFlat() {
				return moved
			}
			moved = true
			nw.collect()
			continue
		case dependent:
			if nw.removeDependence() {
				nw.renumber()
				moved = true
			}
			nw.solveOrdered()
		case solved:
		}
		descended, blocked := nw.descend(slack)
		switch {
		case !blocked:
			nw.blocked = max(0, nw.blocked-1)
			return descended || moved
		case blocks == 1:
			nw.blocked = min(nw.blocked+1, patience+mostDoublings)
			return true
		}
		blocks--
		left++
		moved = true
		nw.collect()
	}
	return moved
}

// updateResidual sets from to the coefficients of the support, and rho to the residual ρ of their optimality
// conditions.
func (nw *newton) updateResidual() {
	in, s := nw.in, len(nw.columns)
	nw.pay(sparseValue)
	nw.rho, nw.d, nw.from = grow(nw.rho, s), grow(nw.d, s), grow(nw.from, s)
	in.engine.correlations(nw.position, nw.rho)
	for i, k := range nw.position {
		b := in.coef[k]
		nw.from[i] = b
		nw.rho[i] = (nw.rho[i] - math.Copysign(in.threshold[k], b) - float64(in.ridge*b)) / in.total
	}
}

// descend moves by d, shortened until the objective does not rise. Coefficients that would cross zero become
// zero. The last resort, which only rounding can defeat, is to end where the first coefficient becomes zero:
// the step is then blocked.
func (nw *newton) descend(slack float64) (moved, blocked bool) {
	in := nw.in
	before, crossing := in.objective(), min(1, nw.firstBreakpoint())
	for k, length := range []float64{1, shortening, crossing} {
		nw.move(length)
		if in.objective() <= before+slack {
			nw.priceFactor = 1
			blocked = k == 2 && crossing < 1
			nw.adaptLimit(length, blocked)
			return true, blocked
		}
	}
	nw.move(0)
	nw.priceFactor = min(2*nw.priceFactor, mostPriceFactor)
	return false, false
}

// adaptLimit sets the limit on the iterations of later steps by the success of the last one. The more iterations
// conjugate gradients take, the more their direction lies where there is next to no curvature: it is then long,
// and coefficients are in its way.
func (nw *newton) adaptLimit(length float64, blocked bool) {
	switch {
	case !nw.limited:
	case blocked:
		nw.limit = max(leastLimit, nw.iterations/4)
	case length == 1:
		nw.limit = max(nw.limit, 2*nw.iterations)
	}
}

// moveAlongFlat moves along d, a direction without curvature, in the sense that lowers the objective, until the first
// coefficient is zero. It returns false if none gets there.
func (nw *newton) moveAlongFlat() bool {
	if nw.k.Dot(nw.rho, nw.d) < 0 {
		nw.k.Scal(-1, nw.d)
	}
	length := nw.firstBreakpoint()
	if math.IsInf(length, 1) {
		return false
	}
	nw.move(length)
	return true
}

// kinked reports whether the penalty of column i of the support has a kink at zero.
func (nw *newton) kinked(i int) bool { return nw.in.threshold[nw.position[i]] != 0 }

// firstBreakpoint returns the length along d at which the first coefficient reaches zero or a bound, or +Inf if none
// does.
func (nw *newton) firstBreakpoint() float64 {
	first := math.Inf(1)
	for i, b := range nw.from {
		if d := nw.d[i]; d != 0 {
			length, _ := nw.breakpoint(i, b, d)
			first = min(first, length)
		}
	}
	return first
}

// directionKind is the outcome of solving for the Newton direction.
type directionKind int

const (
	solved    directionKind = iota // d is the direction
	dependent                      // the columns are dependent to working precision
	flat                           // likewise, and d is a direction without curvature
)

// fewFollowed is the largest number of CG iterations whose accumulated X̃_S·d is used. Rounding adds up over
// iterations, which costs sweeps where columns nearly depend on one another.
const fewFollowed = 8

// solve sets d to the solution of A·d = ρ, or to an approximation.
func (nw *newton) solve(ctx context.Context) directionKind {
	s := len(nw.columns)
	method, _ := nw.plan()
	nw.product = nil
	nw.limited = method == matrixFree && s > largestCholesky && nw.tol == newtonTol
	if method == byCholesky {
		return nw.factorise()
	}
	clear(nw.d)
	most := min(newtonIterations, 2*s+10)
	var report support.Report
	if method == byGram {
		nw.in.gram.Hold(nw.columns)
		nw.onGram.Reset(nw.in.gram, nw.columns, nw.in.ridge/nw.in.total, float64(nw.iterations))
		report = nw.cg.Solve(ctx, &nw.onGram, nw.rho, nw.d, nw.tol, most)
	} else {
		nw.system.Reset(nw.in.store, nw.columns, nw.in.ridge/nw.in.total)
		nw.system.Factorise(nw.in.gram, max(float64(nw.iterations), nw.iterationsGuess()), nw.in.newtons)
		switch {
		case nw.limited:
			nw.cg.Enough, nw.cg.Fast, nw.cg.KeepLast = newtonEnough, newtonFast, true
			most = min(most, nw.limit)
		case nw.tol == newtonTol:
			nw.cg.Enough, nw.cg.Fast = nw.enough, 0
		}
		if nw.in.engine == &nw.in.residual {
			report, nw.product = nw.system.SolveFollowing(ctx, &nw.cg, nw.rho, nw.d, nw.tol, most)
			if report.Iterations > fewFollowed {
				nw.product = nil
			}
		} else {
			report = nw.system.Solve(ctx, &nw.cg, nw.rho, nw.d, nw.tol, most)
		}
		nw.cg.Enough, nw.cg.KeepLast = 0, false
	}
	if nw.tol == newtonTol {
		nw.iterations = max(1, report.Iterations)
	}
	switch {
	case !report.Converged && s <= largestCholesky:
		nw.product = nil
		return nw.factorise() // factorise distinguishes slow convergence from dependence
	case report.Null != nil:
		nw.product = nil
		copy(nw.d, report.Null)
		return flat
	default:
		return solved
	}
}

// gather assembles the system of the support from the Gram matrix.
func (nw *newton) gather() {
	s := len(nw.columns)
	nw.in.gram.Hold(nw.columns)
	nw.a = grow(nw.a, s*s)
	nw.in.gram.Submatrix(nw.columns, nw.in.ridge/nw.in.total, nw.a)
	nw.basis.find(nw.columns)
	nw.basis.system(nw.a, s, nw.in.total)
}

// factorise solves for d by a Cholesky factorisation.
func (nw *newton) factorise() directionKind {
	nw.gather()
	s := len(nw.columns)
	nw.in.work += support.CholeskyCost(s)
	if support.Cholesky(nw.k, nw.a, s) < s {
		return dependent
	}
	copy(nw.d, nw.rho)
	nw.basis.slopes(nw.d)
	support.CholeskySolve(nw.k, nw.a, s, nw.d)
	nw.basis.direction(nw.d)
	return solved
}

// move sets the coefficients of the support to from + length·d, or to zero where that changes the sign or
// leaves nothing but rounding.
func (nw *newton) move(length float64) {
	in := nw.in
	whole := length == 1 && nw.product != nil // the residual moves by the product; coefficients set otherwise correct it
	if whole {
		in.residual.shift(nw.product)
		nw.product = nil
		in.work += float64(rowValue * float64(in.store.Rows()))
	} else {
		nw.pay(updateValue)
	}
	nw.changed, nw.changes = nw.changed[:0], nw.changes[:0]
	for i, k := range nw.position {
		b := math.FMA(length, nw.d[i], nw.from[i])
		there := in.coef[k]
		if whole {
			there = b
		}
		rounded := math.Abs(b) <= float64(0x1p-50*math.Abs(nw.from[i]))
		if (rounded || math.Signbit(b) != math.Signbit(nw.from[i])) && nw.kinked(i) {
			b = 0
		}
		b = nw.in.pen.Clip(int(nw.columns[i]), b)
		in.coef[k] = b
		if d := b - there; d != 0 {
			nw.changed, nw.changes = append(nw.changed, k), append(nw.changes, d)
			if whole {
				in.work += float64(updateValue * float64(in.length[k]))
			}
		}
	}
	in.engine.moveAll(nw.changed, nw.changes)
}
