package criterion

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// CrossEntropy is C = −(1/n_val)Σ ln P_{i,cᵢ} for classes cᵢ in 0 … q−1, P the
// softmax over the q scores of a row (Bertrand et al., section 4.2, divided by
// n_val). It couples q predictors, so it stands beside [Criterion].
type CrossEntropy struct {
	// Weights are the weights of the validation rows, as in [Weighted]; nil: all 1.
	Weights []float64
}

// Eval returns C and turns scores[k][i], the prediction of class k for
// validation row i, into the probability P_{i,k}, in place. class[i] is the
// class of validation row i. Then ∂C/∂score = (P_{i,k} − 1{k = cᵢ})/n_val.
//
// It ends with k, as [Eval] does.
func (c CrossEntropy) Eval(k *kernels.Set, class []int32, scores [][]float64) float64 {
	var sum float64
	pace := k.Pace()
	for i, of := range class {
		pace.Did(len(scores))
		top := math.Inf(-1)
		for q := range scores {
			top = max(top, scores[q][i])
		}
		own := scores[of][i] - top
		var total float64
		for q := range scores {
			scores[q][i] = kernels.Exp(scores[q][i] - top)
			total += scores[q][i]
		}
		loss := kernels.Log(total) - own
		if c.Weights != nil {
			loss = float64(loss * c.Weights[i])
		}
		sum += loss
		for q := range scores {
			scores[q][i] /= total
		}
	}
	return sum / c.Total(k, len(class))
}

// Total returns the total weight of n validation rows: n, or the sum of the
// weights.
func (c CrossEntropy) Total(k *kernels.Set, n int) float64 {
	return totalOf(k, c.Weights, n)
}

// totalOf returns the sum of n weights, which are 1 where weights is nil.
func totalOf(k *kernels.Set, weights []float64, n int) (total float64) {
	if weights == nil {
		return float64(n)
	}
	for from, to := range k.Pieces(len(weights)) {
		for _, s := range weights[from:to] {
			total += s
		}
	}
	return total
}
