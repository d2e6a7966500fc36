package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// proxNewton improves on the certified point for a loss that is not quadratic. A step minimises the quadratic
// model of the loss at that point plus the penalty over the working set, by the sweeps and Newton steps of the
// inner problem, and moves towards the minimiser until the objective falls enough. Exponentials are taken once
// per step, never inside a sweep.
//
// The certificate that follows costs a pass over X, but the columns that it finds are worth more than a better
// solution without them. So there is one step between certificates, or as many as together touch a share of X.
type proxNewton struct {
	current        *model.State // the current point: the certified one, or a spare
	spare          [2]*model.State
	curvature      []float64 // n: curvature of the model
	direction      []float64 // n: X̃δ
	corr           []float64 // X_jᵀv at the current point, by position
	from           []float64 // β at the current point, by position
	delta          []float64 // δ, the step of the model, by position
	lastGap        float64   // certified gap before the last model; 0: there was no model
	forcing        float64   // share of the gap that the next model may leave
	damping        damping
	initialDamping damping // damping that follows an undamped model which has misled
	leastDamping   float64 // least damping where the curvature jumps, else 0
	pattern        pattern
	reduction      reduction // of the unpenalised columns under the weights of the model
	sweeps         int       // for the next model far from the solution: twice as many as for the last, which may have been too few
	dual           model.Dual

	objective      float64 // the objective at the current point
	startIntercept float64 // the intercept where an untried full step began
	predicted      float64 // the change of the objective that the model predicts for a full step
	untried        bool    // a full step was taken without a line search: the next certificate judges it
}

const (
	farAway            = 0.2 // relative to P₀: a gap that says little about the solution
	fewSweeps          = 3
	mostGapLeft        = 0.5  // of the gap: a model that leaves more has fallen short, and no model may leave more
	finalShare         = 0.5  // of the tolerance: no model is solved to a smaller gap
	passShare          = 0.1  // of the entries of X that steps may touch between passes
	sufficientDecrease = 1e-4 // of the decrease that the model predicts
	goodDecrease       = 0.1  // of the predicted decrease: below it the model is far off and shorter steps are tried
	halvings           = 10
	furthestMove       = 16 // largest change of a prediction in one step, where the curvature has no bound
	firstDamping       = 1.0 / 64
	jumpDamping        = 1e-3 // where the curvature jumps: rows without curvature would leave models without a minimum
	leastJump          = 1e-9 // least such damping after full steps: rows of zero loss allow steps as long as the penalty over the damping
	lessJump           = 4
	moreDamping        = 8
	untrustedLength    = 0.25  // length of a step up to which its model is not trusted
	modelRoundoff      = 1e-13 // relative to P₀: a smaller decrease is noise
)

// start prepares for a solve.
func (pn *proxNewton) start(f model.Curved) {
	pn.damping, pn.initialDamping, pn.leastDamping, pn.sweeps, pn.lastGap = 0, firstDamping, 0, fewSweeps, 0
	pn.pattern.known, pn.pattern.count = false, 0
	if f == nil {
		return
	}
	if _, ok := f.Concordance(); !ok {
		pn.leastDamping = jumpDamping
	}
}

// proxNewton takes steps from the certified point, at most until the gap on the working set is a fraction of
// the certified one. It returns false if ctx ended.
func (s *Solver) proxNewton(ctx context.Context) bool {
	if !s.takeSteps(ctx) {
		return false
	}
	s.patternMove()
	if s.prox.current != s.state && s.follows() {
		s.state.Assign(s.prox.current)
		s.followed.part, s.followed.drifted = allParts, true
	}
	return true
}

