// Package criterion holds the outer losses: what a choice of λ is judged by on
// rows the inner problem has not seen (table 2 of Bertrand et al., JMLR 2022).
// A criterion sees predictions only, never coefficients.
package criterion

import "math"

// Criterion is a function of the predictions on validation rows, smooth unless [Smooth] says
// otherwise.
// Implementations are stateless and safe for concurrent use.
type Criterion interface {
	// Name is the criterion's name in messages and JSON.
	Name() string
	// Eval returns C and sets slope[i] = ∂C/∂mᵢ and curvature[i] = ∂²C/∂mᵢ² for
	// the rows listed; other entries are left alone. y and m have one entry per
	// row of the design matrix, as do slope and curvature; both are nil, never one
	// alone, where only the value is wanted.
	Eval(rows []int32, y, m, slope, curvature []float64) float64
}

// MeanSquaredError is C = (1/n_val)Σ(yᵢ − mᵢ)². Note the division by the number
// of validation rows, which the paper's text leaves out and its figures use.
type MeanSquaredError struct{}

// Name returns "mse".
func (MeanSquaredError) Name() string { return "mse" }

// Quadratic reports that second derivatives do not vary; see [Quadratic].
func (MeanSquaredError) Quadratic() bool { return true }

// Eval implements [Criterion].
func (MeanSquaredError) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	count := float64(len(rows))
	var sum float64
	for _, i := range rows {
		d := m[i] - y[i]
		sum = math.FMA(d, d, sum)
		if slope != nil {
			slope[i] = 2 * d / count
			curvature[i] = 2 / count
		}
	}
	return sum / count
}

// RowMean reports whether a criterion is known to be the mean of a loss over the rows, so
// that parts of the rows have values of their own: the criteria of this package are.
func RowMean(c Criterion) bool {
	switch c := c.(type) {
	case MeanSquaredError, MeanAbsoluteError, Misclassification, Softmax, rowwise:
		return true
	case Weighted:
		return RowMean(c.Criterion)
	default:
		return false
	}
}
