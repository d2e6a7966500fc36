package loss

import (
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Squared is ℓ = ½(y − m)².
type Squared struct{}

// Name returns "squared".
func (Squared) Name() string { return "squared" }

// Link returns [Identity].
func (Squared) Link() Link { return Identity }

// Check accepts finite numbers.
func (Squared) Check(y float64) error { return checkFinite(y) }

func checkFinite(y float64) error {
	if isFinite(y) {
		return nil
	}
	return outcome.Errorf(outcome.NonFinite, "the target is not finite")
}

// Value implements [Loss].
func (Squared) Value(_ *kernels.Set, y, m, out []float64) {
	for i, t := range y {
		out[i] = half(t - m[i])
	}
}

// Slope implements [Loss]: y − m.
func (Squared) Slope(_ *kernels.Set, y, m, out []float64) {
	for i, t := range y {
		out[i] = t - m[i]
	}
}

// Curvature implements [Loss]: 1.
func (Squared) Curvature(_ *kernels.Set, _, _, out []float64) {
	for i := range out {
		out[i] = 1
	}
}

// Third implements [Loss]: 0.
func (Squared) Third(k *kernels.Set, _, _, out []float64) { k.Clear(out) }

// Divergence implements [Loss]: ½((1 − c)(y − m))².
func (Squared) Divergence(_ *kernels.Set, y, m []float64, at Dual, out []float64) {
	for i, t := range y {
		out[i] = half(at.Rest(i) * (t - m[i]))
	}
}

// Smoothness returns 1.
func (Squared) Smoothness() (float64, bool) { return 1, true }

// Concordance returns 0.
func (Squared) Concordance() (float64, bool) { return 0, true }
