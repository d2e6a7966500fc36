package criterion

import "math"

// Weighted is another criterion with a weight for each row: the mean loss
// Σ sᵢℓᵢ/W over the rows listed, W = Σsᵢ. A weight of k counts as k equal rows.
type Weighted struct {
	Criterion
	Weights []float64 // s, one per row of the design matrix, ≥ 0
}

// Eval implements [Criterion]. Some row listed must have a positive weight.
func (c Weighted) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	var total, sum float64
	for _, i := range rows {
		total += c.Weights[i]
	}
	for at, i := range rows {
		share := c.Weights[i] / total
		sum = math.FMA(share, c.Criterion.Eval(rows[at:at+1], y, m, slope, curvature), sum)
		if slope != nil {
			slope[i] *= share
			curvature[i] *= share
		}
	}
	return sum
}
