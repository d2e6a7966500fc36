package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// inner is the quadratic problem restricted to the working set, in units of N:
//
//	½‖r̂‖² + Σ Nαⱼ|βⱼ| + ½Nα₂‖β‖²,  r̂ the working residual under the weights w
//
// For the squared loss, which is itself quadratic, w are the row weights; for other losses w is the curvature
// at the current point. Slices are indexed by position in the working set.
type inner struct {
	columns []int32
	total   float64 // N
	ridge   float64 // Nα₂
	pen     model.Penalty

	coef      []float64 // βⱼ
	square    []float64 // ‖X̃_j‖²
	threshold []float64 // Nαⱼ
	length    []int     // number of values stored of the column
	grad      []float64 // c_j − Nα₂βⱼ when the last sweep reached column j

	correlated *certificate // certificate whose correlations are of the residual loaded; nil: none
	squared    float64      // ‖r̂‖² over all rows, where the store does not hold all of them, else 0
	working    []float64    // r̂ as the engines hold it: √w⊙r by compact rows
	store      *support.Columns
	gram       *support.Gram
	residual   residualEngine
	quadratic  gramEngine
	engine     engine // the engine in use
	newton     newton
	homotopy   homotopy

	epochs           float64 // sweeps within which a Gram matrix must pay for itself
	reuses           float64 // Newton steps that share the columns added to the Gram matrix
	newtons          float64 // number of those steps expected in this solve
	buildFactor      float64 // factor on the cost of adding columns to the Gram matrix
	alwaysFactorised int     // number of columns up to which the Gram matrix is factorised, whatever the alternatives cost

	factor     float64 // the inner gap to reach, relative to the outer one
	outerGap   float64 // the outer gap: the target is lowered where the first inner gap is below it; 0: the target stays
	epochsLeft int     // epochs left in this solve
	caution    float64 // ridgeCaution or coldCaution: a factor on ridgeGap
	sweepCost  float64 // modelled cost of the sweeps since the last Newton step
	work       float64 // modelled cost of everything in this solve, except what the store counts
}

// engine keeps the correlations c_j = X̃_jᵀ(w⊙r) of the working set up to date
// while coefficients move: through the residual, or through the Gram matrix.
type engine interface {
	// load starts from the weighted residual v = w⊙r at the coefficients loaded.
	load(v []float64)
	// epoch sweeps the set once and fills grad:
	// βⱼ ← ST(‖X̃_j‖²βⱼ + c, Nαⱼ)/(‖X̃_j‖² + Nα₂).
	epoch() (cost float64)
	// correlation returns c_j for the column at position k.
	correlation(k int) float64
	// move updates the engine after the coefficient at position k has moved by d.
	move(k int, d float64)
	// correlations sets out to the c_j of the columns at the positions given.
	correlations(positions []int32, out []float64)
	// moveAll is move for several columns, one after the other. It may change d.
	moveAll(positions []int32, d []float64)
	// squaredResidual returns ‖r̂‖².
	squaredResidual() float64
	// price returns the cost of a sweep that moved some coefficients, whose columns hold the number of values
	// given.
	price(moved, values int) float64
}

const (
	innerFactor = 0.1   // of the outer gap
	leastFactor = 1e-4  // lower bound of inner.factor, where rounding makes tightening useless
	leastGap    = 1e-16 // relative to P₀: no sweep reaches a smaller gap
	// ridgeCaution is how many times smaller than the target ridgeGap must be: predictions are accurate only to
	// the square root of the gap, and to less under a small ridge. coldCaution replaces it in an exact solve
	// that begins at β = 0: such a solve is not part of a search, which would continue from its predictions.
	ridgeCaution = 1e3
	coldCaution  = 1e2
	mostSweeps   = 2000 // over one working set, before the next certificate
	leastSweeps  = 2    // over a working set that is about to change
	smallShare   = 0.3  // of the price of a pass: a step that costs less is worth taking to save passes
	allShare     = 0.3  // of the tolerance, where the set has all columns
	closerFactor = 0.01 // factor on the gap to reach where a closer solution is cheap
)

