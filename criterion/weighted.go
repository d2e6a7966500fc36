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
	if of, ok := c.Criterion.(weighable); ok {
		return of.weighted(c.Weights, rows, y, m, slope, curvature)
	}
	total := sum(c.Weights, rows)
	var value float64
	for at, i := range rows {
		share := c.Weights[i] / total
		value = math.FMA(share, c.Criterion.Eval(rows[at:at+1], y, m, slope, curvature), value)
		if slope != nil {
			slope[i] *= share
			curvature[i] *= share
		}
	}
	return value
}

// weighable is a criterion that takes the weights itself.
type weighable interface {
	weighted(weights []float64, rows []int32, y, m, slope, curvature []float64) float64
}

// sum returns the weight of the rows.
func sum(weights []float64, rows []int32) (total float64) {
	for _, i := range rows {
		total += weights[i]
	}
	return total
}
