package loss

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Gamma is ℓ = ye^−m + m − 1 − ln y of a number y > 0: half the unit deviance of a gamma
// distribution of mean e^m (McCullagh and Nelder, Generalized Linear Models, 1989), for
// spreads that grow with the mean. Its curvature has no bound. Where e^−m overflows, its
// derivatives are the largest number instead.
type Gamma struct{}

// Name returns "gamma".
func (Gamma) Name() string { return "gamma" }

// Link returns [Log].
func (Gamma) Link() Link { return Log }

// Check accepts positive numbers up to 1e100.
func (Gamma) Check(y float64) error {
	if y <= 0 {
		return outcome.Errorf(outcome.BadParameter, "the target is %g; it must be above 0", y)
	}
	return checkSize(y)
}

// checkSize returns an error for a target that is not finite, or so large that losses with a log link
// overflow.
func checkSize(y float64) error {
	switch {
	case !isFinite(y):
		return outcome.Errorf(outcome.NonFinite, "the target is not finite")
	case y > mostCount:
		return outcome.Errorf(outcome.NonFinite, "the target is %g, whose loss overflows: scale the target", y)
	default:
		return nil
	}
}

// meanRatios sets out = ye^−m, the target over the mean.
func (Gamma) meanRatios(k *kernels.Set, y, m, out []float64) {
	for len(m) > 0 {
		n := min(len(m), blockRows)
		part := out[:n]
		for i, v := range m[:n] {
			part[i] = -v
		}
		k.Exp(part, part)
		for i, t := range y[:n] {
			ratio := t * part[i]
			if ratio > math.MaxFloat64 {
				ratio = math.MaxFloat64
			}
			part[i] = ratio
		}
		y, m, out = y[n:], m[n:], out[n:]
	}
}

// Value implements [Loss], with h = ln y − m: e^h − 1 − h.
func (g Gamma) Value(k *kernels.Set, y, m, out []float64) {
	for from, to := range halvings(len(y)) {
		y, m, logs, ratios := y[from:to], m[from:to], out[from:to], out[to:][:to-from]
		k.Log(logs, y)
		g.meanRatios(k, y, m, ratios)
		for i, ratio := range ratios {
			logs[i] = g.value(logs[i]-m[i], ratio)
		}
	}
	if last := len(y) - 1; last >= 0 {
		h := kernels.Log(y[last]) - m[last]
		g.meanRatios(k, y[last:], m[last:], out[last:])
		out[last] = g.value(h, out[last])
	}
}

// value returns e^h − 1 − h, ratio = e^h.
func (Gamma) value(h, ratio float64) float64 {
	if math.Abs(h) < seriesRadius {
		return half(h) * scaledExpExcess(h)
	}
	return ratio - 1 - h
}

// Slope implements [Loss]: ye^−m − 1.
func (g Gamma) Slope(k *kernels.Set, y, m, out []float64) {
	g.meanRatios(k, y, m, out)
	for i := range out {
		out[i]--
	}
}

// Curvature implements [Loss]: ye^−m.
func (g Gamma) Curvature(k *kernels.Set, y, m, out []float64) { g.meanRatios(k, y, m, out) }

// At implements [Pointwise].
func (Gamma) At(y, m float64) (slope, curvature float64) {
	ratio := min(y*kernels.Exp(-m), math.MaxFloat64)
	return ratio - 1, ratio
}

// Third implements [Loss]: −ye^−m.
func (g Gamma) Third(k *kernels.Set, y, m, out []float64) {
	g.meanRatios(k, y, m, out)
	for i, v := range out {
		out[i] = -v
	}
}

// Divergence implements [Loss]: KL(w‖w₁) at w = 1 − c + cw₁, w₁ = ye^−m.
func (g Gamma) Divergence(k *kernels.Set, y, m []float64, at Dual, out []float64) {
	for from, to := range halvings(len(y)) {
		ratios := out[from:to]
		g.meanRatios(k, y[from:to], m[from:to], ratios)
		entropies(k, at, from, nil, ratios, out[to:][:to-from])
		g.repair(at, from, y[from:to], m[from:to], ratios)
	}
	if last := len(y) - 1; last >= 0 {
		g.meanRatios(k, y[last:], m[last:], out[last:])
		out[last] = entropyToward(at.Rest(last), 1, out[last])
		g.repair(at, last, y[last:], m[last:], out[last:])
	}
}

// repair recomputes the divergences that are infinite because w₁ is 0 as a float64.
func (Gamma) repair(at Dual, first int, y, m, out []float64) {
	for i, v := range out {
		if v > math.MaxFloat64 {
			w := at.Rest(first + i)
			out[i] = float64(w*(kernels.Log(w)-(kernels.Log(y[i])-m[i]))) - w
		}
	}
}

// Smoothness returns false: there is no bound.
func (Gamma) Smoothness() (float64, bool) { return 0, false }

// Concordance returns 1.
func (Gamma) Concordance() (float64, bool) { return 1, true }

// Bind implements [Binder].
func (Gamma) Bind(k *kernels.Set, y, weights []float64, _ bool) (Loss, error) {
	return gamma{total: total(k, len(y), weights)}, nil
}

// gamma is Gamma on the rows of a problem.
type gamma struct {
	Gamma
	total float64 // Σsᵢ
}

// Step implements [Stepper]: ln(Σsᵢyᵢe^−mᵢ/Σsᵢ), which leads to the best intercept in one step.
func (g gamma) Step(k *kernels.Set, y, rho, v []float64) float64 {
	return g.StepBy(g.Sums(k, y, rho, v))
}

// Sums implements [Summed]: Σvᵢ.
func (gamma) Sums(k *kernels.Set, _, _, v []float64) [3]float64 {
	var slope float64
	for from, to := range k.Pieces(len(v)) {
		for _, v := range v[from:to] {
			slope += v
		}
	}
	return [3]float64{slope}
}

// StepBy implements [Summed].
func (g gamma) StepBy(sums [3]float64) float64 {
	slope := sums[0]
	if math.Abs(slope) <= sumRounding*g.total {
		return 0
	}
	return math.Copysign(kernels.Log(1+slope/g.total), slope)
}
