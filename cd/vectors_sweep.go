package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// vectorsSides sweeps over the dual of [Vectors] like that of an SVM (Ho and Lin, Journal of Machine
// Learning Research 13, 2012): over a variable β ≥ 0 with the margin σyᵢ − ε for each side σ of a
// row's tube that can bind, aᵢ = βᵢ⁺ − βᵢ⁻.
//
// An intercept requires Σaᵢ = 0. Sweeps then minimise the primal plus (b − b̂)²/2τ, over b too: rows
// have an additional entry √τ, margins are shifted by b̂, and b = b̂ + τΣaᵢ. After the sweeps, b̂ is
// set to b. This is the proximal point method, or the method of multipliers for the dual
// (Rockafellar, Mathematics of Operations Research 1, 1976).
type vectorsSides struct {
	sweeper
	row    []int32 // of each variable
	at     []kernels.BoxVariable
	w      []float64
	tau    float64 // τ, 0 without an intercept
	centre float64 // b̂
}

const (
	// tauShare is τ relative to the mean of ‖x̃ᵢ‖²: with a smaller τ b moves slowly, with a larger one
	// sweeps converge slowly.
	tauShare = 0.2
	// innerShare is the gap at which b̂ is moved, relative to the gap of the best point: with a wrong b̂,
	// a smaller gap is a waste.
	innerShare = 0.3
	// mostCentreMoves is the number of moves of b̂ in a row that do not halve the gap, after which the gap
	// is taken to be as small as rounding allows.
	mostCentreMoves = 100
)

// sweep runs sweeps until the gap is within tol, or until they are expected to cost more than price,
// that of the interior-point method. It reports whether the gap is within tol.
func (s *Vectors) sweep(ctx context.Context, tol, price float64, opts Options) bool {
	if len(s.columns) == 0 {
		return false
	}
	v := &s.sides
	s.beginSweeps()
	v.start(opts)
	s.k.Copy(s.a, s.sol.Dual)
	if !s.fit.Centred() { // otherwise the point has been evaluated
		s.evaluate()
	}
	s.b = s.sol.Intercept
	half, stalled := s.bestGap, 0
	for s.bestGap > tol && v.sweepsLeft > 0 && stalled < mostCentreMoves {
		s.moveCentre()
		v.activate()
		goal := v.factor * tol
		if s.fit.Centred() {
			goal = max(goal, innerShare*s.bestGap)
		}
		moved := false
		for {
			v.sweepsLeft -= float64(len(v.live)) / float64(len(v.at))
			s.sol.Epochs++
			if !v.epoch(ctx) || s.tooCostly(goal, tol, price) {
				v.sweepsLeft = 0
			}
			s.sol.Work += v.cost
			moved = moved || v.e.Moved > 0
			if v.e.Gap <= goal || v.sweepsLeft <= 0 {
				break
			}
		}
		if v.e.Gap <= v.factor*tol {
			v.factor = max(leastSweepFactor, factorDecay*v.factor)
		}
		s.gather()
		if s.fit.Centred() && !moved {
			s.b += v.slack(s.sum())
		}
		s.evaluate()
		if stalled++; s.bestGap <= 0.5*half {
			half, stalled = s.bestGap, 0
		}
	}
	return s.bestGap <= tol
}

// tooCostly is [sweeper.tooCostly] for the best gap and tol with an intercept, and for the gap of the sweep and goal without.
func (s *Vectors) tooCostly(goal, tol, price float64) bool {
	if s.fit.Centred() {
		return s.sides.tooCostly(s.bestGap, tol, price)
	}
	return s.sides.tooCostly(s.sides.e.Gap, goal, price)
}

// gather sets a and b from the variables of the sweeps.
func (s *Vectors) gather() {
	v := &s.sides
	for _, i := range kernels.Each(s.k, s.list) {
		s.a[i] = 0
	}
	for k, i := range kernels.Each(s.k, v.row) {
		s.a[i] += float64(v.at[k].Sign * v.at[k].Value)
	}
	s.b = math.FMA(v.tau, s.sum(), v.centre)
}

