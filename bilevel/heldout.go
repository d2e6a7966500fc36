package bilevel

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// heldOut says which rows a fold trains on and which it holds out.
type heldOut struct {
	train   []float64 // n: weights of the rows trained on
	rows    []int32
	test    []int32   // rows that neither train nor validate
	class   []int32   // of each validation row
	weights []float64 // of each validation row; nil: all 1
}

// newHeldOut splits the rows, and refuses a fold that leaves a class without any to train on.
func newHeldOut(spec *Spec, classes []float64, label []int32, fold int) (*heldOut, error) {
	h := &heldOut{test: spec.test()}
	h.train, h.rows = spec.Split(fold)
	for _, i := range h.rows {
		h.class = append(h.class, label[i])
		if spec.Weights != nil {
			h.weights = append(h.weights, spec.Weights[i])
		}
	}
	seen := make([]bool, len(classes))
	for i, w := range h.train {
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
		return nil, outcome.Errorf(outcome.SingleClass, "class %g has a single row, and fold %d holds it out", classes[missing], fold)
	}
	return nil, outcome.Errorf(outcome.SingleClass, "class %g has no row to train on in fold %d", classes[missing], fold)
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

// null returns the cross-entropy of predicting the training rows' shares of the
// classes, or equal shares without an intercept, and its standard error.
func (h *heldOut) null(q int, label []int32, spec Spec) (value, spread float64) {
	share := make([]float64, q)
	for k := range share {
		share[k] = 1 / float64(q)
	}
	if spec.Intercept {
		clear(share)
		var total float64
		for _, w := range h.train {
			total += w
		}
		for i, w := range h.train {
			share[label[i]] += w / total
		}
	}
	return h.loss(func(_ int, class int32) float64 { return share[class] })
}

// loss returns the weighted mean over the validation rows of −ln of the probability of
// their class, and its standard error over the rows.
func (h *heldOut) loss(probability func(row int, class int32) float64) (value, spread float64) {
	total := h.criterion().Total(len(h.class))
	losses := make([]float64, len(h.class))
	for i, c := range h.class {
		losses[i] = -kernels.Log(probability(i, c))
		value = math.FMA(h.weight(i)/total, losses[i], value)
	}
	for i, l := range losses {
		deviation := h.weight(i) / total * (l - value)
		spread = math.FMA(deviation, deviation, spread)
	}
	return value, math.Sqrt(spread)
}

// weight is the weight of a validation row.
func (h *heldOut) weight(i int) float64 {
	if h.weights == nil {
		return 1
	}
	return h.weights[i]
}

func (h *heldOut) criterion() criterion.CrossEntropy {
	return criterion.CrossEntropy{Weights: h.weights}
}