// takeSteps takes the steps of proxNewton. The state stays that of the certified point unless the last step is
// an untried full step.
func (s *Solver) takeSteps(ctx context.Context) bool {
	s.startAtCertified()
	s.chooseForcing()
	gap, target := s.sol.Gap, s.modelGap(s.sol.Gap)
	left := passShare * float64(s.view.Matrix().NNZ())
	for {
		s.loadModel(false)
		most, share := mostSweeps, 1.0
		switch t := &s.subsampling; {
		case t.squared > 0 && !t.drawnSingly: // sweeps on its Gram matrix cost next to nothing compared with a pass
			share = closerFactor
		case gap > farAway*s.null:
			most = s.prox.sweeps // another model will soon replace this one
			s.prox.sweeps = min(2*most, mostSweeps)
		}
		if !s.solveInner(ctx, share*s.modelGap(max(gap, target)), most) {
			return false
		}
		left -= float64(s.entries(s.set.columns))
		if s.subsampling.squared > 0 || left < 0 && s.expectsFullStep() {
			s.takeFullStep()
			return true
		}
		s.in.outerGap = 0
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

// chooseForcing chooses the share of the gap that the next model may leave. Newton steps that no factorisation can
// complete are expensive. If the last model left much of the gap however exactly it was solved, the next one is
// not worth solving more exactly than that (Eisenstat and Walker, SIAM Journal on Scientific Computing 17,
// 1996). But the last model may have been solved less exactly than its sweeps suggested, so the inner gap of
// the next one is then measured against the certified gap.
func (s *Solver) chooseForcing() {
	pn := &s.prox
	pn.forcing, s.in.outerGap = innerFactor, 0
	if pn.lastGap > 0 && s.sol.Gap > mostGapLeft*pn.lastGap && s.set.settled(len(s.active)) {
		s.in.outerGap = s.sol.Gap
	}
	if pn.lastGap > 0 && len(s.active) > largestCholesky {
		pn.forcing = max(innerFactor, min(s.sol.Gap/pn.lastGap, mostGapLeft))
	}
	pn.lastGap = s.sol.Gap
}

// modelGap returns the gap to which to solve a model at a point with the gap given: no smaller than the
// tolerance needs, unless the last model failed to lower the gap.
func (s *Solver) modelGap(gap float64) float64 {
	if s.in.factor < innerFactor {
		return s.in.factor * gap
	}
	return max(s.prox.forcing*gap, finalShare*s.tol*s.null)
}

// startAtCertified makes the certified point the current one.
func (s *Solver) startAtCertified() {
	pn := &s.prox
	if pn.curvature == nil {
		pn.curvature = kernels.Zeros[float64](s.k, len(s.state.Linear))
	}
	pn.current = s.state
	pn.corr = grow(pn.corr, len(s.set.places))
	for k, place := range s.set.places {
		pn.corr[k] = s.cert.corr[place]
	}
}

// adapt raises the damping after a step whose model has misled, and lowers it after a full step; where the
// curvature jumps, the least damping goes first. It returns false if no damping would help.
func (pn *proxNewton) adapt(length float64) bool {
	switch {
	case length == 0 && pn.damping == 1:
		return false
	case length <= untrustedLength && pn.leastDamping > 0 && pn.leastDamping < jumpDamping:
		pn.leastDamping = min(jumpDamping, moreDamping*pn.leastDamping)
	case length == 1 && pn.damping == 0 && pn.leastDamping > 0:
		pn.leastDamping = max(leastJump, pn.leastDamping/lessJump)
	default:
		return pn.damp(length)
	}
	return true
}

// damp adapts the damping. Where damped models give full steps and undamped ones do not, each new damping
// starts lower than the last.
func (pn *proxNewton) damp(length float64) bool {
	before := pn.damping
	helps := pn.damping.adapt(length)
	switch {
	case !helps:
	case before == 0 && pn.damping > 0:
		pn.damping = pn.initialDamping
	case before > 0 && pn.damping == 0:
		pn.initialDamping = max(leastJump, pn.initialDamping/moreDamping)
	case length <= untrustedLength:
		pn.damping = min(1, moreDamping*before)
		pn.initialDamping = min(pn.damping, firstDamping)
	}
	return helps
}

// damping is the least curvature of models of the loss, as a share of a majoriser's.
type damping float64

// adapt adapts the damping to the length of the step that a model led to. It returns false if the step failed
// and no damping would help: at damping 1 the model lies above the loss.
func (d *damping) adapt(length float64) bool {
	switch {
	case length == 0 && *d == 1:
		return false
	case length <= untrustedLength:
		*d = min(1, max(firstDamping, moreDamping**d))
	case length == 1:
		if *d /= moreDamping; *d < firstDamping {
			*d = 0
		}
	}
	return true
}

// loadModel loads the quadratic model of the loss at the current point. It is damped because samples far on
// the wrong side have a steep loss without curvature, of which a model has no minimum nearby. A polish uses the
// curvature of all rows.
func (s *Solver) loadModel(polish bool) {
	pn, in := &s.prox, &s.in
	s.curved.Curvature(pn.current, pn.curvature)
	s.floorCurvature(pn.curvature)
	s.in.work += float64(2 * rowValue * float64(len(pn.curvature)))
	if share := max(float64(pn.damping), pn.leastDamping); share > 0 {
		s.curved.Dampen(pn.current, share, pn.curvature)
	}
	switch {
	case !polish && s.subsample():
		in.store.Subsample(s.subsampling.rows, s.subsampling.weights)
		in.newton.basis.reduction = nil
	case !polish && s.onGram():
		in.store.Reweigh(pn.curvature)
		in.newton.basis.reduction = nil
	default:
		in.store.Reweigh(pn.curvature)
		s.reduceModel()
	}
	in.load(s, pn.current.Weighted)
	pn.from = append(pn.from[:0], in.coef...)
}

// onGram reports whether to solve the model of all rows at the certified point on its Gram matrix alone, which
// is computed from X, and if so sets the squared norm of the working residual.
func (s *Solver) onGram() bool {
	t, pn := &s.subsampling, &s.prox
	if pn.current != s.state || !s.in.store.Tall() || !s.in.gram.Fits(len(s.set.columns)) || s.unpenalised.nearlyDepend() {
		return false
	}
	t.squared, t.drawnInRuns, t.drawnSingly = 0, false, false
	for from, to := range s.k.Pieces(len(pn.curvature)) {
		weighted := pn.current.Weighted[from:to]
		for i, d := range pn.curvature[from:to] {
			if d > 0 {
				t.squared = math.FMA(weighted[i], weighted[i]/d, t.squared)
			}
		}
	}
	return t.squared > 0
}

// reduceModel separates unpenalised columns that nearly depend on one another under the weights of the model.
func (s *Solver) reduceModel() {
	u, r := &s.unpenalised, &s.prox.reduction
	s.in.newton.basis.reduction = nil
	if !u.nearlyDepend() {
		return
	}
	if r.store == nil {
		r.init(s.view)
	}
	r.alwaysFlat = u.alwaysFlat
	r.store.Reweigh(s.prox.curvature)
	s.in.work += r.reduce(u.columns, s.prox.curvature)
	s.in.newton.basis.reduction = r
}

// leastCurvature is the least curvature of a row of weight 1 in a model.
const leastCurvature = 1e-12

// floorCurvature keeps curvatures above a floor, without which rows far from the margin would make the working residual
// huge. The floor is for steps alone: derivatives use the curvature as it is.
func (s *Solver) floorCurvature(d []float64) {
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

// setGap computes the correlations of the working set at the current point, and returns the duality gap of the
// problem on the working set.
func (s *Solver) setGap() float64 {
	pn, total := &s.prox, s.view.Total()
	s.payDots(s.entries(s.set.columns))
	pn.dual = model.Dual{Penalty: s.pen, Total: total, Loss: pn.current.Loss}
	s.view.Dots(s.set.columns, pn.current.Weighted, pn.corr)
	for k, j := range s.set.columns {
		pn.dual.Add(int(j), pn.corr[k]/total, s.beta[s.set.places[k]], 0)
	}
	return s.fit.Gap(&pn.dual, pn.current)
}

// predictChange sets delta, and sets predicted to the change of the objective that the model predicts: the slope of
// the loss along δ plus the change of g.
func (s *Solver) predictChange() {
	pn, in := &s.prox, &s.in
	pn.delta = grow(pn.delta, len(in.columns))
	pn.predicted = 0
	for k, c := range pn.corr {
		d := in.coef[k] - pn.from[k]
		pn.delta[k] = d
		pn.predicted = math.FMA(-d, c/in.total, pn.predicted)
	}
	pn.objective = s.penalty(0)
	pn.predicted += s.penalty(1) - pn.objective
	pn.objective += pn.current.Loss
}

// predictsNoise reports whether the change that the model predicts is noise.
func (s *Solver) predictsNoise() bool { return -s.prox.predicted <= modelRoundoff*s.null }

// expectsFullStep reports whether the step from the certified point is likely to be a full one. Nearly all steps are
// full where there are at least as many rows as columns and no model has misled.
func (s *Solver) expectsFullStep() bool {
	_, smooth := s.fit.Smoothness()
	return smooth && s.prox.current == s.state && s.prox.damping == 0 && s.in.store.Rows() >= len(s.cert.order)
}

// takeFullStep takes the full step from the certified point without a line search: the next certificate
// computes the objective there in any case.
func (s *Solver) takeFullStep() {
	s.predictChange()
	s.prox.untried, s.prox.startIntercept = true, s.state.Intercept
	if t := &s.subsampling; t.squared > 0 && t.drawnSingly {
		s.noteStep()
	}
	if s.regain(s.state, s.state.Linear) {
		s.followed.part, s.followed.drifted = linearPart, true
	}
	s.in.unload(s)
	s.sol.Steps++
}

// judgeStep judges the full step that led to the certified point. If a line search would have rejected the
// step, judgeStep undoes it and certifies a shorter one. It returns false if no step gains anything and no damping
// would help.
func (s *Solver) judgeStep(stalled bool) (helps bool) {
	s.prox.untried = false
	length := 1.0
	if s.stepFailed() {
		length = s.undoStep()
		s.certify()
	}
	helps = s.prox.adapt(length)
	switch t := &s.subsampling; {
	case t.squared == 0:
	case t.drawnSingly:
		s.judgeSubsample(length, stalled)
	default:
		t.squared = 0
		t.runsFailed = t.runsFailed || t.drawnInRuns && (length < 1 || s.sol.Gap > mostGapLeft*s.prox.lastGap)
	}
	return helps
}

// stepFailed reports whether a line search would have rejected the full step to the certified point.
func (s *Solver) stepFailed() bool {
	pn := &s.prox
	allowed := float64(goodDecrease * pn.predicted)
	if s.predictsNoise() {
		allowed = modelRoundoff * s.null
	}
	return !(s.sol.Objective <= pn.objective+allowed)
}

// undoStep undoes a full step that has failed, searches for a shorter one, and returns its length.
func (s *Solver) undoStep() (length float64) {
	pn := &s.prox
	for k, place := range s.set.places {
		s.beta[place] = pn.from[k]
	}
	s.gather()
	s.state.Intercept = s.prox.startIntercept // a fit that starts far out, where there is no curvature, may not find its way back
	s.refit()
	s.followed.drifted = true // the correlations are those of the failed point; should the next point equal it, it must not count as current
	s.sol.Steps--
	return s.descend()
}

// descend moves from the current point towards the minimiser of the model by the longest of the steps 1, ½, ¼,
// … that achieves a good share of the decrease that the model predicts. If steps achieve only a small share, it
// takes the first of them whose half does not lower the objective further. (With a rare class the model at β = 0 sees next to
// no curvature: its minimiser is far out, where there is none at all, and steps do not come back from there.)
// It returns the length, or 0 if the objective does not fall.
func (s *Solver) descend() (length float64) {
	pn := &s.prox
	s.setDirection()
	before, predicted := pn.objective, pn.predicted
	trial := s.trial()
	length = s.longestStep()
	best := math.Inf(1)
	for range halvings {
		after := s.try(trial, length)
		if after >= best && !math.IsInf(best, 1) { // the previous step was better
			length *= 2
			s.try(trial, length)
			best = after
		}
		switch {
		case s.predictsNoise(), best <= after && !math.IsInf(best, 1), after <= before+float64(goodDecrease*length*predicted):
			s.acceptTrial(trial, length)
			return length
		case after <= before+float64(sufficientDecrease*length*predicted):
			best = after
		}
		length *= 0.5
	}
	return 0
}

// setDirection sets δ, the change that the model predicts, and the change of the predictions along δ.
func (s *Solver) setDirection() {
	pn := &s.prox
	s.predictChange()
	if pn.direction == nil {
		pn.direction = make([]float64, len(s.state.Linear))
	}
	s.k.Clear(pn.direction)
	if !s.regain(pn.current, pn.direction) {
		s.view.AddColumns(s.in.columns, pn.delta, pn.direction)
		s.payUpdates(s.entriesMoved())
	}
}

// try sets trial to the state at a length along δ, and returns the objective there.
func (s *Solver) try(trial *model.State, length float64) float64 {
	pn := &s.prox
	s.k.Copy(trial.Linear, pn.current.Linear)
	s.k.Axpy(length, pn.direction, trial.Linear)
	s.curved.Move(pn.current, trial)
	s.payRows()
	return trial.Loss + s.penalty(length)
}

// acceptTrial makes the point just tried, at a length along δ, the current one.
func (s *Solver) acceptTrial(trial *model.State, length float64) {
	pn := &s.prox
	pn.current = trial
	for k, place := range s.set.places {
		s.beta[place] = math.FMA(length, pn.delta[k], pn.from[k])
		if length == 1 && s.pen.Bounded() {
			s.beta[place] = s.in.coef[k] // exactly at its bound
		}
	}
	s.sol.Steps++
}

// trial returns a state other than that of the current point. Untried full steps need none.
func (s *Solver) trial() *model.State {
	pn := &s.prox
	k := 0
	if pn.current == pn.spare[k] {
		k = 1
	}
	if pn.spare[k] == nil {
		pn.spare[k] = model.NewState(s.fit)
	}
	return pn.spare[k]
}

// longestStep returns the longest step to try: 1, or, where the curvature has no bound, a length at which no
// prediction of a row with positive weight moves so far that the loss overflows.
func (s *Solver) longestStep() float64 {
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
