package loss

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Poisson is ℓ = e^m − ym − y + y ln y of a count y ≥ 0, which need not be whole: half
// the unit deviance of a mean e^m. Its curvature has no bound. Where e^m overflows, its
// derivatives are the largest number instead.
type Poisson struct{}

// Name returns "poisson".
func (Poisson) Name() string { return "poisson" }

// Link returns [Log].
func (Poisson) Link() Link { return Log }

// mostCount leaves room for products of a loss and its derivatives.
const mostCount = 1e100

// Check refuses what is negative, not finite or beyond 1e100.
func (Poisson) Check(y float64) error {
	switch {
	case !isFinite(y):
		return outcome.Errorf(outcome.NonFinite, "the count is not finite")
	case y < 0:
		return outcome.Errorf(outcome.BadParameter, "the count is %g, want 0 or more", y)
	case y > mostCount:
		return outcome.Errorf(outcome.NonFinite, "the count is %g, whose loss overflows: scale the target", y)
	default:
		return nil
	}
}

// means sets out = e^m, or the largest number where that overflows.
func (Poisson) means(k *kernels.Set, m, out []float64) {
	k.Exp(out, m)
	for i, mean := range out {
		if mean > math.MaxFloat64 {
			out[i] = math.MaxFloat64
		}
	}
}

// Value implements [Loss], with h = m − ln y: y(e^h − 1 − h).
func (Poisson) Value(k *kernels.Set, y, m, out []float64) {
	for i, t := range y {
		switch h := m[i] - kernels.Log(t); {
		case t == 0:
			out[i] = kernels.Exp(m[i])
		case math.Abs(h) < nearby:
			out[i] = t * excess(h)
		default: // e^m may be finite where e^h is not
			out[i] = kernels.Exp(m[i]) - t - float64(t*h)
		}
	}
}

// Slope implements [Loss]: y − e^m.
func (p Poisson) Slope(k *kernels.Set, y, m, out []float64) {
	p.means(k, m, out)
	for i, t := range y {
		out[i] = t - out[i]
	}
}

// Curvature implements [Loss]: e^m.
func (p Poisson) Curvature(k *kernels.Set, _, m, out []float64) { p.means(k, m, out) }

// At implements [Pointwise].
func (Poisson) At(y, m float64) (slope, curvature float64) {
	mean := min(kernels.Exp(m), math.MaxFloat64)
	return y - mean, mean
}

// Third implements [Loss]: e^m.
func (p Poisson) Third(k *kernels.Set, _, m, out []float64) { p.means(k, m, out) }

// Divergence implements [Loss]: KL(t‖μ) = t ln(t/μ) − t + μ at t = (1 − c)y + cμ, μ = e^m.
func (p Poisson) Divergence(k *kernels.Set, y, m []float64, at Dual, out []float64) {
	p.means(k, m, out)
	for i, mean := range out {
		out[i] = towards(at.Rest(i), y[i], mean, m[i])
	}
}

// towards returns KL(t‖μ) at t = (1 − c)y + cμ, rest = 1 − c, given ln μ too.
func towards(rest, y, mean, logMean float64) float64 {
	t := float64(rest*y) + float64((1-rest)*mean)
	x := rest * (y - mean) / mean // (t − μ)/μ
	switch {
	case rest == 0:
		return 0
	case math.Abs(x) < nearby:
		return mean * entropy(x)
	case t == 0:
		return mean
	default:
		return float64(t*(kernels.Log(t)-logMean)) - t + mean
	}
}

// Smoothness returns false: there is no bound.
func (Poisson) Smoothness() (float64, bool) { return 0, false }

// Concordance returns 1.
func (Poisson) Concordance() (float64, bool) { return 1, true }

// Bind implements [Binder]. It refuses counts that are all 0 where there is an intercept:
// the best one would be −∞.
func (Poisson) Bind(k *kernels.Set, y, weights []float64, intercept bool) (Loss, error) {
	var sum float64
	pace := k.Pace()
	for i, t := range y {
		pace.Did(1)
		if weights != nil {
			t = float64(t * weights[i])
		}
		sum += t
	}
	if intercept && sum == 0 {
		return nil, outcome.Errorf(outcome.BadParameter, "the count of every training row is 0, so there is no best intercept; fit without one")
	}
	return poisson{sum: sum}, nil
}

// poisson is Poisson on the rows of a problem.
type poisson struct {
	Poisson
	sum float64 // Σsᵢyᵢ
}

// Step implements [Stepper]: ln(Σsᵢyᵢ/Σsᵢe^mᵢ), to the best intercept at once.
func (p poisson) Step(k *kernels.Set, _, _, v []float64) float64 {
	var slope float64
	for from, to := range k.Pieces(len(v)) {
		for _, v := range v[from:to] {
			slope += v
		}
	}
	if math.Abs(slope) <= settled*p.sum {
		return 0
	}
	return math.Copysign(kernels.Log(p.sum/(p.sum-slope)), slope)
}

// nearby is the size of an argument up to which the series below are used; the functions
// themselves would lose their digits there.
const nearby = 0.25

// less returns e^x − 1.
func less(x float64) float64 {
	if math.Abs(x) < nearby {
		return x + float64(excess(x))
	}
	return kernels.Exp(x) - 1
}

// relative returns (1 + x)ln(1 + x) − x for x ≥ −1: KL(u(1 + x)‖u)/u.
func relative(x float64) float64 {
	switch {
	case math.Abs(x) < nearby:
		return entropy(x)
	case x == -1:
		return 1
	default:
		return float64((1+x)*kernels.Log(1+x)) - x
	}
}

// excess returns e^x − 1 − x.
func excess(x float64) float64 {
	if math.Abs(x) >= nearby {
		return kernels.Exp(x) - 1 - x
	}
	sum := 1.0
	for k := 15; k >= 3; k-- {
		sum = math.FMA(x/float64(k), sum, 1)
	}
	return half(x) * sum
}

// entropy returns (1 + x)ln(1 + x) − x = Σ (−x)^k/(k(k − 1)), k ≥ 2, for small x.
func entropy(x float64) float64 {
	var sum float64
	for k := 24.0; k >= 2; k-- {
		sum = math.FMA(-x, sum, 1/(k*(k-1)))
	}
	return x * x * sum
}
