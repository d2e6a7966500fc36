package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// A ridge alone with a loss that is not quadratic: Newton's method on all columns. The
// intercept is eliminated, so that the matrix is that of columns centred with the curvature
// as weights. Conjugate gradients solve for a step no better than it brings the solution
// closer (Dembo, Eisenstat and Steihaug, SIAM Journal on Numerical Analysis 19, 1982).

// reweighRidge makes the curvature at the certified point the weights of the columns.
func (s *Solver) reweighRidge() {
	pn := &s.prox
	s.subsampling.squared = 0
	s.curved.Curvature(pn.here, pn.d)
	s.in.work += float64(2 * rowValue * float64(len(pn.d)))
	if s.fewWillDo() && s.subsample() {
		s.in.store.Subsample(s.subsampling.rows, s.subsampling.weights)
		return
	}
	if s.ridge.way == columnFactor && pn.least > 0 && pn.damping == 0 && s.fewCurved() {
		s.in.store.Subsample(s.subsampling.rows, s.subsampling.weights)
		return
	}
	s.raise(pn.d)
	if pn.damping > 0 {
		s.curved.Dampen(pn.here, float64(pn.damping), pn.d)
	}
	s.in.store.Reweigh(pn.d)
}

// fewWillDo reports that a step by the curvature of some of the rows is expected to leave no more of the gap than one by that of
// all, or than the tolerance: the one leaves about the share that the columns are of these rows, the other about that of the gap
// itself.
func (s *Solver) fewWillDo() bool {
	t, gap, size := &s.subsampling, s.sol.RelativeGap, len(s.ridge.columns)
	if rows := s.in.store.Rows() / subsampleMost; rows < 2*t.perColumn*size { // to be drawn in runs
		return false
	}
	left := float64(subsampleMost*subsampleLeaves*size) / float64(s.in.store.Rows())
	return s.ridge.way == columnFactor && s.in.store.Tall() && s.trusts() && s.prox.least == 0 && max(gap, s.tol/gap) >= left
}

// subsampleLeaves is how much more of the gap than the share of columns to rows a step on some of the rows may leave.
const subsampleLeaves = 8

// fewCurved lists the rows with curvature and reports that a good part has none at all, where that jumps: a
// matrix of the others is the same (Keerthi and DeCoste, JMLR 6, 2005).
func (s *Solver) fewCurved() bool {
	t, d := &s.subsampling, s.prox.d
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

// moveRidge moves along the step found, the whole way where that is to be trusted, else as far as [Solver.descend] goes. It returns false
// where rounding is all that is left to gain.
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
	if pn.least > 0 {
		return s.minimise() && !s.small()
	}
	if s.trusts() {
		s.promise()
		pn.untried, pn.shift, pn.last = true, s.state.Intercept, s.sol.Gap
		for k, place := range s.set.places {
			s.beta[place] = in.coef[k]
		}
		s.sol.Steps++
		return !s.small()
	}
	length := s.descend()
	helps := pn.adapt(length)
	return length > 0 && !s.small() || length == 0 && helps
}

const (
	flatEnough  = 0.1 // of the slope where a line begins
	longer      = 4   // times, while the objective falls
	leastShare  = 0.1 // of an interval, from either end
	mostSame    = 3   // tries that move the same end, after which the secant says little
	mostLengths = 64
)

// minimise moves along the step to where the objective is least, or nearly. Where the curvature jumps,
// steps that are shortened until they gain something take thousands; with these Newton's method
// ends after finitely many (Keerthi and DeCoste). Where rows have no curvature, the step is as much too long as the
// ridge is small: the interval then shrinks by powers, down to a length of its own magnitude. It returns false where the
// objective does not fall.
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
	begin := slope(pn.here, 0)
	if !(begin < 0) {
		return false
	}
	trial := s.trial()
	low, atLow, high, atHigh := 0.0, begin, math.Inf(1), math.Inf(1)
	length, narrower := 1.0, leastShare
	atLast, same := 0.0, 0 // tries in a row that have moved the same end
	for tries := 1; ; tries++ {
		falls := s.try(trial, length) < pn.before || s.small() // what small steps gain is less than rounding, and slopes are not
		at := slope(trial, length)
		if falls && math.Abs(at) <= -flatEnough*begin {
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
			length *= longer
		case same >= mostSame && low == 0:
			length = narrower * high
			narrower *= narrower
		case same >= mostSame:
			length = math.Sqrt(low * high)
		default:
			share := 0.5
			if secant := atLow / (atLow - atHigh); secant >= 0 { // a number
				share = max(leastShare, min(1-leastShare, secant))
			}
			length = math.FMA(share, high-low, low)
		}
	}
	s.arrive(trial, length)
	return true
}
