package pare

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// classWeighing multiplies weights of rows that are trained on by those of their classes.
type classWeighing struct {
	class   []int     // of every row
	weights []float64 // of the classes; nil where they are balanced
	count   int
}

// newClassWeighing checks the class weights of a Config; it returns nil where there are none.
func newClassWeighing(f family, y []float64, c Config) (*classWeighing, error) {
	switch {
	case c.ClassWeights == nil && !c.Balanced:
		return nil, nil
	case !f.link().Classes() && !f.classes:
		return nil, outcome.At(outcome.Usage, "class-weight", "is for models of classes, and the target of %s is a number", c.Model)
	case c.ClassWeights != nil && c.Balanced:
		return nil, outcome.At(outcome.Usage, "class-weight", "classes have weights of their own or balanced ones, not both")
	}
	kinds := slices.Compact(slices.Sorted(slices.Values(y)))
	w := &classWeighing{class: make([]int, len(y)), weights: slices.Clone(c.ClassWeights), count: len(kinds)}
	for i, label := range y {
		w.class[i], _ = slices.BinarySearch(kinds, label)
	}
	if w.weights == nil {
		return w, nil
	}
	if len(w.weights) != len(kinds) {
		return nil, outcome.At(outcome.Shape, "class-weight", "%d weights for %d classes", len(w.weights), len(kinds))
	}
	for k, v := range w.weights {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, outcome.At(outcome.BadParameter, "class-weight", "the weight of class %g must be positive and finite, got %g", kinds[k], v)
		}
	}
	return w, nil
}

// weigh multiplies the weights of rows, 0 of those that do not train.
func (w *classWeighing) weigh(rows []float64) {
	weights := w.weights
	if weights == nil {
		weights = w.balance(rows)
	}
	for i, v := range rows {
		rows[i] = float64(v * weights[w.class[i]])
	}
}

// balance returns the weights by which all classes count alike, N/KNₖ; 1 where one has no row.
func (w *classWeighing) balance(rows []float64) []float64 {
	var all float64
	held := make([]float64, w.count)
	for i, v := range rows {
		held[w.class[i]] += v
		all += v
	}
	for k, v := range held {
		if held[k] = 1; v > 0 {
			held[k] = all / float64(float64(w.count)*v)
		}
	}
	return held
}

// training returns the weights of all rows in the inner problem; nil: all 1.
func (e *engine) training() []float64 {
	if e.classes == nil || len(e.config.Weights) != 0 && len(e.config.Weights) != len(e.y) { // that is said elsewhere
		return e.config.Weights
	}
	weights := slices.Repeat([]float64{1}, len(e.y))
	copy(weights, e.config.Weights)
	e.classes.weigh(weights)
	return weights
}
