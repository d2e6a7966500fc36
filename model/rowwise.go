package model

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Rowwise is the datafit f(β, b) = (1/N)Σ sᵢℓ(yᵢ, mᵢ) of a loss. It implements [Curved].
// It also takes the squared loss, for which [Squared] is faster. A Rowwise is immutable and
// safe for any number of goroutines.
type Rowwise struct {
	view             *sparse.View
	loss             loss.Loss
	y                []float64
	offset           []float64 // o in m = Xβ + b + o; nil: 0
	null             float64
	longestFirstStep float64 // longest first step of the intercept, see solveIntercept
	nullIsExact      bool    // the null model fits the target to rounding, and has the objective 0
}

// NewDatafit returns the datafit of a loss: a [Squared] for the squared loss, else a
// [Rowwise]. The errors are those of [NewSquared] and [NewRowwise].
func NewDatafit(view *sparse.View, y []float64, l loss.Loss) (Datafit, error) {
	return NewOffset(view, y, nil, l)
}

// NewOffset is [NewDatafit] with the predictions m = Xβ + b + o. offset is o, one finite entry
// per row; it is kept and must not change, and nil means 0. Errors about it have the flag offset.
func NewOffset(view *sparse.View, y, offset []float64, l loss.Loss) (Datafit, error) {
	if n, _ := view.Dims(); offset != nil && len(offset) != n {
		return nil, outcome.At(outcome.Shape, "offset", "%d offsets for %d rows; there must be one per row", len(offset), n)
	}
	for i, o := range offset {
		if math.IsNaN(o) || math.IsInf(o, 0) {
			return nil, &outcome.Error{Kind: outcome.NonFinite, Flag: "offset", HasRow: true, Row: i, Message: "the offset is not finite"}
		}
	}
	if _, squared := l.(loss.Squared); squared {
		return newSquared(view, y, offset)
	}
	return newRowwise(view, y, offset, l)
}

// NewLogistic is [NewRowwise] with the logistic loss: y must be ±1 on every row, and both classes
// must have rows of positive weight.
func NewLogistic(view *sparse.View, y []float64) (*Rowwise, error) {
	return NewRowwise(view, y, loss.Logistic{})
}

// NewRowwise checks the target, held-out rows included, and returns its datafit. y is kept, not
// copied, and must not change. The error is an [outcome.Error]: Shape; the error of the loss about
// a row, with the row; or the reason why no model can be fitted to the rows of positive weight.
func NewRowwise(view *sparse.View, y []float64, l loss.Loss) (*Rowwise, error) {
	return newRowwise(view, y, nil, l)
}

func newRowwise(view *sparse.View, y, offset []float64, l loss.Loss) (*Rowwise, error) {
	n, _ := view.Dims()
	if len(y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(y), n)
	}
	if err := loss.CheckTarget(view.Kernels(), l, y); err != nil {
		return nil, err
	}
	l, err := loss.Bind(view.Kernels(), l, y, view.Weights(), view.Centred())
	if err != nil {
		return nil, err
	}
	f := &Rowwise{view: view, loss: l, y: y, offset: offset, longestFirstStep: interceptReach}
	if l.Link() == loss.Identity { // predictions have the unit of y
		f.longestFirstStep = max(f.longestFirstStep, view.Kernels().MaxAbs(y)/256)
	}
	if anchored, ok := l.(loss.Anchored); ok && offset == nil {
		f.null = anchored.Null(view.Centred())
		return f, nil
	}
	f.null = f.nullLoss()
	if math.IsNaN(f.null) || math.IsInf(f.null, 0) {
		return nil, outOfRange(view, outcome.NonFinite, "the "+l.Name()+" loss of the null model overflows")
	}
	if f.null < leastNull && l.Link() == loss.Identity && f.targetVaries() {
		return nil, outOfRange(view, outcome.BadParameter, "the "+l.Name()+" loss of the null model underflows")
	}
	if f.null <= f.nullRounding() {
		f.nullIsExact = true
		s := NewState(f)
		f.Fit(nil, nil, s)
		if f.nullIsExact = s.Loss == 0; f.nullIsExact {
			f.null = 0
		}
	}
	return f, nil
}

// Negligible returns the objective up to which, under a logarithmic link, the loss may be rounding alone.
func (f *Rowwise) Negligible() float64 { return lossRounding * (1 + f.view.Kernels().MaxAbs(f.y)) }

