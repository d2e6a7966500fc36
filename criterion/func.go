package criterion

import (
	"reflect"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
)

// Func makes a criterion of a loss on whole vectors: the targets and the predictions
// of the rows it judges, in file order. The loss sets slope to its derivatives by the
// predictions; slope is nil if only the value is wanted. The loss is called for several
// folds concurrently, and must not keep its arguments.
//
// Such a criterion does not return second derivatives, so that the error bounds of
// hypergradients leave out the error of its slope.
func Func(name string, eval func(y, m, slope []float64) float64) Criterion {
	return function{name, eval}
}

// Curved reports whether a criterion returns its second derivatives: all do, except those
// that [Func] makes. nil stands for a model's own loss, which does.
func Curved(c Criterion) bool {
	if w, ok := c.(Weighted); ok {
		c = w.Criterion
	}
	_, made := c.(function)
	return !made
}

// Quadratic reports whether the second derivatives of a criterion are the same at all
// predictions, as those of the mean squared error are: whether it has a method
// Quadratic() bool that returns true.
func Quadratic(c Criterion) bool {
	if w, ok := c.(Weighted); ok {
		c = w.Criterion
	}
	q, ok := c.(interface{ Quadratic() bool })
	return ok && q.Quadratic()
}

// Concordance returns an M with |ℓ‴| ≤ M·ℓ″ for the terms of a criterion: second derivatives
// change by factors e^±Mt at most where predictions change by t. ok is false if no M is
// known. Criteria made of a loss have the M of the loss; others may have a method Concordance.
func Concordance(c Criterion) (m float64, ok bool) {
	if w, weighted := c.(Weighted); weighted {
		c = w.Criterion
	}
	if s, has := c.(interface{ Concordance() (float64, bool) }); has {
		return s.Concordance()
	}
	return 0, false
}

// CurvatureWithin sets out[i], for the rows listed, to the largest ∂²C/∂mᵢ² over predictions within reach of
// mᵢ. It reports false, and does nothing, unless the criterion is made of a loss that is [loss.Jumping]. It ends
// with k, as [Eval] does.
func CurvatureWithin(k *kernels.Set, c Criterion, rows []int32, y, m []float64, reach float64, out []float64) bool {
	var weights []float64
	if w, ok := c.(Weighted); ok {
		c, weights = w.Criterion, w.Weights
	}
	r, ok := c.(rowwise)
	return ok && r.curvatureWithin(k, weights, rows, y, m, reach, out)
}

// Foreign reports whether a criterion runs code of the caller, which may panic or end its
// goroutine.
func Foreign(c Criterion) bool {
	switch c := c.(type) {
	case MeanSquaredError, MeanAbsoluteError, Misclassification, RankError, Softmax:
		return false
	case Weighted:
		return Foreign(c.Criterion)
	case rowwise:
		of := reflect.TypeOf(c.loss)
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		return of.PkgPath() != reflect.TypeFor[loss.Loss]().PkgPath() // losses bound to rows have types of their own
	default:
		return true
	}
}

type function struct {
	name string
	loss func(y, m, slope []float64) float64
}

// Name implements [Criterion].
func (f function) Name() string { return f.name }

// Eval implements [Criterion].
func (f function) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	vectors := make([]float64, 3*len(rows))
	target, prediction, derivative := vectors[:len(rows):len(rows)], vectors[len(rows):2*len(rows):2*len(rows)], vectors[2*len(rows):]
	for k, i := range rows {
		target[k], prediction[k] = y[i], m[i]
	}
	if slope == nil {
		return f.loss(target, prediction, nil)
	}
	value := f.loss(target, prediction, derivative)
	for k, i := range rows {
		slope[i], curvature[i] = derivative[k], 0
	}
	return value
}
