package criterion

import "math"

// SmoothedHinge is C = (1/n_val)Σ ℓ(yᵢmᵢ) for classes yᵢ = ±1, with ℓ(t) = ½ − t
// for t ≤ 0, ½(1 − t)² for t up to 1, and 0 beyond (table 2; the paper writes
// ℓ(yᵢ, mᵢ) there). Its slope is continuous; its curvature is taken as 0 at the
// ends of [0, 1], where it jumps.
type SmoothedHinge struct{}

// Name returns "smoothed_hinge".
func (SmoothedHinge) Name() string { return "smoothed_hinge" }

// Eval implements [Criterion].
func (SmoothedHinge) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	count := float64(len(rows))
	var sum float64
	for _, i := range rows {
		t := float64(y[i] * m[i])
		var first, second float64
		switch lack := 1 - t; {
		case t <= 0:
			sum += 0.5 - t
			first = -1
		case lack <= 0:
		default: // NaN too
			sum = math.FMA(0.5*lack, lack, sum)
			first, second = -lack, 1
		}
		if slope != nil {
			slope[i] = y[i] * first / count
			curvature[i] = second / count
		}
	}
	return sum / count
}
