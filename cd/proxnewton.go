package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// proxNewton improves on the certified point for a loss that is not quadratic: a
// step minimises the quadratic model of the loss there plus the penalty over the
// working set, by the sweeps and Newton steps of the inner problem, and moves
// towards the minimiser until the objective falls enough. Exponentials are taken
// once per step, never inside a sweep.
//
// The certificate that follows costs a pass over X and shows columns that are worth
// more than a better solution without them. So there is one step, or as many as
// touch a share of X together.
type proxNewton struct {
	here      *model.State // the current point: the certified one, or a spare
	spare     [2]*model.State
	d         []float64 // n: curvature
	direction []float64 // n: X̃δ
	corr      []float64 // X_jᵀv at the current point, by position
	from      []float64 // β there, by position
	delta     []float64 // δ, by position
	last      float64   // gap that the last model was to lower; 0: there was none
	forcing   float64   // share of the gap that the next may leave
	damping   damping
	level     damping // that a model without damping which has misled is followed by
	least     float64 // the least share, where curvature jumps; else 0
	strides   strides
	reduction reduction // of the unpenalised columns, as the model weighs them
	sweeps    int       // for the next model far away: twice as many as for the last, which may have been too few
	dual      model.Dual

	before   float64 // the objective at the current point
	shift    float64 // the intercept where a full step untried began
	promised float64 // the change of it that the model of a full step promises
	untried  bool    // a full step was taken without a trial: the next certificate judges it
}

const (
	farAway       = 0.2 // relative to P₀: a gap that says little about the solution
	fewSweeps     = 3
	mostLeft      = 0.5  // of the gap, by a model
	finalShare    = 0.5  // of the tolerance: no model is solved to less
	passShare     = 0.1  // of the entries of X that steps may touch before a pass
	sufficient    = 1e-4 // of the decrease that the model promises
	honest        = 0.1  // of it: below, the model is far off and shorter steps are tried
	halvings      = 10
	furthestMove  = 16 // of a prediction in one step, where the curvature has no bound
	firstDamping  = 1.0 / 64
	jumpDamping   = 1e-3 // where curvature jumps: rows without any would leave models without a minimum
	leastJump     = 1e-9 // after full steps: rows without a loss allow ones as long as the penalty over the damping
	lessJump      = 4
	moreDamping   = 8
	misled        = 0.25  // length of a step after which its model is not trusted
	modelRoundoff = 1e-13 // relative to P₀: below it decrease is noise
)

// start begins a solve.
func (pn *proxNewton) start(f model.Curved) {
	pn.damping, pn.level, pn.least, pn.sweeps, pn.last = 0, firstDamping, 0, fewSweeps, 0
	pn.strides.known, pn.strides.count = false, 0
	if f == nil {
		return
	}
	if _, ok := f.Concordance(); !ok {
		pn.least = jumpDamping
	}
}

// proxNewton takes steps from the certified point, until their gap is a fraction of
// the certified one at the latest. It returns false where ctx ended.
func (s *Solver) proxNewton(ctx context.Context) bool {
	if !s.takeSteps(ctx) {
		return false
	}
	s.stride()
	if s.prox.here != s.state && s.follows() {
		s.state.Assign(s.prox.here)
		s.followed.at, s.followed.drifted = complete, true
	}
	return true
}

// takeSteps is proxNewton but for the state, which stays that of the certified point unless a full step ends it.
func (s *Solver) takeSteps(ctx context.Context) bool {
	s.enter()
	s.force()
	gap, target := s.sol.Gap, s.modelGap(s.sol.Gap)
	left := passShare * float64(s.view.Matrix().NNZ())
	for {
		s.approximate(false)
		most, share := mostSweeps, 1.0
		switch t := &s.subsampling; {
		case t.squared > 0 && !t.singles: // sweeps on its Gram matrix cost nothing beside a pass
			share = closer
		case gap > farAway*s.null:
			most = s.prox.sweeps // for a model that will soon be another
			s.prox.sweeps = min(2*most, mostSweeps)
		}
		if !s.solveInner(ctx, share*s.modelGap(max(gap, target)), most) {
			return false
		}
		left -= float64(s.entries(s.set.columns))
		if s.subsampling.squared > 0 || left < 0 && s.trusts() {
			s.takeFullStep()
			return true
		}
		s.in.outer = 0
		length := s.descend()
		switch helps := s.prox.adapt(length); {
		case s.in.exhausted():
			return true
		case length == 0 && helps:
			continue
		case length == 0 || left < 0:
			return true
		}
		if gap = s.setGap(); gap <= target {
			return true
		}
	}
}

