package inner

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// ClassWeights multiplies the weights of training rows by the weights of their classes.
type ClassWeights struct {
	class   []int     // of every row
	weights []float64 // of the classes; nil where they are balanced
	count   int
}

// NewClassWeights returns the class weights for the labels y. weights has one entry per class, in ascending
// order of the labels; nil asks for balanced classes. The error is an [outcome.Error]: Shape, or
// BadParameter.
func NewClassWeights(k *kernels.Set, y, weights []float64) (*ClassWeights, error) {
	kinds := bilevel.Distinct(k, y)
	w := &ClassWeights{class: make([]int, len(y)), weights: slices.Clone(weights), count: len(kinds)}
	pace := k.Pace()
	for i, label := range y {
		pace.Did(1)
		w.class[i], _ = slices.BinarySearch(kinds, label)
	}
	if w.weights == nil {
		return w, nil
	}
	if len(w.weights) != len(kinds) {
		return nil, outcome.At(outcome.Shape, "class-weight", "%d weights for %d classes", len(w.weights), len(kinds))
	}
	for class, v := range w.weights {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, outcome.At(outcome.BadParameter, "class-weight", "the weight of class %g must be positive and finite, got %g", kinds[class], v)
		}
	}
	return w, nil
}

// Weigh multiplies the weights of rows, which are 0 for rows that do not train, by those of their classes.
func (w *ClassWeights) Weigh(k *kernels.Set, rows []float64) {
	weights := w.weights
	if weights == nil {
		weights = w.balancedWeights(k, rows)
	}
	pace := k.Pace()
	for i, v := range rows {
		pace.Did(1)
		rows[i] = float64(v * weights[w.class[i]])
	}
}

// balancedWeights returns the weights that give all K classes the same total, N/KNₖ; 1 for a class without rows.
func (w *ClassWeights) balancedWeights(k *kernels.Set, rows []float64) []float64 {
	var all float64
	pace := k.Pace()
	held := make([]float64, w.count)
	for i, v := range rows {
		pace.Did(1)
		held[w.class[i]] += v
		all += v
	}
	for class, v := range held {
		if held[class] = 1; v > 0 {
			held[class] = all / float64(float64(w.count)*v)
		}
	}
	return held
}
