package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// boundedGap is [inner.gap] under bounds, where a correlation beyond its threshold may be that of
// a coefficient at its bound.
func (in *inner) boundedGap() float64 {
	dual := model.Dual{Penalty: in.pen, Total: in.total}
	for k, a := range in.grad {
		b := in.coef[k]
		dual.Add(int(in.columns[k]), math.FMA(in.ridge, b, a)/in.total, b, math.Sqrt(in.square[k]))
	}
	rest := 1 - dual.Scale()
	return dual.Gap(0.5*rest*rest*in.engine.squaredResidual()/in.total, math.Inf(1))
}

// boundSlack returns by how much the correlation of the column at a place exceeds what holds its
// coefficient at a bound, where it is there.
func (s *Solver) boundSlack(place int32) (slack float64, held bool) {
	j, b := s.cert.order[place], s.beta[place]
	if !s.pen.Held(int(j), b) {
		return 0, false
	}
	pull := float64(math.Copysign(1, b) * s.cert.corr[place])
	return pull - s.cert.threshold(place) - float64(s.view.Total()*s.pen.Ridge()*math.Abs(b)), true
}
