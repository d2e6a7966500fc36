package criterion

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Weighted is another criterion with a weight for each row: the mean loss
// Σ sᵢℓᵢ/W over the rows listed, W = Σsᵢ. A weight of k counts as k equal rows.
type Weighted struct {
	Criterion
	Weights []float64 // s, one per row of the design matrix, ≥ 0
}

// Eval implements [Criterion]. At least one of the rows listed must have a positive weight.
func (c Weighted) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	return Eval(nil, c, rows, y, m, slope, curvature)
}

// oneByOne evaluates a criterion that takes no weights row by row, and weights the results.
func oneByOne(c Criterion, weights []float64, rows []int32, y, m, slope, curvature []float64) float64 {
	total := sum(nil, weights, rows)
	var value float64
	for at, i := range rows {
		share := weights[i] / total
		value = math.FMA(share, c.Eval(rows[at:at+1], y, m, slope, curvature), value)
		if slope != nil {
			slope[i] *= share
			curvature[i] *= share
		}
	}
	return value
}

// sum returns the total weight of the rows; their number if weights is nil.
func sum(k *kernels.Set, weights []float64, rows []int32) (total float64) {
	if weights == nil {
		return float64(len(rows))
	}
	for from, to := range k.Pieces(len(rows)) {
		for _, i := range rows[from:to] {
			total += weights[i]
		}
	}
	return total
}