func (in *inner) init(view *sparse.View) {
	in.total = view.Total()
	in.store = support.NewColumns(view)
	in.gram = support.NewGram(in.store)
	in.residual.inner, in.quadratic.inner = in, in
	in.residual.k, in.quadratic.k = view.Kernels(), view.Kernels()
	in.residual.team = view.Team()
	in.newton.init(view, in)
	in.homotopy.init(in, view.Kernels())
}

// setCostModel sets the cost model to that of a quadratic loss, whose Gram matrix stays the same, or, where curved is
// true, to that of a loss whose curvature changes with every step.
func (in *inner) setCostModel(curved bool) {
	in.epochs, in.reuses, in.buildFactor, in.alwaysFactorised = epochsExpected, newtonsExpected, 1, factoriseUpTo
	in.newton.enough = newtonEnough
	if curved {
		in.newton.enough = 0
		in.epochs, in.reuses, in.buildFactor, in.alwaysFactorised = curvedEpochs, 1, oneStepFactor, curvedFactoriseUpTo
		if in.store.Rows() > cachedRows && !in.store.Dense() {
			in.buildFactor = oneStepFactorUncached
		}
	}
}

// forget empties the caches.
func (in *inner) forget() {
	in.store.Clear()
	in.newton.forget()
	in.homotopy.forget()
	in.engine = nil
}

// start prepares for a solve with the number of epochs given.
func (in *inner) start(epochs int, warm bool, tol float64) {
	in.epochsLeft, in.caution = epochs, ridgeCaution
	if !warm && tol <= exactTol {
		in.caution = coldCaution
	}
	if in.newtons = in.reuses; !warm {
		in.newtons = min(in.newtons, newtonsCold)
	}
	in.work = 0
	in.store.ClearWork()
	in.factor = innerFactor
	in.newton.priceFactor, in.newton.blocked, in.newton.limit = 1, 0, firstLimit
}

func (in *inner) exhausted() bool { return in.epochsLeft == 0 }
func (in *inner) tighten()        { in.factor = max(leastFactor, 0.1*in.factor) }
func (in *inner) relax()          { in.factor = innerFactor }

// sweep solves the problem on the working set of a quadratic datafit until its gap is a fraction of the
// certified one. It returns false if ctx ended.
func (s *Solver) sweep(ctx context.Context) bool {
	in := &s.in
	in.load(s, s.state.Weighted)
	target := s.closeness() * s.sol.Gap
	defer in.unload(s)
	if in.homotopy.suits() {
		steps := in.homotopy.follow(ctx)
		if s.sol.Steps += steps; steps > 0 && in.gap() <= target {
			return true
		}
	}
	return s.solveInner(ctx, target, mostSweeps)
}

// jumpPolishes is the number of polishing steps where the curvature jumps: each step leaves about a thousandth
// of the error, see jumpDamping, and rows may cross a jump on the way.
const jumpPolishes = 4

// polishes returns the largest number of polishing steps to take.
func (s *Solver) polishes(opts Options) int {
	if !opts.Polish {
		return 0
	}
	if s.curved != nil {
		if _, ok := s.curved.Concordance(); !ok {
			return jumpPolishes
		}
	}
	return 1
}

// magnitude returns the scale of rounding errors in the model's objective: P₀, or, where rows may have next to
// no curvature and therefore large working residuals, the objective itself if that is larger.
func (s *Solver) magnitude() float64 {
	if s.curved != nil && s.prox.leastDamping > 0 {
		return max(s.null, s.in.objective()/s.in.total)
	}
	return s.null
}

