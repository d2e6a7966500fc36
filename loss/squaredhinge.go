package loss

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// SquaredHinge is ℓ = ½(1 − ym)₊² of a class y = ±1: the loss of a support vector machine
// made smooth. Its curvature jumps at ym = 1, where it is taken as 0.
type SquaredHinge struct{}

// Name returns "squared_hinge".
func (SquaredHinge) Name() string { return "squared_hinge" }

// Link returns [Margin].
func (SquaredHinge) Link() Link { return Margin }

// Check accepts −1 and 1.
func (SquaredHinge) Check(y float64) error { return Logistic{}.Check(y) }

// Value implements [Loss].
func (SquaredHinge) Value(_ *kernels.Set, y, m, out []float64) {
	for i, label := range y {
		all, _ := marginLack(label, m[i])
		out[i] = half(max(0, all))
	}
}

// Slope implements [Loss]: y(1 − ym)₊.
func (SquaredHinge) Slope(_ *kernels.Set, y, m, out []float64) {
	for i, label := range y {
		all, _ := marginLack(label, m[i])
		out[i] = label * max(0, all)
	}
}

// Curvature implements [Loss].
func (l SquaredHinge) Curvature(_ *kernels.Set, y, m, out []float64) {
	l.CurvatureWithin(0, y, m, out)
}

// CurvatureWithin implements [Jumping].
func (SquaredHinge) CurvatureWithin(reach float64, y, m, out []float64) {
	for i, label := range y {
		all, _ := marginLack(label, m[i])
		out[i] = indicator(all > -reach)
	}
}

// Interval implements [Clipped].
func (SquaredHinge) Interval(y float64) (lower, upper float64) {
	if y > 0 {
		return 0, math.Inf(1)
	}
	return math.Inf(-1), 0
}

// Third implements [Loss]: 0.
func (SquaredHinge) Third(k *kernels.Set, _, _, out []float64) { k.Clear(out) }

// Divergence implements [Loss]: ½((1 − c)(1 − ym)₊)².
func (SquaredHinge) Divergence(_ *kernels.Set, y, m []float64, at Dual, out []float64) {
	for i, label := range y {
		all, _ := marginLack(label, m[i])
		out[i] = half(at.Rest(i) * max(0, all))
	}
}

// Smoothness returns 1.
func (SquaredHinge) Smoothness() (float64, bool) { return 1, true }

// Concordance returns false: the curvature jumps.
func (SquaredHinge) Concordance() (float64, bool) { return 0, false }