// slack returns how far b can move, with the sign of Σaᵢ, before the first variable moves, given that none has moved at
// b̂. Without it b̂ would cover that distance by steps of τΣaᵢ, which are tiny where C is.
func (v *vectorsSides) slack(sum float64) float64 {
	least := math.Inf(1)
	for k, at := range kernels.Each(v.k, v.at) {
		if g := v.margin[k] - at.Margin; at.Sign*g*sum < 0 {
			least = min(least, math.Abs(g))
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return math.Copysign(least, sum)
}

// sum returns Σaᵢ.
func (s *Vectors) sum() (sum float64) {
	for _, i := range kernels.Each(s.k, s.list) {
		sum += s.a[i]
	}
	return sum
}

// moveCentre sets b̂ to the current b, and recomputes the required margins and the margins at a.
func (s *Vectors) moveCentre() {
	v := &s.sides
	v.centre = s.b
	var moved float64 // b − b̂
	if s.fit.Centred() {
		// a is not the point that was evaluated, whose sum is 0.
		sum := s.sum()
		moved = float64(v.tau * sum)
		s.fit.SetCombination(s.a, s.w)
		s.fit.Predict(s.w, 0, s.m)
		v.w[s.p] = math.Sqrt(v.tau) * sum
		cost := float64(2 * s.pass())
		s.sol.Work += cost
		v.total += float64(2 * cost) // includes the cost of the certificate
	}
	copy(v.w, s.w)
	for k, i := range kernels.Each(s.k, v.row) {
		at := &v.at[k]
		v.margin[k] = at.Sign * (s.m[i] + moved)
		at.Margin = float64(at.Sign*(s.fit.Target()[i]-v.centre)) - s.epsilon
	}
}

// beginSweeps sets the variables of the sweeps up at the best point.
func (s *Vectors) beginSweeps() {
	v := &s.sides
	if v.margin == nil { // not made yet, or cancelled while they were made
		*v = vectorsSides{}
		s.makeSides()
	}
	for k, i := range kernels.Each(s.k, v.row) {
		at := &v.at[k]
		lower, upper := s.fit.Interval(int(i), s.c)
		if at.Bound = upper; at.Sign < 0 {
			at.Bound = -lower
		}
		at.Value = max(0, float64(at.Sign*s.sol.Dual[i]))
		at.Inverse = 1 / (s.square[i] + v.tau)
		if math.IsInf(at.Inverse, 1) { // the prediction of the row does not depend on w
			if at.Inverse, at.Value = 0, 0; float64(at.Sign*s.fit.Target()[i]) > s.epsilon {
				at.Value = at.Bound
			}
		}
	}
}

// makeSides creates the variables and the rows that belong to them.
func (s *Vectors) makeSides() {
	v := &s.sides
	width := s.p
	if s.fit.Centred() {
		width++
		var squares, total float64
		for _, i := range kernels.Each(s.k, s.list) {
			squares += float64(s.fit.Weight(int(i)) * s.square[i])
			total += s.fit.Weight(int(i))
		}
		if v.tau = tauShare * squares / total; !(v.tau > 0) {
			v.tau = 1
		}
	}
	var e kernels.BoxEpoch
	var from, to []int64
	e.Features, e.Values, from, to = s.samples()
	sides := 0 // counted first: growing slices would copy in one piece
	for _, i := range kernels.Each(s.k, s.list) {
		lower, upper := s.fit.Interval(int(i), 1)
		for _, bound := range [2]float64{upper, -lower} {
			if bound > 0 {
				sides++
			}
		}
	}
	v.row, v.at = kernels.Undefined[int32](sides)[:0], kernels.Undefined[kernels.BoxVariable](sides)[:0]
	e.From, e.To = kernels.Undefined[int64](sides)[:0], kernels.Undefined[int64](sides)[:0]
	for k, i := range kernels.Each(s.k, s.list) {
		lower, upper := s.fit.Interval(int(i), 1)
		for side, bound := range [2]float64{upper, -lower} {
			if bound > 0 {
				v.row, v.at = append(v.row, i), append(v.at, kernels.BoxVariable{Sign: float64(1 - 2*side)})
				e.From, e.To = append(e.From, from[k]), append(e.To, to[k])
			}
		}
	}
	v.w = make([]float64, width)
	e.At, e.W = v.at, v.w
	v.init(s.k, e, kernels.Zeros[float64](s.k, len(v.at)))
}

// samples returns the scaled entries of X by rows, and the span of each row in list. With an
// intercept, each row has a last entry √τ in column p.
func (s *Vectors) samples() (features []int32, values []float64, from, to []int64) {
	turned := sparse.Transpose(s.fit.Matrix())
	features, values = turned.Arrays()
	from, to = kernels.Undefined[int64](len(s.list)), kernels.Undefined[int64](len(s.list))
	var entries int64
	for k, i := range kernels.Each(s.k, s.list) {
		from[k], to[k] = turned.Span(int(i))
		entries += to[k] - from[k]
	}
	if !s.fit.Scaled() && !s.fit.Centred() {
		return features, values, from, to
	}
	if s.fit.Centred() {
		entries += int64(len(s.list))
	}
	index, all, constant := features, values, math.Sqrt(s.sides.tau)
	values = kernels.Undefined[float64](int(entries))
	if index != nil {
		features = kernels.Undefined[int32](int(entries))
	}
	next := int64(0)
	pace := s.k.Pace()
	for k := range s.list {
		pace.Did(int(to[k] - from[k]))
		first := next
		for l := from[k]; l < to[k]; l++ {
			j := int(l - from[k])
			if index != nil {
				j = int(index[l])
				features[next] = index[l]
			}
			values[next] = all[l] * s.fit.Scale(j)
			next++
		}
		if s.fit.Centred() {
			if index != nil {
				features[next] = int32(s.p)
			}
			values[next] = constant
			next++
		}
		from[k], to[k] = first, next
	}
	return features, values, from, to
}