// nullRounding returns the objective up to which the loss of the null model may be rounding alone; −1 if it never is: with
// other links and without an offset, y − m is either exactly 0 or more than rounding.
func (f *Rowwise) nullRounding() float64 {
	switch k := f.view.Kernels(); {
	case f.loss.Link() == loss.Log:
		return f.Negligible()
	case f.loss.Link() == loss.Identity && f.offset != nil:
		size := k.MaxAbs(f.y) + k.MaxAbs(f.offset)
		return lossRounding * size * size
	default:
		return -1
	}
}

const (
	scoreRounding = 0x1p-49 // rounding of a score relative to its terms: a few units in the last place
	lossRounding  = 1e-20   // a loss above this, relative to the target, is more than rounding
)

// fitsExactly reports whether the residual of every row of positive weight is rounding alone: a Newton step
// of the score of that row alone is within the rounding of the score. Under a logarithmic link, the
// exponential adds at least the rounding of a term of size 1. The state must not have been rebalanced yet.
func (f *Rowwise) fitsExactly(s *State) bool {
	k, weights := f.view.Kernels(), f.view.Weights()
	intercept := math.Abs(s.Intercept)
	if f.loss.Link() == loss.Log {
		intercept++
	}
	for from, to := range k.Pieces(len(f.y)) {
		curvature := s.scratch[from:to]
		f.loss.Curvature(k, f.y[from:to], s.Prediction[from:to], curvature)
		for i, d := range curvature {
			i += from
			if weights != nil && weights[i] == 0 {
				continue
			}
			if !(math.Abs(s.Residual[i]) <= scoreRounding*d*(intercept+math.Abs(s.Linear[i]))) {
				return false
			}
		}
	}
	return true
}

// setExactFit makes a state an exact fit: zero residuals on the rows of positive weight, and zero loss.
func (f *Rowwise) setExactFit(s *State) {
	k := f.view.Kernels()
	k.Clear(s.Weighted)
	weights, pace := f.view.Weights(), k.Pace()
	for i, w := range weights { // held-out rows keep their residuals
		if pace.Did(1); w != 0 {
			s.Residual[i] = 0
		}
	}
	s.Loss = 0
}

// targetVaries reports whether the residuals of the null model are more than rounding.
func (f *Rowwise) targetVaries() bool {
	const rounding = 1e-9
	s, k := NewState(f), f.view.Kernels()
	f.Fit(nil, nil, s)
	return k.MaxAbs(s.Weighted) > 0 && k.MaxAbs(s.Residual) > rounding*k.MaxAbs(f.y)
}

// nullLoss returns the objective of the null model. Without an intercept, predictions are 0 or the offset:
// the loss is then summed block by block without a state, and has the bits of [State].Loss.
func (f *Rowwise) nullLoss() float64 {
	if f.view.Centred() {
		s := NewState(f)
		f.Fit(nil, nil, s)
		return s.Loss
	}
	k := f.view.Kernels()
	values := make([]float64, min(len(f.y), kernels.Block))
	var zero []float64
	if f.offset == nil {
		zero = make([]float64, len(values))
	}
	var sum float64
	pace := k.Pace()
	for from := 0; from < len(f.y); from += kernels.Block {
		to := min(from+kernels.Block, len(f.y))
		pace.Did(to - from)
		m, u := zero, values[:to-from]
		if f.offset != nil {
			m = f.offset[from:]
		}
		f.loss.Value(k, f.y[from:to], m[:to-from], u)
		sum += f.weightedSum(from, u)
	}
	return sum / f.view.Total()
}

// Loss returns the loss, bound to the rows if it depends on them (see [loss.Binder]).
func (f *Rowwise) Loss() loss.Loss { return f.loss }

// Rows implements [Curved]; it returns an error if no model can be fitted to the rows.
func (f *Rowwise) Rows(view *sparse.View, list []int32) (Curved, error) {
	return newRowwise(view, gatherRows(view.Kernels(), f.y, list), gatherRows(view.Kernels(), f.offset, list), f.loss)
}

// gatherRows returns the entries of v that are listed; nil if v is nil.
func gatherRows(k *kernels.Set, v []float64, list []int32) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, len(list))
	for from, to := range k.Pieces(len(list)) {
		for at, i := range list[from:to] {
			out[from+at] = v[i]
		}
	}
	return out
}

// View returns the view of the design matrix.
func (f *Rowwise) View() *sparse.View { return f.view }