// closeness returns the gap to reach on the loaded problem, relative to the certified gap. It is smaller, to
// save passes, where the set lacks few columns and a Newton step on the Gram matrix is cheap beside a pass.
// Where the set has all columns the gap to reach is below the tolerance.
func (s *Solver) closeness() float64 {
	in := &s.in
	if s.set.all {
		return min(in.factor, allShare*s.tol/s.sol.RelativeGap)
	}
	if in.engine != &in.quadratic || !s.set.nearlyComplete(len(s.active)) {
		return in.factor
	}
	in.newton.collect()
	if _, cost := in.newton.plan(); cost > float64(smallShare*s.passCost) {
		return in.factor
	}
	return min(in.factor*closerFactor, allShare*s.tol/s.sol.RelativeGap)
}

// solveInner solves the loaded problem. A working set that has just grown by many columns will soon change
// again, so its solution may cost no more than two sweeps plus the price of the next pass over all columns.
func (s *Solver) solveInner(ctx context.Context, target float64, most int) bool {
	allowance := math.Inf(1)
	if !s.set.settled(len(s.active)) {
		allowance = s.passCost
	}
	return s.in.solve(ctx, s, target, most, allowance)
}

// polish takes a Newton step on the support to working precision.
func (s *Solver) polish(ctx context.Context) {
	s.set.keepSupport(s)
	nw := &s.in.newton
	nw.tol = polishTol
	defer func() { nw.tol = newtonTol }()
	if s.curved != nil {
		s.prox.damping = 0
		s.startAtCertified()
		s.loadModel(true)
	} else {
		s.in.load(s, s.state.Weighted)
	}
	nw.collect()
	nw.step(ctx, s.magnitude())
	if s.curved != nil {
		s.descend()
	} else {
		s.in.unload(s)
	}
}

// solve sweeps, with Newton steps in between, until the gap is within target or the cost exceeds the allowance
// plus leastSweeps sweeps. It returns false if ctx ended.
func (in *inner) solve(ctx context.Context, s *Solver, target float64, most int, allowance float64) bool {
	target = max(target, leastGap*s.null)
	for sweeps := 0; in.epochsLeft > 0 && sweeps < most; sweeps++ {
		if ctx.Err() != nil {
			return false
		}
		in.epochsLeft--
		s.sol.Epochs++
		cost := in.epoch()
		in.sweepCost += cost
		in.work += cost
		if sweeps == 0 {
			allowance += float64(leastSweeps * cost)
		}
		allowance -= cost
		gap := in.gap()
		if sweeps == 0 && gap < in.outerGap {
			target *= max(innerFactor, gap/in.outerGap)
		}
		if allowance <= 0 || gap <= target || in.ridge > 0 && in.caution*in.ridgeGap() <= target {
			break
		}
		if in.newton.worth(in.sweepCost) && in.newton.cost <= allowance {
			if in.newton.step(ctx, s.magnitude()) {
				s.sol.Steps++
			}
			allowance -= in.newton.cost
			in.sweepCost = 0
		}
	}
	return true
}

// epoch sweeps the set once. The sweeps of the engines handle no constraints; under constraints the columns are
// visited here, one at a time.
func (in *inner) epoch() (cost float64) {
	if !in.pen.Positive() && !in.pen.Bounded() {
		return in.engine.epoch()
	}
	moved, values := 0, 0
	for k, b := range in.coef {
		c := in.engine.correlation(k)
		in.grad[k] = c - float64(in.ridge*b)
		next := model.SoftThreshold(math.FMA(in.square[k], b, c), in.threshold[k]) / (in.square[k] + in.ridge)
		next = in.pen.Clip(int(in.columns[k]), next)
		if d := next - b; d != 0 {
			in.coef[k] = next
			in.engine.move(k, d)
			moved++
			values += in.length[k]
		}
	}
	return in.engine.price(moved, values)
}