// force chooses the share of the gap that the next model may leave. Newton steps that no factorisation
// ends are dear, and where the last model has left much of its gap, as exactly as it was solved, the
// next one is worth no more (Eisenstat and Walker, SIAM Journal on Scientific Computing 17, 1996). But
// it may not have been solved as exactly as sweeps made it seem, so what they say of the next is
// measured by the certified gap.
func (s *Solver) force() {
	pn := &s.prox
	pn.forcing, s.in.outer = innerFactor, 0
	if pn.last > 0 && s.sol.Gap > mostLeft*pn.last && s.set.settled(len(s.active)) {
		s.in.outer = s.sol.Gap
	}
	if pn.last > 0 && len(s.active) > largestCholesky {
		pn.forcing = max(innerFactor, min(s.sol.Gap/pn.last, mostLeft))
	}
	pn.last = s.sol.Gap
}

// modelGap returns the gap to which a model is solved that is to lower this one: no less than the
// tolerance needs, but where the last model has not lowered it.
func (s *Solver) modelGap(gap float64) float64 {
	if s.in.factor < innerFactor {
		return s.in.factor * gap
	}
	return max(s.prox.forcing*gap, finalShare*s.tol*s.null)
}

// enter makes the certified point the current one.
func (s *Solver) enter() {
	pn := &s.prox
	if pn.d == nil {
		pn.d = kernels.Zeros[float64](s.k, len(s.state.Linear))
	}
	pn.here = s.state
	pn.corr = grow(pn.corr, len(s.set.places))
	for k, place := range s.set.places {
		pn.corr[k] = s.cert.corr[place]
	}
}

// adapt damps models that have misled and trusts those again that have not; where the curvature
// jumps, more and more. It returns false where no damping would help.
func (pn *proxNewton) adapt(length float64) bool {
	switch {
	case length == 0 && pn.damping == 1:
		return false
	case length <= misled && pn.least > 0 && pn.least < jumpDamping:
		pn.least = min(jumpDamping, moreDamping*pn.least)
	case length == 1 && pn.damping == 0 && pn.least > 0:
		pn.least = max(leastJump, pn.least/lessJump)
	default:
		return pn.damp(length)
	}
	return true
}

// damp adapts the damping. Where models with it are good for full steps, and without it none is, there is less of it each time.
func (pn *proxNewton) damp(length float64) bool {
	before := pn.damping
	helps := pn.damping.adapt(length)
	switch {
	case !helps:
	case before == 0 && pn.damping > 0:
		pn.damping = pn.level
	case before > 0 && pn.damping == 0:
		pn.level = max(leastJump, pn.level/moreDamping)
	case length <= misled:
		pn.damping = min(1, moreDamping*before)
		pn.level = min(pn.damping, firstDamping)
	}
	return helps
}

// damping is the share of a majoriser's curvature that models of the loss have at least.
type damping float64

// adapt is told the length of the step that a model was good for. It returns false where a step
// failed and no damping would help: at the most, the model lies above the loss.
func (d *damping) adapt(length float64) bool {
	switch {
	case length == 0 && *d == 1:
		return false
	case length <= misled:
		*d = min(1, max(firstDamping, moreDamping**d))
	case length == 1:
		if *d /= moreDamping; *d < firstDamping {
			*d = 0
		}
	}
	return true
}

// approximate loads the quadratic model of the loss at the current point. Samples far on
// the wrong side have a steep loss without curvature, and a model of it no minimum near.
// A polish wants the curvature of all rows.
func (s *Solver) approximate(polish bool) {
	pn, in := &s.prox, &s.in
	s.curved.Curvature(pn.here, pn.d)
	s.raise(pn.d)
	s.in.work += float64(2 * rowValue * float64(len(pn.d)))
	if share := max(float64(pn.damping), pn.least); share > 0 {
		s.curved.Dampen(pn.here, share, pn.d)
	}
	switch {
	case !polish && s.subsample():
		in.store.Subsample(s.subsampling.rows, s.subsampling.weights)
		in.newton.apart.of = nil
	case !polish && s.onGram():
		in.store.Reweigh(pn.d)
		in.newton.apart.of = nil
	default:
		in.store.Reweigh(pn.d)
		s.reduceModel()
	}
	in.load(s, pn.here.Weighted)
	pn.from = append(pn.from[:0], in.coef...)
}

