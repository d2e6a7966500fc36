package cd

import "math"

// Clearance returns how far, in the norm ‖·‖ₛ, the residual of the last solution may move before a column
// outside the support can reach its threshold or a coefficient can leave its bound. This is the smallest (Nαⱼ −
// |c_j|)/‖X̃_j‖ₛ, with |c_j| as the certificate knows or bounds it, or (σc_j − Nαⱼ − Nα₂|βⱼ|)/‖X̃_j‖ₛ for a
// coefficient at a bound, σ its sign. It is +Inf if there are neither.
func (s *Solver) Clearance() float64 {
	c, least := &s.cert, math.Inf(1)
	for i, j := range s.active {
		if b := s.coef[i]; s.pen.Held(int(j), b) { // it stays there while the pull exceeds what draws it to 0
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
			if threshold-b >= float64(norm[at]*(run.length+least)) { // true of nearly all columns
				continue
			}
			if s.beta[k] != 0 || threshold == 0 || c.leftOut(int32(k)) {
				continue
			}
			pull := b + float64(norm[at]*run.length)
			if c.current.has(k) {
				pull = s.pen.Pull(int(c.order[k]), c.corr[k])
			}
			least = min(least, (threshold-pull)/norm[at])
		}
	}
	return least
}