// load loads the working set, β and the weighted residual v, and chooses the engine.
func (in *inner) load(s *Solver, v []float64) {
	in.columns = s.set.columns
	in.ridge, in.pen = in.total*s.pen.Ridge(), s.pen
	w := len(in.columns)
	for _, v := range []*[]float64{&in.coef, &in.square, &in.threshold, &in.grad} {
		*v = grow(*v, w)
	}
	if cap(in.length) < w {
		in.length = make([]int, w+w/2)
	}
	in.length = in.length[:w]
	if s.subsampling.squared > 0 && in.store.Tall() {
		in.gram.Hold(in.columns)
	} else {
		in.store.Hold(in.columns)
	}
	for k, j := range in.columns {
		in.coef[k] = s.beta[s.set.places[k]]
		in.square[k], in.length[k] = in.store.Square(j), in.store.Length(j)
		in.threshold[k] = in.total * s.pen.Alpha(int(j))
	}
	in.correlated = nil
	if in.squared = s.subsampling.squared; s.curved == nil || in.squared > 0 {
		in.correlated = &s.cert
	}
	if in.squared > 0 { // the store lacks rows that correlations need
		s.correlateWorkingSet()
		s.fixSparseColumns()
		in.engine = &in.quadratic
	} else {
		in.engine = in.chooseEngine()
	}
	in.engine.load(v)
	in.sweepCost = 0
}

// unload writes the coefficients back to β.
func (in *inner) unload(s *Solver) {
	for k, place := range s.set.places {
		s.beta[place] = in.coef[k]
	}
}

// gap estimates the gap of the restricted problem from the correlations computed during the last sweep, at no
// cost of its own. They are older than the coefficients, so the estimate only serves as a stopping rule and is
// never reported.
func (in *inner) gap() float64 {
	if in.pen.Bounded() {
		return in.boundedGap()
	}
	var worst, l2, slack, product, loose float64
	alike := in.pen.Columns() < 0 && !in.pen.Positive() && len(in.grad) > 0 // all columns pull by |a| against one threshold
	if alike {
		worst = in.residual.k.MaxAbs(in.grad) / in.threshold[0]
	}
	for k, a := range in.grad {
		if !alike {
			if in.threshold[k] == 0 {
				loose = math.FMA(a/(2*in.square[k]), a, loose)
				continue
			}
			worst = max(worst, in.pen.Pull(int(in.columns[k]), a)/in.threshold[k])
		}
		if b := in.coef[k]; b != 0 {
			l2 = math.FMA(in.ridge*b, b, l2)
			product = math.FMA(a, b, product)
			slack = math.FMA(in.threshold[k]-float64(math.Copysign(1, b)*a), math.Abs(b), slack)
		}
	}
	rest := 0.0
	if worst > 1 {
		rest = 1 - 1/worst
	}
	norm := in.engine.squaredResidual() + l2
	return (loose + float64(rest*rest*norm/2) + math.FMA(rest, product, slack)) / in.total
}

// ridgeGap is [inner.gap] at the unscaled correlations, which a ridge makes dual feasible. Where αⱼ is next to
// nothing, scaling the correlations to it would make a poor dual point.
func (in *inner) ridgeGap() float64 {
	var gap float64
	for k, a := range in.grad {
		b := in.coef[k]
		c := math.FMA(in.ridge, b, a)
		over := math.Copysign(max(0, math.Abs(c)-in.threshold[k]), c)
		off := math.FMA(-in.ridge, b, over)
		gap = math.FMA(off/(2*in.ridge), off, gap)
		gap += float64(in.threshold[k]*math.Abs(b)) - float64((c-over)*b)
	}
	return gap / in.total
}

// objective returns N·Φ of the restricted problem.
func (in *inner) objective() float64 {
	var l1, l2 float64
	for k, b := range in.coef {
		if b != 0 {
			l1 = math.FMA(in.threshold[k], math.Abs(b), l1)
			l2 = math.FMA(in.ridge*b, b, l2) // β² may overflow where this product does not
		}
	}
	return float64(0.5*in.engine.squaredResidual()) + l1 + float64(0.5*l2)
}

// grow returns v resized to length n, with undefined contents.
func grow(v []float64, n int) []float64 {
	if cap(v) < n {
		return kernels.Undefined[float64](n + n/2)[:n]
	}
	return v[:n]
}
