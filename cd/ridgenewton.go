package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// A ridge alone with a loss that is not quadratic: Newton's method on all columns. The
// intercept is eliminated, so the matrix is that of the columns centred under the curvature
// as weights. Conjugate gradients compute inexact Newton steps, only as accurate as the
// convergence needs (Dembo, Eisenstat and Steihaug, SIAM Journal on Numerical Analysis 19, 1982).

// reweighRidge makes the curvature at the certified point the weights of the columns.
func (s *Solver) reweighRidge() {
	pn := &s.prox
	s.subsampling.squared = 0
	s.curved.Curvature(pn.current, pn.curvature)
	s.in.work += float64(2 * rowValue * float64(len(pn.curvature)))
	if s.subsampleSuffices() && s.subsample() {
		s.in.store.Subsample(s.subsampling.rows, s.subsampling.weights)
		return
	}
	if s.ridge.method == columnFactor && pn.leastDamping > 0 && pn.damping == 0 && s.listCurved() {
		s.in.store.Subsample(s.subsampling.rows, s.subsampling.weights)
		return
	}
	s.floorCurvature(pn.curvature)
	if pn.damping > 0 {
		s.curved.Dampen(pn.current, float64(pn.damping), pn.curvature)
	}
	s.in.store.Reweigh(pn.curvature)
}

// subsampleSuffices reports whether a step with the curvature of a subsample of the rows is expected to leave no larger a gap than a step
// with all rows, or than the tolerance. A step with a subsample leaves a share of about columns/rows of the subsample, a step with
// all rows a share of about the relative gap itself.
func (s *Solver) subsampleSuffices() bool {
	t, gap, size := &s.subsampling, s.sol.RelativeGap, len(s.ridge.columns)
	if rows := s.in.store.Rows() / subsampleMostRatio; rows < 2*t.rowsPerColumn*size { // too few to be drawn in runs
		return false
	}
	left := float64(subsampleMostRatio*subsampleLeaves*size) / float64(s.in.store.Rows())
	return s.ridge.method == columnFactor && s.in.store.Tall() && s.expectsFullStep() && s.prox.leastDamping == 0 && max(gap, s.tol/gap) >= left
}

// subsampleLeaves is a safety factor on the share columns/rows of the gap that a step with a subsample leaves.
const subsampleLeaves = 8

// listCurved lists the rows with curvature, and reports whether they are few enough for the others to be left out. Where
// the curvature jumps, many rows have none, and the matrix without them is the same (Keerthi and DeCoste, JMLR 6, 2005).
func (s *Solver) listCurved() bool {
	t, d := &s.subsampling, s.prox.curvature
	t.rows, t.weights = t.rows[:0], t.weights[:0]
	for from, to := range s.k.Pieces(len(d)) {
		for i, v := range d[from:to] {
			if v > 0 {
				t.rows, t.weights = append(t.rows, int32(from+i)), append(t.weights, v)
			}
		}
	}
	curved := len(t.rows)
	return curved > 0 && float64(curved) < mostCurved*float64(s.in.store.Rows())
}

// mostCurved is the share of the rows with curvature above which all are kept.
const mostCurved = 0.75

// moveRidge moves along the computed step: to the minimum along it where the curvature jumps, the full step where the model is trusted,
// otherwise as far as [Solver.descend] goes. It returns false if the predicted gain is rounding or no step helps.
func (s *Solver) moveRidge() bool {
	r, in, pn := &s.ridge, &s.in, &s.prox
	w := len(s.set.columns)
	in.columns, in.ridge, in.pen = s.set.columns, in.total*s.pen.Ridge(), s.pen
	in.coef, in.threshold, pn.from = grow(in.coef, w), grow(in.threshold, w), grow(pn.from, w)
	clear(in.threshold)
	for k, place := range s.set.places {
		pn.from[k] = s.beta[place]
	}
	for k, j := range r.columns {
		s.beta[s.cert.place(j)] += r.d[k]
	}
	for k, place := range s.set.places {
		in.coef[k] = s.beta[place]
		s.beta[place] = pn.from[k]
	}
	if pn.leastDamping > 0 {
		return s.minimise() && !s.predictsNoise()
	}
	if s.expectsFullStep() {
		s.predictChange()
		pn.untried, pn.startIntercept, pn.lastGap = true, s.state.Intercept, s.sol.Gap
		for k, place := range s.set.places {
			s.beta[place] = in.coef[k]
		}
		s.sol.Steps++
		return !s.predictsNoise()
	}
	length := s.descend()
	helps := pn.adapt(length)
	return length > 0 && !s.predictsNoise() || length == 0 && helps
}

const (
	flatSlope    = 0.1 // slope at which a search ends, relative to the slope at its start
	lengthFactor = 4   // factor on the length while the slope is negative
	leastShare   = 0.1 // of an interval, the least distance of a try from either end
	mostSame     = 3   // consecutive tries that move the same end, after which the secant is not used
	mostLengths  = 64
)

// minimise moves along the step to the approximate minimum of the objective. Where the curvature jumps, a
// backtracking search takes thousands of steps; with an exact one Newton's method ends after finitely many
// (Keerthi and DeCoste). Where rows have no curvature, the step is too long by a factor that grows as the ridge shrinks:
// the interval then shrinks by powers, until the length has the right magnitude. It returns false if the objective does
// not fall.
func (s *Solver) minimise() bool {
	pn, in := &s.prox, &s.in
	s.setDirection()
	var across, square float64 // ⟨β, δ⟩ and ‖δ‖²
	for k, d := range pn.delta {
		across, square = math.FMA(pn.from[k], d, across), math.FMA(d, d, square)
	}
	slope := func(at *model.State, length float64) float64 {
		return (float64(in.ridge*math.FMA(length, square, across)) - s.k.Dot(at.Weighted, pn.direction)) / in.total
	}
	begin := slope(pn.current, 0)
	if !(begin < 0) {
		return false
	}
	trial := s.trial()
	low, atLow, high, atHigh := 0.0, begin, math.Inf(1), math.Inf(1)
	length, narrower := 1.0, leastShare
	atLast, same := 0.0, 0 // the last slope, and the number of consecutive tries that moved the same end
	for tries := 1; ; tries++ {
		falls := s.try(trial, length) < pn.objective || s.predictsNoise() // the gain of a small step is below rounding, its slope is not
		at := slope(trial, length)
		if falls && math.Abs(at) <= -flatSlope*begin {
			break
		}
		if tries == mostLengths {
			if falls {
				break
			}
			return false
		}
		if same++; (at < 0) != (atLast < 0) {
			same = 1
		}
		if atLast = at; at < 0 {
			low, atLow = length, at
		} else {
			high, atHigh = length, at
		}
		switch {
		case math.IsInf(high, 1):
			length *= lengthFactor
		case same >= mostSame && low == 0:
			length = narrower * high
			narrower *= narrower
		case same >= mostSame:
			length = math.Sqrt(low * high)
		default:
			share := 0.5
			if secant := atLow / (atLow - atHigh); secant >= 0 { // not NaN
				share = max(leastShare, min(1-leastShare, secant))
			}
			length = math.FMA(share, high-low, low)
		}
	}
	s.acceptTrial(trial, length)
	return true
}
