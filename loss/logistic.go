package loss

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Logistic is ℓ = ln(1 + e^{−ym}) of a class y = ±1.
type Logistic struct{}

// Name returns "logistic".
func (Logistic) Name() string { return "logistic" }

// Link returns [Logit].
func (Logistic) Link() Link { return Logit }

// Check accepts −1 and 1.
func (Logistic) Check(y float64) error {
	if y == 1 || y == -1 {
		return nil
	}
	return badLabel(y)
}

// badLabel is a function of its own, so that Check can be inlined.
func badLabel(y float64) error {
	if !isFinite(y) {
		return outcome.Errorf(outcome.NonFinite, "the label is not finite")
	}
	return outcome.Errorf(outcome.BadParameter, "the label is %g; it must be −1 or 1", y)
}

// Value implements [Loss].
func (Logistic) Value(k *kernels.Set, y, m, out []float64) {
	k.Product(out, y, m)
	k.Scal(-1, out)
	k.Log1pExp(out, out)
}

// Slope implements [Loss]: yσ(−ym).
func (Logistic) Slope(k *kernels.Set, y, m, out []float64) {
	k.Product(out, y, m)
	k.Scal(-1, out)
	k.Sigmoid(out, out)
	k.Product(out, out, y)
}

// Curvature implements [Loss]: σ(m)σ(−m) to full relative accuracy, down to the smallest
// normal numbers.
func (Logistic) Curvature(k *kernels.Set, _, m, out []float64) { k.Bell(out, m) }

// At implements [Pointwise].
func (Logistic) At(y, m float64) (slope, curvature float64) {
	p := kernels.Sigmoid(-y * m)
	return y * p, p * (1 - p)
}

// Third implements [Loss]: σ(m)σ(−m)(1 − 2σ(m)).
func (Logistic) Third(k *kernels.Set, _, m, out []float64) {
	k.Sigmoid(out, m)
	for i, p := range out {
		out[i] = p * kernels.Sigmoid(-m[i]) * (1 - float64(2*p))
	}
}

// Divergence implements [Loss]: KL(τ‖t) at τ = c·t, t = σ(−ym),
//
//	KL(c·t‖t) = c·t·ln c + (1 − c·t)·ln(1 + (1 − c)e^{−ym}).
func (Logistic) Divergence(k *kernels.Set, y, m []float64, at Dual, out []float64) {
	var logC, logRest [2]float64
	for side, balance := range at.Balance {
		c := float64(at.Scale * balance)
		logRest[side] = kernels.Log(1 - c)
		if c > 0 { // else no t is
			logC[side] = kernels.Log(c)
		}
	}
	k.Divergence(out, y, m, at.Slope, at.Scale, logRest, logC)
}

// Smoothness returns 1/4.
func (Logistic) Smoothness() (float64, bool) { return 0.25, true }

// Concordance returns 1.
func (Logistic) Concordance() (float64, bool) { return 1, true }

// Majorant implements [Majorised]: (σ(m) − ½)/m (Jaakkola and Jordan, Statistics and
// Computing 10, 2000).
func (Logistic) Majorant(k *kernels.Set, _, m, out []float64) {
	k.Sigmoid(out, m)
	for i, v := range m {
		above := 0.25
		if math.Abs(v) > 1e-3 {
			above = (out[i] - 0.5) / v
		}
		out[i] = above
	}
}

// Bind implements [Binder]. It returns an error where all rows are of one class.
func (Logistic) Bind(k *kernels.Set, y, weights []float64, _ bool) (Loss, error) {
	bound := logistic{total: total(k, len(y), weights)}
	if weights == nil {
		bound.positive = (bound.total + k.Sum(y)) / 2 // exact, as labels are ±1
	} else {
		for from, to := range k.Pieces(len(y)) {
			for i, s := range weights[from:to] {
				if y[from+i] > 0 {
					bound.positive += s
				}
			}
		}
	}
	bound.positiveShare = bound.positive / bound.total
	if bound.positiveShare == 0 || bound.positiveShare == 1 {
		return nil, outcome.Errorf(outcome.SingleClass, "all training rows have the same class")
	}
	bound.logOdds = kernels.Log(bound.positiveShare / (1 - bound.positiveShare))
	return bound, nil
}

// logistic is Logistic on the rows of a problem.
type logistic struct {
	Logistic
	total         float64 // Σsᵢ
	positive      float64 // Σsᵢ of class +1
	positiveShare float64 // positive/total
	logOdds       float64 // of positiveShare
}

// Null implements [Anchored]: ln 2, or with an intercept the entropy of the classes.
func (l logistic) Null(intercept bool) float64 {
	if !intercept {
		return math.Ln2
	}
	return -float64(l.positiveShare*kernels.Log(l.positiveShare)) - float64((1-l.positiveShare)*kernels.Log(1-l.positiveShare))
}

const (
	sumRounding  = 1e-15 // the share of Σ|vᵢ| up to which Σvᵢ counts as rounding
	linearChange = 1e-6  // the change of the expected numbers, relative to both classes, up to which their logarithm is linear
)

// Step implements [Stepper]: Newton's step in the log-odds of the expected share of class +1. These are
// linear in b where predictions are alike or far from 0, whereas the loss is far from a parabola there.
func (l logistic) Step(k *kernels.Set, y, rho, v []float64) float64 {
	return l.StepBy(l.Sums(k, y, rho, v))
}

// Sums implements [Summed]: Σvᵢ, Σ|vᵢ|, as ρ has the sign of y, and Σvᵢρᵢ.
func (logistic) Sums(k *kernels.Set, y, rho, v []float64) [3]float64 {
	return [3]float64{k.Sum(v), k.Dot(v, y), k.Dot(v, rho)}
}

// StepBy implements [Summed].
func (l logistic) StepBy(sums [3]float64) float64 {
	slope, size := sums[0], sums[1]
	bend := size - sums[2] // Σ sᵢσσ̄
	if math.Abs(slope) <= sumRounding*size {
		return 0
	}
	negative := l.total - l.positive
	expected, rest := l.positive-slope, negative+slope
	odds := l.logOdds - kernels.Log(expected/rest)
	if math.Abs(slope) <= linearChange*min(l.positive, negative) { // the difference above may be all rounding, where predictions are far from 0
		odds = slope/l.positive + slope/negative
	}
	step := math.Abs(odds * expected / l.total * rest / bend)
	if math.IsNaN(step) { // no curvature
		step = math.Inf(1)
	}
	return math.Copysign(step, slope)
}
