package criterion

import (
	"cmp"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

// The criteria of two classes, −1 and 1, in this file count errors. They have no slope, so that
// they serve to report, and to choose among points, but not for searches by gradients.

// Misclassification is the share of rows whose prediction does not have the sign of the label; a
// prediction of 0 counts as −1.
type Misclassification struct{}

// Name returns "misclassification".
func (Misclassification) Name() string { return "misclassification" }

// Eval implements [Criterion]. The slope is 0.
func (c Misclassification) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	return c.eval(nil, nil, rows, y, m, slope, curvature)
}

func (Misclassification) eval(k *kernels.Set, weights []float64, rows []int32, y, m, slope, curvature []float64) float64 {
	clearDerivatives(k, rows, slope, curvature)
	var wrong, total float64
	for from, to := range k.Pieces(len(rows)) {
		for _, i := range rows[from:to] {
			w := weightOf(weights, i)
			if total += w; (m[i] > 0) != (y[i] > 0) {
				wrong += w
			}
		}
	}
	return wrong / total
}

// RankError is one minus the area under the ROC curve: the share of the pairs of a row of class 1
// and a row of class −1 in which the row of class −1 has the larger prediction; pairs of equal
// predictions count half. It is NaN if there is only one class.
type RankError struct{}

// Name returns "auc", although the criterion is one minus the AUC.
func (RankError) Name() string { return "auc" }

// Eval implements [Criterion]. The slope is 0.
func (c RankError) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	return c.eval(nil, nil, rows, y, m, slope, curvature)
}

func (RankError) eval(k *kernels.Set, weights []float64, rows []int32, y, m, slope, curvature []float64) float64 {
	clearDerivatives(k, rows, slope, curvature)
	order, pace := kernels.Undefined[int32](len(rows)), k.Pace()
	for from, to := range k.Pieces(len(rows)) {
		copy(order[from:to], rows[from:to])
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		pace.Did(1)
		return cmp.Compare(m[a], m[b])
	})
	var lower, positive, wrong float64 // weights of classes −1 and 1 so far, and of pairs in the wrong order
	for from := 0; from < len(order); {
		to := from
		var ones, others float64 // weights of equal predictions
		for ; to < len(order) && (to == from || m[order[to]] == m[order[from]]); to++ {
			pace.Did(1)
			if w := weightOf(weights, order[to]); y[order[to]] > 0 {
				ones += w
			} else {
				others += w
			}
		}
		wrong += float64(others * positive) // rows of class −1 above rows of class 1
		wrong += float64(0.5 * ones * others)
		positive += ones
		lower += others
		from = to
	}
	return wrong / float64(positive*lower)
}

// Smooth reports whether a criterion has slopes that a search can use: all have, except
// [Misclassification] and [RankError]. nil stands for a model's own loss, which has.
func Smooth(c Criterion) bool {
	if w, ok := c.(Weighted); ok {
		c = w.Criterion
	}
	switch c.(type) {
	case Misclassification, RankError:
		return false
	default:
		return true
	}
}

// clearDerivatives sets slopes and curvatures to 0.
func clearDerivatives(k *kernels.Set, rows []int32, slope, curvature []float64) {
	if slope == nil {
		return
	}
	for from, to := range k.Pieces(len(rows)) {
		for _, i := range rows[from:to] {
			slope[i], curvature[i] = 0, 0
		}
	}
}

func weightOf(weights []float64, i int32) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}