// Pointwise returns a function that computes −ℓ′ and ℓ″ of row i at a linear predictor without the
// offset; nil if the loss is not a [loss.Pointwise].
func (f *Rowwise) Pointwise() func(i int, linear float64) (slope, curvature float64) {
	l, ok := f.loss.(loss.Pointwise)
	if !ok {
		return nil
	}
	y, offset := f.y, f.offset
	return func(i int, linear float64) (slope, curvature float64) {
		if offset != nil {
			linear += offset[i]
		}
		return l.At(y[i], linear)
	}
}

// Clipped returns a function with the parameters of −ℓ′ of row i, which is clip(target − m, lower, upper) at
// a linear predictor m without the offset; nil if the loss is not a [loss.Clipped].
func (f *Rowwise) Clipped() func(i int) (target, lower, upper float64) {
	l, ok := f.loss.(loss.Clipped)
	if !ok {
		return nil
	}
	return func(i int) (target, lower, upper float64) {
		target = f.y[i]
		lower, upper = l.Interval(target)
		if f.offset != nil {
			target -= f.offset[i]
		}
		return target, lower, upper
	}
}

// Target returns y. Read only.
func (f *Rowwise) Target() []float64 { return f.y }

// Null returns P₀, the objective of the null model.
func (f *Rowwise) Null() float64 { return f.null }

// Smoothness returns the bound of the loss.
func (f *Rowwise) Smoothness() (float64, bool) { return f.loss.Smoothness() }

// Concordance returns the constant of the loss.
func (f *Rowwise) Concordance() (float64, bool) { return f.loss.Concordance() }

// Steepest implements [Datafit].
func (f *Rowwise) Steepest(s *State) float64 {
	if bound, ok := f.loss.Smoothness(); ok {
		return bound
	}
	f.byPieces(f.loss.Curvature, s, s.scratch)
	if weights := f.view.Weights(); weights != nil {
		pace := f.view.Kernels().Pace()
		for i, s0 := range weights {
			if pace.Did(1); s0 == 0 {
				s.scratch[i] = 0
			}
		}
	}
	return 2 * f.view.Kernels().MaxAbs(s.scratch)
}

// Fit implements [Datafit].
func (f *Rowwise) Fit(cols []int32, b []float64, s *State) {
	f.Begin(s)
	f.view.AddColumns(cols, b, s.Linear)
	f.Move(s, s)
}

// Begin sets Linear to the linear predictor of β = 0. It is for callers that compute X̃β themselves
// instead of by [Rowwise.Fit]: they add X̃β to Linear, and then call [Rowwise.Move].
func (f *Rowwise) Begin(s *State) {
	k := f.view.Kernels()
	k.Clear(s.Linear)
	k.Copy(s.Linear, f.offset)
}

// Move implements [Curved].
func (f *Rowwise) Move(from, to *State) {
	to.balance = [2]float64{1, 1}
	if f.view.Centred() {
		to.Intercept = from.Intercept
		f.solveIntercept(to)
	} else {
		to.Intercept = 0
		f.setResiduals(to)
	}
	if f.nullIsExact && f.fitsExactly(to) {
		f.setExactFit(to)
		return
	}
	if f.view.Centred() {
		f.rebalance(to)
	}
	if !f.hasManyRows() { // else setResiduals has set the loss
		f.byRows(to, lossValues, to.scratch, loss.Dual{})
		to.Loss = f.weightedMean(to.scratch)
	}
}

// setResiduals sets predictions and residuals for the current intercept.
func (f *Rowwise) setResiduals(s *State) {
	if f.hasManyRows() {
		f.setResidualsByBlocks(s)
		return
	}
	f.byRows(s, residuals, nil, loss.Dual{})
}

const (
	interceptSteps = 200
	interceptSlow  = 32    // number of steps after which steps longer than interceptFar double until the minimum is bracketed, and then bisect
	interceptFar   = 0.1   // in units of the inverse self-concordance constant
	interceptReach = 16    // longest first step; each later step may be four times as long as the one before
	interceptTol   = 1e-15 // Σvᵢ counts as zero relative to Σ|vᵢ|
	interceptNear  = 1e-7  // a step so short that the error after it, less than its square, is rounding
)

