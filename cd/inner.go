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
// w are the row weights for the squared loss, which is quadratic itself, and the
// curvature at the current point for others. Slices are indexed by position in
// the working set.
type inner struct {
	columns []int32
	total   float64 // N
	ridge   float64 // Nα₂
	pen     model.Penalty

	coef      []float64 // βⱼ
	square    []float64 // ‖X̃_j‖²
	threshold []float64 // Nαⱼ
	length    []int     // values of the column
	grad      []float64 // c_j − Nα₂βⱼ when the last sweep reached column j

	met       *certificate // that has met the residual loaded; nil: none has
	squared   float64      // ‖r̂‖² where the store has not all rows of r̂, else 0
	working   []float64    // r̂ as an engine has it: by compact rows, times √w
	store     *support.Columns
	gram      *support.Gram
	residual  residualEngine
	quadratic gramEngine
	engine    engine // the one in use
	newton    newton
	homotopy  homotopy

	epochs   float64 // sweeps that a Gram matrix must pay for itself in
	reuses   float64 // Newton steps that share what is added to it
	newtons  float64 // those of them to be expected of this solve
	building float64 // factor on the price of adding to it
	always   int     // columns up to which it is factorised whatever else would cost

	factor  float64 // the inner gap asked for, relative to the outer one
	outer   float64 // the outer gap, which the first estimate of the inner one is measured by; 0: it is believed
	left    int     // epochs left in this solve
	caution float64 // ridgeCaution or coldCaution
	spent   float64 // modelled cost of the sweeps since the last Newton step
	work    float64 // that of everything in this solve, but for what the store counts
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
	// move updates what is kept for a coefficient, at position k, that has moved by d.
	move(k int, d float64)
	// correlations sets out to the c_j of columns at some positions.
	correlations(positions []int32, out []float64)
	// moves is move for several columns, one after the other. It may change d.
	moves(positions []int32, d []float64)
	// squaredResidual returns ‖r̂‖².
	squaredResidual() float64
	// price is the cost of a sweep in which columns moved that hold as many values.
	price(moved, values int) float64
}

