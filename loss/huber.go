package loss

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Huber is ℓ = ½r² for |r| ≤ δ and δ|r| − ½δ² beyond, r = y − m (Huber, Annals of Mathematical Statistics 35,
// 1964): the slope of large residuals is limited to δ. Its curvature is 1 for |r| < δ and 0 elsewhere, a
// jump.
type Huber struct {
	// Delta is δ, in the units of y. 0 means Deviations times the median absolute
	// deviation from the median of the training rows, a row of weight k counted k times.
	Delta float64
	// Deviations is δ in median absolute deviations. 0 means 1.345·1.4826, which loses 5 % of the efficiency
	// under normal noise.
	Deviations float64
}

const defaultDeviations = 1.345 * 1.4826

// Name returns "huber".
func (Huber) Name() string { return "huber" }

// Link returns [Identity].
func (Huber) Link() Link { return Identity }

// Check accepts finite numbers.
func (Huber) Check(y float64) error { return checkFinite(y) }

// Value implements [Loss].
func (h Huber) Value(_ *kernels.Set, y, m, out []float64) {
	for i, t := range y {
		size := math.Abs(t - m[i])
		if size <= h.Delta {
			out[i] = half(size)
		} else {
			out[i] = h.Delta * (size - float64(0.5*h.Delta))
		}
	}
}

// Slope implements [Loss]: y − m, between −δ and δ.
func (h Huber) Slope(_ *kernels.Set, y, m, out []float64) {
	for i, t := range y {
		out[i] = max(-h.Delta, min(h.Delta, t-m[i]))
	}
}

// Curvature implements [Loss]. At |r| = δ, where it jumps, it is 0.
func (h Huber) Curvature(_ *kernels.Set, y, m, out []float64) { h.CurvatureWithin(0, y, m, out) }

// CurvatureWithin implements [Jumping].
func (h Huber) CurvatureWithin(reach float64, y, m, out []float64) {
	for i, t := range y {
		out[i] = indicator(math.Abs(t-m[i]) < h.Delta+reach)
	}
}

// Interval implements [Clipped].
func (h Huber) Interval(float64) (lower, upper float64) { return -h.Delta, h.Delta }

// Third implements [Loss]: 0.
func (Huber) Third(k *kernels.Set, _, _, out []float64) { k.Clear(out) }

// Divergence implements [Loss]: ½((1 − c)r)² for |r| ≤ δ, and beyond
// ½((1 − c)δ)² + (|r| − δ)(1 − c)δ.
func (h Huber) Divergence(_ *kernels.Set, y, m []float64, at Dual, out []float64) {
	for i, t := range y {
		rest, size := at.Rest(i), math.Abs(t-m[i])
		out[i] = half(rest*min(size, h.Delta)) + float64(max(0, size-h.Delta)*float64(rest*h.Delta))
	}
}

// Smoothness returns 1.
func (Huber) Smoothness() (float64, bool) { return 1, true }

// Concordance returns false: the curvature jumps.
func (Huber) Concordance() (float64, bool) { return 0, false }

// Majorant implements [Majorised]: 1 for |r| ≤ δ, δ/|r| beyond.
func (h Huber) Majorant(_ *kernels.Set, y, m, out []float64) {
	for i, t := range y {
		r := math.Abs(t - m[i])
		out[i] = 1
		if r > h.Delta {
			out[i] = h.Delta / r
		}
	}
}

// Bind implements [Binder]: it computes δ where it is not given.
func (h Huber) Bind(k *kernels.Set, y, weights []float64, _ bool) (Loss, error) {
	switch {
	case h.Delta > 0 && !math.IsInf(h.Delta, 1):
		return Huber{Delta: h.Delta}, nil
	case h.Delta != 0:
		return nil, outcome.At(outcome.BadParameter, "delta", "δ must be positive and finite, got %g", h.Delta)
	case h.Deviations < 0 || !isFinite(h.Deviations):
		return nil, outcome.At(outcome.BadParameter, "delta", "the multiple of the median absolute deviation must be positive and finite, got %g", h.Deviations)
	}
	multiple := h.Deviations
	if multiple == 0 {
		multiple = defaultDeviations
	}
	centre := median(k, y, weights)
	away := make([]float64, len(y))
	for from, to := range k.Pieces(len(y)) {
		for i, t := range y[from:to] {
			away[from+i] = math.Abs(t - centre)
		}
	}
	delta := multiple * median(k, away, weights)
	if !(delta > 0) {
		return nil, outcome.Errorf(outcome.BadParameter, "half of the training rows have the same target, so the median absolute deviation is 0: give δ as a number")
	}
	return Huber{Delta: delta}, nil
}

// median returns the weighted median: the median of the entries, each repeated as often as its weight says.
func median(k *kernels.Set, v, weights []float64) float64 {
	order, pace := make([]int, 0, len(v)), k.Pace()
	for i := range v {
		pace.Did(1)
		if weights == nil || weights[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		pace.Did(1)
		return cmp.Compare(v[a], v[b])
	})
	rest := total(k, len(v), weights) / 2
	for at, i := range order {
		pace.Did(1)
		if weights == nil {
			rest--
		} else {
			rest -= weights[i]
		}
		switch {
		case rest < 0:
			return v[i]
		case rest == 0 && at+1 < len(order):
			return 0.5 * (v[i] + v[order[at+1]])
		}
	}
	return v[order[len(order)-1]]
}
