package bilevel

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// heldOut holds the training rows and the held-out rows of a fold, and the classes of the latter.
type heldOut struct {
	train   []float64 // n: weights of the training rows, 0 for all other rows
	rows    []int32   // validation rows
	test    []int32   // rows that neither train nor validate
	class   []int32   // of each validation row
	weights []float64 // of each validation row; nil: all 1
}

// newHeldOut splits the rows for a fold. It returns an error if a class has no training rows.
func newHeldOut(k *kernels.Set, spec *Spec, classes []float64, label []int32, fold int) (*heldOut, error) {
	h := &heldOut{test: spec.testRows(k)}
	h.train, h.rows = spec.Split(k, fold)
	h.class = kernels.Undefined[int32](len(h.rows))
	if spec.Weights != nil {
		h.weights = kernels.Undefined[float64](len(h.rows))
	}
	pace := k.Pace()
	for at, i := range h.rows {
		pace.Did(1)
		h.class[at] = label[i]
		if spec.Weights != nil {
			h.weights[at] = spec.Weights[i]
		}
	}
	seen := make([]bool, len(classes))
	for i, w := range h.train {
		pace.Did(1)
		seen[label[i]] = seen[label[i]] || w > 0
	}
	missing := slices.Index(seen, false)
	if missing < 0 {
		return h, nil
	}
	rows := 0
	for _, class := range label {
		if int(class) == missing {
			rows++
		}
	}
	if rows == 1 {
		return nil, outcome.OfClass(outcome.SingleClass, classes[missing], "its only row is held out by fold %d", fold)
	}
	return nil, outcome.OfClass(outcome.SingleClass, classes[missing], "fold %d leaves no row of this class to train on", fold)
}

// count returns how many validation rows are of a class.
func (h *heldOut) count(class int) (rows int) {
	for _, c := range h.class {
		if int(c) == class {
			rows++
		}
	}
	return rows
}

// null returns the cross-entropy of the null model on the validation rows, and its standard error.
func (h *heldOut) null(k *kernels.Set, q int, label []int32, spec Spec) (value, spread float64) {
	score := make([]float64, q)
	if spec.Intercept {
		score = h.logits(k, q, label)
	}
	top, total := slices.Max(score), 0.0
	for class := range score {
		score[class] = kernels.Exp(score[class] - top)
		total += score[class]
	}
	return h.loss(k, func(_ int, class int32) float64 { return score[class] / total })
}

// logits returns the log-odds of each class against all other classes on the training rows: the
// intercepts of the null models.
func (h *heldOut) logits(k *kernels.Set, q int, label []int32) []float64 {
	weight, pace := make([]float64, q), k.Pace()
	for i, w := range h.train {
		pace.Did(1)
		weight[label[i]] += w
	}
	others := make([]float64, q) // sums: differences from the total would suffer from cancellation
	var before, after float64
	for class, w := range weight {
		others[class] += before
		before += w
	}
	for class, w := range slices.Backward(weight) {
		others[class] += after
		after += w
	}
	for class, w := range weight {
		weight[class] = kernels.Log(w) - kernels.Log(others[class])
	}
	return weight
}

// loss returns the weighted mean over the validation rows of −ln P, where P is the probability of the
// row's class, and its standard error over the rows.
func (h *heldOut) loss(k *kernels.Set, probability func(row int, class int32) float64) (value, spread float64) {
	total := h.criterion().Total(k, len(h.class))
	losses, pace := make([]float64, len(h.class)), k.Pace()
	for i, c := range h.class {
		pace.Did(1)
		losses[i] = -kernels.Log(probability(i, c))
		value = math.FMA(h.weight(i)/total, losses[i], value)
	}
	return value, criterion.StandardError(k, losses, h.weights, value)
}

// weight returns the weight of a validation row.
func (h *heldOut) weight(i int) float64 {
	if h.weights == nil {
		return 1
	}
	return h.weights[i]
}

func (h *heldOut) criterion() criterion.CrossEntropy {
	return criterion.CrossEntropy{Weights: h.weights}
}
