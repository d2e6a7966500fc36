package cd

import "math"

// Where the curvature jumps, steps no longer than their models are valid may zigzag across a flat valley and make
// thousands of small moves along it. So after every few steps a pattern move follows their total displacement for as
// long as the objective falls (Hooke and Jeeves, Journal of the ACM 8, 1961).

const (
	patternEvery   = 8
	longestPattern = 1 << 20 // relative to the displacement by the steps
)

// pattern is the base point of the next pattern move.
type pattern struct {
	known   bool
	count   int       // calls of patternMove
	beta    []float64 // p, by place
	support int
	linear  []float64 // n
}

// patternMove extrapolates from the point of some steps before through the current point.
func (s *Solver) patternMove() {
	pn := &s.prox
	from := &pn.pattern
	if pn.leastDamping == 0 || pn.untried || s.pen.Positive() || s.pen.Bounded() {
		return
	}
	if from.count++; from.count%patternEvery != 0 {
		return
	}
	if from.known && s.setPattern(from) {
		s.followPattern()
	}
	from.known, from.support = true, 0
	from.beta = append(from.beta[:0], s.beta...)
	from.linear = append(from.linear[:0], pn.current.Linear...)
	for _, place := range s.set.places {
		if s.beta[place] != 0 {
			from.support++
		}
	}
}

// setPattern sets the direction from a base point to the current point. It returns false if a column of the support at the
// base point has left the working set.
func (s *Solver) setPattern(from *pattern) bool {
	pn := &s.prox
	size := len(s.set.places)
	pn.from, pn.delta = grow(pn.from, size), grow(pn.delta, size)
	support := 0
	for k, place := range s.set.places {
		b := from.beta[place]
		if b != 0 {
			support++
		}
		pn.from[k], pn.delta[k] = s.beta[place], s.beta[place]-b
	}
	pn.direction = append(pn.direction[:0], pn.current.Linear...)
	s.k.Axpy(-1, from.linear, pn.direction)
	return support == from.support
}

// followPattern moves the current point along the direction, doubling the length as long as the objective falls.
func (s *Solver) followPattern() {
	pn := &s.prox
	start, trial := pn.current, s.trial()
	move := func(length float64) (objective float64) {
		s.k.Copy(trial.Linear, start.Linear)
		s.k.Axpy(length, pn.direction, trial.Linear)
		s.curved.Move(start, trial)
		s.payRows()
		return trial.Loss + s.penalty(length)
	}
	best, length := start.Loss+s.penalty(0), 0.0
	for next := 1.0; next <= longestPattern; next *= 2 {
		after := move(next)
		if !(after < best) {
			break
		}
		best, length = after, next
	}
	if length == 0 {
		return
	}
	move(length)
	pn.current = trial
	for k, place := range s.set.places {
		s.beta[place] = math.FMA(length, pn.delta[k], pn.from[k])
	}
}
