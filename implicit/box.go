package implicit

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// Coefficients at one of their bounds do not move with λ: they are part of the point and not of the system.
// Their optimality condition, that the correlation exceeds the value that would hold them there without the
// bound, has a clearance like that of zero coefficients.

// withoutBound moves the columns at a bound from the support of a point to its held columns.
func (p Point) withoutBound(g model.Penalty) Point {
	if !g.Bounded() {
		return p
	}
	own := p
	own.Support, own.Coef, own.Correlation = nil, nil, nil
	for k, j := range p.Support {
		if g.Held(int(j), p.Coef[k]) {
			own.held, own.heldCoef = append(own.held, j), append(own.heldCoef, p.Coef[k])
			continue
		}
		own.Support, own.Coef = append(own.Support, j), append(own.Coef, p.Coef[k])
		if p.Correlation != nil {
			own.Correlation = append(own.Correlation, p.Correlation[k])
		}
	}
	return own
}

// withBound returns the columns of a point, held ones included, and their coefficients.
func (p Point) withBound() (columns []int32, coef []float64) {
	if len(p.held) == 0 {
		return p.Support, p.Coef
	}
	columns, coef = make([]int32, 0, len(p.Support)+len(p.held)), make([]float64, 0, len(p.Support)+len(p.held))
	at := 0
	for k, j := range p.Support {
		for at < len(p.held) && p.held[at] < j {
			columns, coef = append(columns, p.held[at]), append(coef, p.heldCoef[at])
			at++
		}
		columns, coef = append(columns, j), append(coef, p.Coef[k])
	}
	return append(columns, p.held[at:]...), append(coef, p.heldCoef[at:]...)
}

// withZeros inserts zeros for the held columns into v, which holds vectors over the free columns of the
// point, one after the other.
func (p Point) withZeros(v []float64) []float64 {
	free := len(p.Support)
	if len(p.held) == 0 || free == 0 {
		return v
	}
	columns, _ := p.withBound()
	var out []float64
	for ; len(v) >= free; v = v[free:] {
		at := 0
		for _, j := range columns {
			if at < free && p.Support[at] == j {
				out = append(out, v[at])
				at++
			} else {
				out = append(out, 0)
			}
		}
	}
	return out
}

// boundSlack returns by how much a correlation zⱼ exceeds the value that would hold the coefficient at b
// without its bound.
func boundSlack(g model.Penalty, j int32, b, z float64) float64 {
	return float64(math.Copysign(1, b)*z) - g.Alpha(int(j)) - float64(g.Ridge()*math.Abs(b))
}

// proveAtBound includes the margin of a coefficient at its bound in the dual margin, and reports whether the
// coefficient of the exact solution is proved to be at the bound, given that its correlation differs from z
// by at most reach.
func (c *Certificate) proveAtBound(slack, z, reach float64) bool {
	c.DualMargin = min(c.DualMargin, max(0, slack/math.Abs(z)))
	return slack > reach
}