// onGram reports that the model of all rows at the certified point is to be worked on by its Gram matrix alone, which is made of X.
func (s *Solver) onGram() bool {
	t, pn := &s.subsampling, &s.prox
	if pn.here != s.state || !s.in.store.Tall() || !s.in.gram.Fits(len(s.set.columns)) || s.unpenalised.nearlyDepend() {
		return false
	}
	t.squared, t.runs, t.singles = 0, false, false
	for from, to := range s.k.Pieces(len(pn.d)) {
		weighted := pn.here.Weighted[from:to]
		for i, d := range pn.d[from:to] {
			if d > 0 {
				t.squared = math.FMA(weighted[i], weighted[i]/d, t.squared)
			}
		}
	}
	return t.squared > 0
}

// reduceModel tells unpenalised columns apart that nearly depend on one another, as the model weighs them.
func (s *Solver) reduceModel() {
	u, r := &s.unpenalised, &s.prox.reduction
	s.in.newton.apart.of = nil
	if !u.nearlyDepend() {
		return
	}
	if r.store == nil {
		r.hold(s.view)
	}
	r.given = u.given
	r.store.Reweigh(s.prox.d)
	s.in.work += r.reduce(u.columns, s.prox.d)
	s.in.newton.apart.of = r
}

// leastCurvature is the curvature of a row of weight 1 in a model.
const leastCurvature = 1e-12

// raise keeps curvatures above a floor, or rows far from the margin would blow up the
// working residual. It is a matter of the step: derivatives want the curvature as it is.
func (s *Solver) raise(d []float64) {
	weights := s.view.Weights()
	for from, to := range s.k.Pieces(len(d)) {
		piece, floor := d[from:to], leastCurvature
		for i, v := range piece {
			if weights != nil {
				floor = leastCurvature * weights[from+i]
			}
			if v < floor {
				piece[i] = floor
			}
		}
	}
}

// setGap computes the correlations of the working set at the current point, and
// returns the duality gap of the problem on it.
func (s *Solver) setGap() float64 {
	pn, total := &s.prox, s.view.Total()
	s.payDots(s.entries(s.set.columns))
	pn.dual = model.Dual{Penalty: s.pen, Total: total, Loss: pn.here.Loss}
	s.view.Dots(s.set.columns, pn.here.Weighted, pn.corr)
	for k, j := range s.set.columns {
		pn.dual.Add(int(j), pn.corr[k]/total, s.beta[s.set.places[k]], 0)
	}
	return s.fit.Gap(&pn.dual, pn.here)
}

// promise notes δ and what the model promises: the slope of the loss along δ, plus the
// change of g.
func (s *Solver) promise() {
	pn, in := &s.prox, &s.in
	pn.delta = grow(pn.delta, len(in.columns))
	pn.promised = 0
	for k, c := range pn.corr {
		d := in.coef[k] - pn.from[k]
		pn.delta[k] = d
		pn.promised = math.FMA(-d, c/in.total, pn.promised)
	}
	pn.before = s.penalty(0)
	pn.promised += s.penalty(1) - pn.before
	pn.before += pn.here.Loss
}

// small reports that what the model promises is noise.
func (s *Solver) small() bool { return -s.prox.promised <= modelRoundoff*s.null }

// trusts reports that the step from the certified point will be a full one: nearly all
// are where there are as many rows as columns and models have not misled.
func (s *Solver) trusts() bool {
	_, smooth := s.fit.Smoothness()
	return smooth && s.prox.here == s.state && s.prox.damping == 0 && s.in.store.Rows() >= len(s.cert.order)
}

// takeFullStep takes the full step from the certified point without trying it: the next
// certificate computes its objective in any case.
func (s *Solver) takeFullStep() {
	s.promise()
	s.prox.untried, s.prox.shift = true, s.state.Intercept
	if t := &s.subsampling; t.squared > 0 && t.singles {
		s.noteStep()
	}
	if s.regain(s.state, s.state.Linear) {
		s.followed.at, s.followed.drifted = linear, true
	}
	s.in.unload(s)
	s.sol.Steps++
}

// judgeStep judges the full step that led to the certified point: where a search would not have
// taken it, it is undone, and a shorter one certified. It returns false where none gains anything, and no damping would help.
func (s *Solver) judgeStep(stalled bool) (helps bool) {
	s.prox.untried = false
	length := 1.0
	if s.failed() {
		length = s.undoStep()
		s.certify()
	}
	helps = s.prox.adapt(length)
	switch t := &s.subsampling; {
	case t.squared == 0:
	case t.singles:
		s.judgeSubsample(length, stalled)
	default:
		t.squared = 0
		t.missed = t.missed || t.runs && (length < 1 || s.sol.Gap > mostLeft*s.prox.last)
	}
	return helps
}

