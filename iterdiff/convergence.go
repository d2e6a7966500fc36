package iterdiff

import "math"

// convergence estimates the remaining distance of a linearly convergent sequence from the sizes of its last
// changes: change·q/(1−q), q the largest of their last three ratios.
type convergence struct {
	last  [4]float64
	count int
}

// rounding is the relative change below which a sequence counts as converged: rounding may keep it moving.
const rounding = 2e-15

// remaining records a change of a quantity of the given size and returns the estimate: +Inf while there are
// fewer than four changes or they grow.
func (s *convergence) remaining(change, size float64) float64 {
	copy(s.last[:], s.last[1:])
	s.last[3] = change
	s.count++
	if change <= rounding*size {
		return change
	}
	if s.count < len(s.last) {
		return math.Inf(1)
	}
	var q float64
	for k, before := range s.last[:3] {
		q = max(q, s.last[k+1]/before)
	}
	if !(q < 1) {
		return math.Inf(1)
	}
	return change * q / (1 - q)
}
