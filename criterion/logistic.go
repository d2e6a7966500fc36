package criterion

import (
	"github.com/seed-45b9a24c/pare/kernels"
)

// LogisticLoss is C = (1/n_val)Σ ln(1 + e^{−yᵢmᵢ}) for classes yᵢ = ±1, finite
// for every finite prediction.
type LogisticLoss struct{}

// Name returns "logistic".
func (LogisticLoss) Name() string { return "logistic" }

// Eval implements [Criterion].
func (LogisticLoss) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	count := float64(len(rows))
	var sum float64
	for _, i := range rows {
		u := y[i] * m[i]
		sum += kernels.Log1pExp(-u)
		if slope != nil {
			miss := kernels.Sigmoid(-u)
			slope[i] = -y[i] * miss / count
			curvature[i] = miss * kernels.Sigmoid(u) / count
		}
	}
	return sum / count
}