// failed reports that a search would not have taken the full step to the certified point.
func (s *Solver) failed() bool {
	pn := &s.prox
	allowed := float64(honest * pn.promised)
	if s.small() {
		allowed = modelRoundoff * s.null
	}
	return !(s.sol.Objective <= pn.before+allowed)
}

// undoStep undoes a full step that has failed, and searches for a shorter one, whose length it
// returns.
func (s *Solver) undoStep() (length float64) {
	pn := &s.prox
	for k, place := range s.set.places {
		s.beta[place] = pn.from[k]
	}
	s.gather()
	s.state.Intercept = s.prox.shift // from far out, where there is no curvature, there may be no way back
	s.refit()
	s.followed.drifted = true // what has correlations is the failed point, and the next may be the same once more
	s.sol.Steps--
	return s.descend()
}

// descend moves from the current point towards the minimiser of the model by
// the longest of the steps 1, ½, ¼, … that achieves a share of the decrease that
// the model promises; where that is a small share, by the first that the next does not
// better. (With a rare class the model at β = 0 sees next to no curvature: its
// minimiser is far out, where there is none at all, and no way back.) It returns the
// length, 0 where the objective does not fall.
func (s *Solver) descend() (length float64) {
	pn := &s.prox
	s.setDirection()
	before, promised := pn.before, pn.promised
	trial := s.trial()
	length = s.furthest()
	best := math.Inf(1)
	for range halvings {
		after := s.try(trial, length)
		if after >= best && !math.IsInf(best, 1) { // the step before was better
			length *= 2
			s.try(trial, length)
			best = after
		}
		switch {
		case s.small(), best <= after && !math.IsInf(best, 1), after <= before+float64(honest*length*promised):
			s.arrive(trial, length)
			return length
		case after <= before+float64(sufficient*length*promised):
			best = after
		}
		length *= 0.5
	}
	return 0
}

// setDirection notes δ, what the model promises, and how δ moves the predictions.
func (s *Solver) setDirection() {
	pn := &s.prox
	s.promise()
	if pn.direction == nil {
		pn.direction = make([]float64, len(s.state.Linear))
	}
	s.k.Clear(pn.direction)
	if !s.regain(pn.here, pn.direction) {
		s.view.AddColumns(s.in.columns, pn.delta, pn.direction)
		s.payUpdates(s.entriesMoved())
	}
}

// try makes a state that of a point along δ, and returns the objective there.
func (s *Solver) try(trial *model.State, length float64) float64 {
	pn := &s.prox
	s.k.Copy(trial.Linear, pn.here.Linear)
	s.k.Axpy(length, pn.direction, trial.Linear)
	s.curved.Move(pn.here, trial)
	s.payRows()
	return trial.Loss + s.penalty(length)
}

// arrive makes a point along δ, tried last, the current one.
func (s *Solver) arrive(trial *model.State, length float64) {
	pn := &s.prox
	pn.here = trial
	for k, place := range s.set.places {
		s.beta[place] = math.FMA(length, pn.delta[k], pn.from[k])
		if length == 1 && s.pen.Bounded() {
			s.beta[place] = s.in.coef[k] // at its bound to the last bit
		}
	}
	s.sol.Steps++
}

// trial returns a state that is not the current point's. Full steps untried need none.
func (s *Solver) trial() *model.State {
	pn := &s.prox
	k := 0
	if pn.here == pn.spare[k] {
		k = 1
	}
	if pn.spare[k] == nil {
		pn.spare[k] = model.NewState(s.fit)
	}
	return pn.spare[k]
}

// furthest returns the longest step to try: 1, but where the curvature has no bound one that
// moves no prediction of a row with a weight so far that the loss overflows.
func (s *Solver) furthest() float64 {
	if _, ok := s.fit.Smoothness(); ok {
		return 1
	}
	direction, weights := s.prox.direction, s.view.Weights()
	var move float64
	if weights == nil {
		move = s.k.MaxAbs(direction)
	} else {
		for i, w := range kernels.Each(s.k, weights) {
			if w > 0 {
				move = max(move, math.Abs(direction[i]))
			}
		}
	}
	if move > furthestMove {
		return furthestMove / move
	}
	return 1
}

// penalty returns g(from + length·δ).
func (s *Solver) penalty(length float64) float64 {
	in, pn := &s.in, &s.prox
	var l1, l2 float64
	for k := range in.columns {
		b := math.FMA(length, pn.delta[k], pn.from[k])
		l1 = math.FMA(in.threshold[k], math.Abs(b), l1)
		l2 = math.FMA(in.ridge*b, b, l2)
	}
	return (l1 + float64(0.5*l2)) / in.total
}
