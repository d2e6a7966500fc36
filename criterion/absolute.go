package criterion

import "math"

// MeanAbsoluteError is C = (1/n_val)Σ |yᵢ − mᵢ|. It has a kink where a prediction is the
// target; its slope is taken as 0 there, and its curvature is 0 everywhere.
type MeanAbsoluteError struct{}

// Name returns "mae".
func (MeanAbsoluteError) Name() string { return "mae" }

// Eval implements [Criterion].
func (MeanAbsoluteError) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	count := float64(len(rows))
	var sum float64
	for _, i := range rows {
		d := m[i] - y[i]
		sum += math.Abs(d)
		if slope == nil {
			continue
		}
		slope[i], curvature[i] = 0, 0
		if d != 0 {
			slope[i] = math.Copysign(1/count, d)
		}
	}
	return sum / count
}
