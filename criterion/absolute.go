package criterion

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// MeanAbsoluteError is C = (1/n_val)Σ |yᵢ − mᵢ|. It has a kink where a prediction equals the
// target; its slope is taken as 0 there, and its curvature is 0 everywhere.
type MeanAbsoluteError struct{}

// Name returns "mae".
func (MeanAbsoluteError) Name() string { return "mae" }

// Eval implements [Criterion].
func (c MeanAbsoluteError) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	return c.eval(nil, nil, rows, y, m, slope, curvature)
}

func (MeanAbsoluteError) eval(k *kernels.Set, weights []float64, rows []int32, y, m, slope, curvature []float64) float64 {
	total := sum(k, weights, rows)
	var value float64
	for from, to := range k.Pieces(len(rows)) {
		for _, i := range rows[from:to] {
			d := m[i] - y[i]
			share := 1 / total
			if weights == nil {
				value += math.Abs(d)
			} else {
				share = weights[i] / total
				value = math.FMA(share, math.Abs(d), value)
			}
			if slope == nil {
				continue
			}
			slope[i], curvature[i] = 0, 0
			if d != 0 {
				slope[i] = math.Copysign(share, d)
			}
		}
	}
	if weights == nil {
		return value / total
	}
	return value
}
