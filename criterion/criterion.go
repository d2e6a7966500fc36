// Package criterion holds the outer losses, by which a choice of λ is judged on rows
// that the inner problem has not seen (table 2 of Bertrand et al., JMLR 2022).
// A criterion sees predictions only, never coefficients.
package criterion

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Criterion is a function of the predictions on validation rows, smooth unless [Smooth] says
// otherwise.
// Implementations are stateless and safe for concurrent use.
type Criterion interface {
	// Name is the criterion's name in messages and JSON.
	Name() string
	// Eval returns C and sets slope[i] = ∂C/∂mᵢ and curvature[i] = ∂²C/∂mᵢ² for
	// the rows listed; it does not change other entries. y and m have one entry per
	// row of the design matrix, as do slope and curvature. If only the value is wanted,
	// slope and curvature are both nil, never one alone.
	Eval(rows []int32, y, m, slope, curvature []float64) float64
}

// Eval calls c.Eval. The criteria of this package end with k: they panic once the context of k has ended,
// see [kernels.Set.Until]. k may be nil.
func Eval(k *kernels.Set, c Criterion, rows []int32, y, m, slope, curvature []float64) float64 {
	var weights []float64
	if w, ok := c.(Weighted); ok && w.Weights != nil {
		c, weights = w.Criterion, w.Weights
	}
	switch of := c.(type) {
	case MeanSquaredError, MeanAbsoluteError, Misclassification, RankError, rowwise: // these types only, and no type that embeds one
		return of.(weighable).eval(k, weights, rows, y, m, slope, curvature)
	case Softmax:
		if weights == nil {
			return of.eval(k, rows, y, m, slope, curvature)
		}
	}
	if weights != nil {
		return oneByOne(c, weights, rows, y, m, slope, curvature)
	}
	return c.Eval(rows, y, m, slope, curvature)
}

// weighable is a criterion that takes the weights of the rows itself; nil weights are all 1.
type weighable interface {
	Criterion
	eval(k *kernels.Set, weights []float64, rows []int32, y, m, slope, curvature []float64) float64
}

// MeanSquaredError is C = (1/n_val)Σ(yᵢ − mᵢ)². Note the division by the number
// of validation rows, which the paper's text leaves out and its figures use.
type MeanSquaredError struct{}

// Name returns "mse".
func (MeanSquaredError) Name() string { return "mse" }

// Quadratic returns true: second derivatives are constant; see [Quadratic].
func (MeanSquaredError) Quadratic() bool { return true }

// Eval implements [Criterion].
func (c MeanSquaredError) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	return c.eval(nil, nil, rows, y, m, slope, curvature)
}

func (MeanSquaredError) eval(k *kernels.Set, weights []float64, rows []int32, y, m, slope, curvature []float64) float64 {
	total := sum(k, weights, rows)
	curved := 2 / total
	var value float64
	for from, to := range k.Pieces(len(rows)) {
		for _, i := range rows[from:to] {
			d := m[i] - y[i]
			if weights == nil {
				value = math.FMA(d, d, value)
				if slope != nil {
					slope[i], curvature[i] = 2*d/total, curved
				}
				continue
			}
			share := weights[i] / total
			value = math.FMA(share, float64(d*d), value)
			if slope != nil {
				slope[i], curvature[i] = 2*d*share, 2*share
			}
		}
	}
	if weights == nil {
		return value / total
	}
	return value
}

// StandardError returns the standard error of the weighted mean of values, 0 for fewer than two values. weight is nil
// if all weights are 1. It ends with k, as [Eval] does.
func StandardError(k *kernels.Set, values, weight []float64, mean float64) float64 {
	n, total, square := float64(len(values)), totalOf(k, weight, len(values)), 0.0
	pace := k.Pace()
	_, unit := math.Frexp(mean) // scaled by 2^−unit, squares neither overflow nor underflow
	for i, v := range values {
		pace.Did(1)
		w := 1.0
		if weight != nil {
			w = weight[i]
		}
		d := math.Ldexp(w/total*(v-mean), -unit)
		square = math.FMA(d, d, square)
	}
	return math.Ldexp(math.Sqrt(square*n/max(1, n-1)), unit)
}

// RowMean reports whether a criterion is known to be the mean of a loss over the rows, so
// that it has a value on any part of the rows. The criteria of this package are, except
// [RankError] and those that [Func] makes.
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
