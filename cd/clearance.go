package cd

import (
	"math"
)

// Clearance returns by how much the residual of the last solution may change, in the norm
// ‖·‖ₛ, before a column off its support can reach its strength: the least of
// (Nαⱼ − |c_j|)/‖X̃_j‖ₛ, by the correlations that the certificate has or bounds. +Inf where
// no column is off the support.
func (s *Solver) Clearance() float64 {
	c, least := &s.cert, math.Inf(1)
	for _, run := range c.walk {
		for k := run.from; k < run.to; k++ {
			threshold := c.threshold(int32(k))
			if s.beta[k] != 0 || threshold == 0 || c.out(int32(k)) {
				continue
			}
			pull := c.bound[k] + float64(c.norm[k]*run.length)
			if c.known[k] {
				pull = s.pen.Pull(c.corr[k])
			}
			least = min(least, (threshold-pull)/c.norm[k])
		}
	}
	return least
}
