package cd

import "math"

// Clearance returns by how much the residual of the last solution may change, in the norm ‖·‖ₛ, before a
// column off its support can reach its strength, or a coefficient leave its bound: the least of
// (Nαⱼ − |c_j|)/‖X̃_j‖ₛ, by the correlations that the certificate has or bounds, and of what exceeds that
// at bounds. +Inf where there is neither.
func (s *Solver) Clearance() float64 {
	c, least := &s.cert, math.Inf(1)
	for i, j := range s.active {
		if b := s.coef[i]; s.pen.Held(int(j), b) { // while the pull exceeds what holds it at 0
			k := c.place(j)
			pull := float64(math.Copysign(1, b) * c.corr[k])
			least = min(least, (pull-c.threshold(k)-float64(s.view.Total()*s.pen.Ridge()*math.Abs(b)))/c.norm[k])
		}
	}
	for _, run := range c.screening {
		bound, norm := c.bound[run.from:run.to], c.norm[run.from:run.to]
		norm = norm[:len(bound)]
		threshold := c.level
		for at, b := range bound {
			k := run.from + at
			if len(c.levels) > 0 {
				threshold = c.levels[k]
			}
			if threshold-b >= float64(norm[at]*(run.length+least)) { // as for nearly all
				continue
			}
			if s.beta[k] != 0 || threshold == 0 || c.leftOut(int32(k)) {
				continue
			}
			pull := b + float64(norm[at]*run.length)
			if c.known.has(k) {
				pull = s.pen.Pull(int(c.order[k]), c.corr[k])
			}
			least = min(least, (threshold-pull)/norm[at])
		}
	}
	return least
}