// solveIntercept moves the intercept to the minimiser of the loss over b, where the weighted residuals
// sum to zero, by the loss's own steps or Newton steps. A bracket of the minimum safeguards the
// steps.
func (f *Rowwise) solveIntercept(s *State) {
	lower, upper, reach := math.Inf(-1), math.Inf(1), f.longestFirstStep
	concordance, quadratic := f.loss.Concordance() // with a constant, convergence is quadratic
	near, probes := false, f.stepsBySums()
	for taken := 0; ; taken++ {
		if near || taken == interceptSteps {
			f.setResiduals(s)
			return
		}
		step := f.nextStep(s, probes)
		if step == 0 {
			break
		}
		if step > 0 {
			lower = s.Intercept
		} else {
			upper = s.Intercept
		}
		size := min(math.Abs(step), reach)
		reach *= 4
		next := s.Intercept + math.Copysign(size, step)
		slow := taken >= interceptSlow && !(quadratic && concordance*math.Abs(step) <= interceptFar)
		switch bracketed := !math.IsInf(lower, 0) && !math.IsInf(upper, 0); {
		case slow && !bracketed: // on the steep side of an exponential, Newton steps have constant length
			next = s.Intercept + math.Copysign(math.Ldexp(size, taken-interceptSlow), step)
		case slow && taken%2 == 0, next != s.Intercept && !(next > lower && next < upper):
			next = 0.5 * (lower + upper)
		}
		if next == s.Intercept { // no number lies between the intercept and the other side of the bracket
			break
		}
		near = quadratic && next == s.Intercept+step && concordance*math.Abs(step) <= interceptNear
		s.Intercept = next
	}
	if probes {
		f.setResiduals(s)
	}
}

// nextStep returns the step from the current intercept: from sums over blocks, or from the residuals, which it then sets.
func (f *Rowwise) nextStep(s *State, probes bool) float64 {
	if probes {
		return f.stepFromSums(s)
	}
	f.setResiduals(s)
	return f.stepFromResiduals(s)
}

// stepFromResiduals returns a step towards the best intercept; 0 if the weighted residuals sum to zero.
func (f *Rowwise) stepFromResiduals(s *State) float64 {
	if stepper, ok := f.loss.(loss.Stepper); ok {
		return stepper.Step(f.view.Kernels(), f.y, s.Residual, s.Weighted)
	}
	k := f.view.Kernels()
	slope := k.Sum(s.Weighted)
	size := k.Asum(s.Weighted)
	if interceptConverged(slope, size) {
		return 0
	}
	f.byPieces(f.loss.Curvature, s, s.scratch)
	return interceptStep(slope, f.weightedMean(s.scratch)*f.view.Total())
}

// interceptConverged reports whether Σvᵢ is rounding relative to Σ|vᵢ|.
func interceptConverged(slope, size float64) bool {
	return math.Abs(slope) <= interceptTol*size && !math.IsInf(size, 1)
}

// interceptStep returns the Newton step for the slope and the curvature of all rows.
func interceptStep(slope, curvature float64) float64 {
	step := math.Abs(slope / curvature)
	if math.IsNaN(step) {
		step = math.Inf(1)
	}
	return math.Copysign(step, slope)
}

// rebalance makes the weighted residuals sum to zero by scaling down the residuals of the sign
// with the larger sum. That makes them feasible for the dual of a problem with an intercept: a
// dual point stays in the domain of any loss when entries move towards 0.
func (f *Rowwise) rebalance(s *State) {
	plus, minus := s.signSums[0], s.signSums[1]
	if !f.hasManyRows() {
		plus, minus = f.signSums(s.Weighted)
	}
	switch {
	case plus > minus:
		if s.balance[0] = minus / plus; minus == 0 { // the positive residuals become zeros, which count to the other sign
			s.balance[1] = 0
		}
	case minus > plus:
		s.balance[1] = plus / minus
	default:
		return
	}
	f.byRows(s, balancedResiduals, nil, loss.Dual{})
}

// CurvatureRange sets lowest[i] and highest[i] to the range of the weighted curvature of row first + i for predictions within reach of
// the state's. The loss must be a [loss.Jumping], whose curvature between jumps is least at an end; for other losses it returns false.
func (f *Rowwise) CurvatureRange(s *State, reach float64, first int, lowest, highest []float64) bool {
	l, ok := f.loss.(loss.Jumping)
	if !ok {
		return false
	}
	k, weights := f.view.Kernels(), f.view.Weights()
	for from, to := range k.Pieces(len(lowest)) {
		low, high := lowest[from:to], highest[from:to]
		y, m, moved := f.y[first:][from:to], s.Prediction[first:][from:to], s.scratch[first:][from:to]
		l.Curvature(k, y, m, low)
		for _, by := range [...]float64{-reach, reach} {
			for i, v := range m {
				moved[i] = v + by
			}
			l.Curvature(k, y, moved, high)
			for i, v := range high {
				low[i] = min(low[i], v)
			}
		}
		l.CurvatureWithin(reach, y, m, high)
		if weights != nil {
			k.Product(low, low, weights[first:][from:to])
			k.Product(high, high, weights[first:][from:to])
		}
	}
	return true
}

