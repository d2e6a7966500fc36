package criterion

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// CrossEntropy is C = −(1/n_val)Σ ln P_{i,cᵢ} for classes cᵢ in 0 … q−1, P the
// softmax over the q scores of a row (Bertrand et al., section 4.2, divided by
// n_val). It couples q predictors, so it stands beside [Criterion].
type CrossEntropy struct {
	// Weights are those of the validation rows, as in [Weighted]; nil: all 1.
	Weights []float64
}

// Eval returns C and turns scores[k][i], the prediction of class k for
// validation row i, into the probability P_{i,k}, in place. class[i] is the
// class of validation row i. Then ∂C/∂score = (P_{i,k} − 1{k = cᵢ})/n_val.
func (c CrossEntropy) Eval(class []int32, scores [][]float64) float64 {
	var sum float64
	for i, own := range class {
		top := math.Inf(-1)
		for k := range scores {
			top = max(top, scores[k][i])
		}
		mine := scores[own][i] - top
		var total float64
		for k := range scores {
			scores[k][i] = kernels.Exp(scores[k][i] - top)
			total += scores[k][i]
		}
		loss := kernels.Log(total) - mine
		if c.Weights != nil {
			loss = float64(loss * c.Weights[i])
		}
		sum += loss
		for k := range scores {
			scores[k][i] /= total
		}
	}
	return sum / c.Total(len(class))
}

// Total returns what the shares of n validation rows are of: n, or the sum of the
// weights.
func (c CrossEntropy) Total(n int) float64 {
	if c.Weights == nil {
		return float64(n)
	}
	var total float64
	for _, s := range c.Weights {
		total += s
	}
	return total
}
