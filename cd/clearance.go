package cd

import "math"

// Clearance returns by how much the residual of the last solution may change, in the norm
// ‖·‖ₛ, before a column off its support can reach its strength: the least of
// (Nαⱼ − |c_j|)/‖X̃_j‖ₛ, by the correlations that the certificate has or bounds. +Inf where
// no column is off the support.
func (s *Solver) Clearance() float64 {
	c, least := &s.cert, math.Inf(1)
	free := !s.pen.Bounded()
	for _, run := range c.screening {
		bound, norm := c.bound[run.from:run.to], c.norm[run.from:run.to]
		norm = norm[:len(bound)]
		threshold := c.level
		for at, b := range bound {
			k := run.from + at
			if len(c.levels) > 0 {
				threshold = c.levels[k]
			}
			far := threshold-b >= float64(norm[at]*(run.length+least)) // as nearly all are
			if free && far {
				continue
			}
			if slack, held := s.boundSlack(int32(k)); held {
				least = min(least, slack/norm[at])
				continue
			}
			if far || s.beta[k] != 0 || threshold == 0 || c.leftOut(int32(k)) {
				continue
			}
			pull := b + float64(norm[at]*run.length)
			if c.known[k] {
				pull = s.pen.Pull(int(c.order[k]), c.corr[k])
			}
			least = min(least, (threshold-pull)/norm[at])
		}
	}
	return least
}