// signSums returns the sums of the positive and of the negative entries, both positive.
func (f *Rowwise) signSums(weighted []float64) (plus, minus float64) {
	for from, to := range f.view.Kernels().Pieces(len(weighted)) {
		for _, v := range weighted[from:to] { // without branches, since signs are unpredictable
			plus += max(v, 0)
			minus += max(-v, 0)
		}
	}
	return plus, minus
}

// byPieces sets out to a function of the rows at the predictions of a state, piece by piece.
func (f *Rowwise) byPieces(of func(k *kernels.Set, y, m, out []float64), s *State, out []float64) {
	k := f.view.Kernels()
	for from, to := range k.Pieces(len(f.y)) {
		of(k, f.y[from:to], s.Prediction[from:to], out[from:to])
	}
}

// weightedMean returns Σ sᵢuᵢ/N for u ≥ 0.
func (f *Rowwise) weightedMean(u []float64) float64 { return f.weightedSum(0, u) / f.view.Total() }

// weightedSum returns Σ sᵢuᵢ over a run of rows, for u ≥ 0.
func (f *Rowwise) weightedSum(from int, u []float64) float64 {
	k, weights := f.view.Kernels(), f.view.Weights()
	if weights == nil {
		return k.Asum(u)
	}
	weights = weights[from : from+len(u)]
	sum := k.Dot(weights, u)
	if math.IsNaN(sum) {
		zeroHeldOut(k, weights, u)
		sum = k.Dot(weights, u)
	}
	return sum
}

// zeroHeldOut sets the entries of rows of weight 0 to 0, since their losses may be infinite.
func zeroHeldOut(k *kernels.Set, weights, u []float64) {
	for from, to := range k.Pieces(len(weights)) {
		for i, w := range weights[from:to] {
			if w == 0 {
				u[from+i] = 0
			}
		}
	}
}

// Curvature implements [Curved].
func (f *Rowwise) Curvature(s *State, d []float64) {
	f.byRows(s, curvatures, d, loss.Dual{})
}

// Third implements [Curved].
func (f *Rowwise) Third(s *State, d []float64) {
	f.byPieces(f.loss.Third, s, d)
	f.view.Weigh(d, d)
}

// Dampen implements [Curved]. The curvature of the parabola is that of the loss's own majorant if it
// has one; else the bound of ℓ″ if there is one; else, for a self-concordant loss with constant M,
// M·|ρᵢ|, which puts the minimum of the parabola 1/M away.
func (f *Rowwise) Dampen(s *State, share float64, d []float64) {
	p := s.scratch
	majorised, ok := f.loss.(loss.Majorised)
	bound, smooth := f.loss.Smoothness()
	concordance, _ := f.loss.Concordance()
	switch {
	case ok:
		f.byPieces(majorised.Majorant, s, p)
	default:
		for i, r := range s.Residual {
			p[i] = float64(concordance * math.Abs(r))
			if smooth {
				p[i] = bound
			}
		}
	}
	for i := range p {
		p[i] *= share
	}
	f.view.Weigh(p, p)
	for i, v := range p {
		d[i] = max(d[i], v)
	}
}

// Gap implements [Datafit]: the loss contributes its mean divergence at the dual point. The unscaled
// dual point is feasible only with a ridge.
func (f *Rowwise) Gap(d *Dual, s *State) float64 {
	scaled := f.divergence(s, d.Scale())
	unscaled := scaled
	if d.Scale() < 1 && d.Penalty.Ridge() > 0 {
		unscaled = f.divergence(s, 1)
	}
	return d.Gap(scaled, unscaled)
}

func (f *Rowwise) divergence(s *State, scale float64) float64 {
	switch {
	case scale == 1 && s.balance == [2]float64{1, 1}:
		return 0
	case scale == 0: // ℓ(y, m) + ℓ*(y, 0), and inf ℓ = 0
		return s.Loss
	}
	f.byRows(s, divergences, s.scratch, loss.Dual{Scale: scale, Balance: s.balance})
	k := f.view.Kernels()
	sum := k.Sum(s.scratch)
	if math.IsNaN(sum) {
		zeroHeldOut(k, f.view.Weights(), s.scratch)
		sum = k.Sum(s.scratch)
	}
	return max(0, sum) / f.view.Total()
}
