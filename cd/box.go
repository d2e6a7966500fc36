package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// boundedGap is [inner.gap] under bounds, where a correlation beyond its threshold may belong to a coefficient
// at its bound.
func (in *inner) boundedGap() float64 {
	loss := 0.5 * in.engine.squaredResidual() / in.total
	dual := model.Dual{Penalty: in.pen, Total: in.total, Loss: loss}
	for k, a := range in.grad {
		b := in.coef[k]
		dual.Add(int(in.columns[k]), math.FMA(in.ridge, b, a)/in.total, b, math.Sqrt(in.square[k]))
	}
	rest := 1 - dual.Scale()
	return dual.Gap(rest*rest*loss, math.Inf(1))
}