const (
	innerFactor = 0.1   // of the outer gap
	leastFactor = 1e-4  // where rounding ends the tightening
	leastGap    = 1e-16 // relative to P₀: no sweep gets further
	// ridgeCaution is how far ridgeGap must be below the gap asked for: predictions are known
	// to its root only, and to less under a small ridge. coldCaution is that of a solve that begins at
	// β = 0 and is to be exact: it is none on the way of a search, which would go on from predictions.
	ridgeCaution = 1e3
	coldCaution  = 1e2
	mostSweeps   = 2000 // of one working set, after which it is looked at afresh
	leastSweeps  = 2    // of one that will soon be another
	smallShare   = 0.3  // of the price of a pass: a step that costs less is worth taking for fewer passes
	allShare     = 0.3  // of the tolerance, where the set has all columns
	closer       = 0.01 // times as close to the solution as otherwise
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

// suit makes the cost model that of a quadratic loss, whose Gram matrix stays, or
// of another, whose curvature changes with every step.
func (in *inner) suit(curved bool) {
	in.epochs, in.reuses, in.building, in.always = epochsExpected, newtonsExpected, 1, smallestChoice
	in.newton.enough = newtonEnough
	if curved {
		in.newton.enough = 0
		in.epochs, in.reuses, in.building, in.always = curvedEpochs, 1, passing, curvedChoice
		if in.store.Rows() > cachedRows && !in.store.Dense() {
			in.building = beyond
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

func (in *inner) start(epochs int, warm bool, tol float64) {
	in.left, in.caution = epochs, ridgeCaution
	if !warm && tol <= exact {
		in.caution = coldCaution
	}
	if in.newtons = in.reuses; !warm {
		in.newtons = min(in.newtons, newtonsCold)
	}
	in.work = 0
	in.store.ClearWork()
	in.factor = innerFactor
	in.newton.reluctant, in.newton.blocked, in.newton.limit = 1, 0, firstLimit
}

func (in *inner) exhausted() bool { return in.left == 0 }
func (in *inner) tighten()        { in.factor = max(leastFactor, 0.1*in.factor) }
func (in *inner) relax()          { in.factor = innerFactor }

// sweep solves the problem on the working set of a quadratic datafit until its
// gap is a fraction of the certified one. It returns false where ctx ended.
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

// jumpPolishes is how many steps a polish has where the curvature jumps: each takes off all
// but a thousandth, see jumpDamping, and rows may cross a jump on the way.
const jumpPolishes = 4

// polishes returns how many polishing steps there are to be at most.
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

// magnitude returns what the rounding of the model's objective is relative to: P₀, or where
// rows have next to no curvature their large working residuals.
func (s *Solver) magnitude() float64 {
	if s.curved != nil && s.prox.least > 0 {
		return max(s.null, s.in.objective()/s.in.total)
	}
	return s.null
}

// closeness returns the gap asked of the problem loaded, relative to the certified one. Where few
// columns are missing and a Newton step on the Gram matrix costs little beside a pass, it is less,
// for fewer passes; where none are, it is below the tolerance.
func (s *Solver) closeness() float64 {
	in := &s.in
	if s.set.all {
		return min(in.factor, allShare*s.tol/s.sol.RelativeGap)
	}
	if in.engine != &in.quadratic || !s.set.whole(len(s.active)) {
		return in.factor
	}
	in.newton.collect()
	if _, cost := in.newton.plan(); cost > float64(smallShare*s.passed) {
		return in.factor
	}
	return min(in.factor*closer, allShare*s.tol/s.sol.RelativeGap)
}

// solveInner solves the problem loaded. That on a set which has just taken in many columns will soon
// be another: besides two sweeps it may cost what the next pass over all columns does.
func (s *Solver) solveInner(ctx context.Context, target float64, most int) bool {
	allowance := math.Inf(1)
	if !s.set.settled(len(s.active)) {
		allowance = s.passed
	}
	return s.in.solve(ctx, s, target, most, allowance)
}

// polish takes a Newton step on the support to working precision.
func (s *Solver) polish(ctx context.Context) {
	s.set.keep(s)
	nw := &s.in.newton
	nw.tol = polishTol
	defer func() { nw.tol = newtonTol }()
	if s.curved != nil {
		s.prox.damping = 0
		s.enter()
		s.approximate(true)
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

// solve sweeps, with Newton steps in between, until the gap is within target, or has cost the
// allowance besides the least sweeps. It returns false where ctx ended.
func (in *inner) solve(ctx context.Context, s *Solver, target float64, most int, allowance float64) bool {
	target = max(target, leastGap*s.null)
	for sweeps := 0; in.left > 0 && sweeps < most; sweeps++ {
		if ctx.Err() != nil {
			return false
		}
		in.left--
		s.sol.Epochs++
		cost := in.epoch()
		in.spent += cost
		in.work += cost
		if sweeps == 0 {
			allowance += float64(leastSweeps * cost)
		}
		allowance -= cost
		gap := in.gap()
		if sweeps == 0 && gap < in.outer {
			target *= max(innerFactor, gap/in.outer)
		}
		if allowance <= 0 || gap <= target || in.ridge > 0 && in.caution*in.ridgeGap() <= target {
			break
		}
		if in.newton.worth(in.spent) && in.newton.cost <= allowance {
			if in.newton.step(ctx, s.magnitude()) {
				s.sol.Steps++
			}
			allowance -= in.newton.cost
			in.spent = 0
		}
	}
	return true
}

// epoch sweeps the set once. The engines' sweeps know no constraint; under one the
// columns are visited here, one at a time.
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

// load takes the working set, β and the weighted residual v over, and chooses
// the engine.
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
	in.met = nil
	if in.squared = s.subsampling.squared; s.curved == nil || in.squared > 0 {
		in.met = &s.cert
	}
	if in.squared > 0 { // the store has not the rows to meet columns with
		s.meetSet()
		s.fixSparseColumns()
		in.engine = &in.quadratic
	} else {
		in.engine = in.choose()
	}
	in.engine.load(v)
	in.spent = 0
}

// unload writes the coefficients back to β.
func (in *inner) unload(s *Solver) {
	for k, place := range s.set.places {
		s.beta[place] = in.coef[k]
	}
}

// gap estimates the gap of the restricted problem from the correlations that
// the last sweep met on its way, which costs no pass. They are older than the
// coefficients, so it is used as a stopping rule only, never reported.
func (in *inner) gap() float64 {
	if in.pen.Bounded() {
		return in.boundedGap()
	}
	var worst, l2, slack, product, loose float64
	alike := in.pen.Columns() < 0 && !in.pen.Positive() && len(in.grad) > 0 // they pull by |a|, all to one threshold
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

// ridgeGap is [inner.gap] at the correlations as they are: a ridge makes them dual feasible.
// Scaled to the strength of the kink they are far off where that is next to nothing.
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
			l2 = math.FMA(in.ridge*b, b, l2) // β² may overflow where this does not
		}
	}
	return float64(0.5*in.engine.squaredResidual()) + l1 + float64(0.5*l2)
}

// grow returns v with length n, its contents undefined.
func grow(v []float64, n int) []float64 {
	if cap(v) < n {
		return kernels.Undefined[float64](n + n/2)[:n]
	}
	return v[:n]
}
