package criterion

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// CrossEntropy is C = −(1/n_val)Σ ln P_{i,cᵢ} for classes cᵢ in 0 … q−1, P the
// softmax over the q scores of a row (Bertrand et al., section 4.2, divided by
// n_val). It couples q predictors, so it stands beside [Criterion].
type CrossEntropy struct{}

// Eval returns C and turns scores[k][i], the prediction of class k for
// validation row i, into the probability P_{i,k}, in place. class[i] is the
// class of validation row i. Then ∂C/∂score = (P_{i,k} − 1{k = cᵢ})/n_val.
func (CrossEntropy) Eval(class []int32, scores [][]float64) float64 {
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
		sum += kernels.Log(total) - mine
		for k := range scores {
			scores[k][i] /= total
		}
	}
	return sum / float64(len(class))
}
