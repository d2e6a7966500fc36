package loss

import "github.com/seed-45b9a24c/pare/kernels"

// SmoothedHinge is ℓ = ½ − t for t ≤ 0, ½(1 − t)² for t up to 1, and 0 beyond, t = ym of
// a class y = ±1 (table 2 of Bertrand et al., JMLR 2022; the paper writes ℓ(yᵢ, mᵢ)
// there). Its curvature jumps at 0 and at 1, where it is taken as 0.
type SmoothedHinge struct{}

// Name returns "smoothed_hinge".
func (SmoothedHinge) Name() string { return "smoothed_hinge" }

// Link returns [Margin].
func (SmoothedHinge) Link() Link { return Margin }

// Check accepts −1 and 1.
func (SmoothedHinge) Check(y float64) error { return Logistic{}.Check(y) }

// marginLack returns 1 − t, and 1 − t clipped to [0, 1], which is −dℓ/dt.
func marginLack(y, m float64) (all, within float64) {
	all = 1 - float64(y*m)
	return all, max(0, min(1, all)) // keeps NaN
}

// Value implements [Loss].
func (SmoothedHinge) Value(_ *kernels.Set, y, m, out []float64) {
	for i, label := range y {
		all, within := marginLack(label, m[i])
		out[i] = half(within) + float64(within*(all-within))
		if all < 0 {
			out[i] = 0
		}
	}
}

// Slope implements [Loss].
func (SmoothedHinge) Slope(_ *kernels.Set, y, m, out []float64) {
	for i, label := range y {
		_, within := marginLack(label, m[i])
		out[i] = label * within
	}
}

// Curvature implements [Loss].
func (l SmoothedHinge) Curvature(_ *kernels.Set, y, m, out []float64) {
	l.CurvatureWithin(0, y, m, out)
}

// CurvatureWithin implements [Jumping].
func (SmoothedHinge) CurvatureWithin(reach float64, y, m, out []float64) {
	for i, label := range y {
		all, _ := marginLack(label, m[i])
		out[i] = 0
		if all > -reach && all < 1+reach {
			out[i] = 1
		}
	}
}

// Interval implements [Clipped].
func (SmoothedHinge) Interval(y float64) (lower, upper float64) { return min(0, y), max(0, y) }

// Third implements [Loss]: 0.
func (SmoothedHinge) Third(k *kernels.Set, _, _, out []float64) { k.Clear(out) }

// Divergence implements [Loss]: ½((1 − c)(1 − t))² for t in [0, 1], 0 beyond, and
// ½(1 − c)² − t(1 − c) below.
func (SmoothedHinge) Divergence(_ *kernels.Set, y, m []float64, at Dual, out []float64) {
	for i, label := range y {
		all, within := marginLack(label, m[i])
		rest := at.Rest(i)
		out[i] = half(rest*within) + float64(rest*max(0, all-within))
	}
}

// Smoothness returns 1.
func (SmoothedHinge) Smoothness() (float64, bool) { return 1, true }

// Concordance returns false: the curvature jumps.
func (SmoothedHinge) Concordance() (float64, bool) { return 0, false }
