package loss

import (
	"iter"
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

// Check accepts numbers from 0 to 1e100.
func (Poisson) Check(y float64) error {
	switch {
	case !isFinite(y):
		return outcome.Errorf(outcome.NonFinite, "the count is not finite")
	case y < 0:
		return outcome.Errorf(outcome.BadParameter, "the count is %g; it must be 0 or more", y)
	case y > mostCount:
		return outcome.Errorf(outcome.NonFinite, "the count is %g, whose loss overflows: scale the target", y)
	default:
		return nil
	}
}

// means sets out = e^m, or the largest number where that overflows.
func (Poisson) means(k *kernels.Set, m, out []float64) {
	for len(m) > 0 {
		n := min(len(m), blockRows)
		part := out[:n]
		k.Exp(part, m[:n])
		for i, mean := range part {
			if mean > math.MaxFloat64 {
				part[i] = math.MaxFloat64
			}
		}
		m, out = m[n:], out[n:]
	}
}

// Value implements [Loss], with h = m − ln y: y(e^h − 1 − h).
func (p Poisson) Value(k *kernels.Set, y, m, out []float64) {
	for from, to := range halvings(len(y)) {
		y, m, logs, means := y[from:to], m[from:to], out[from:to], out[to:][:to-from]
		k.Log(logs, y)
		k.Exp(means, m)
		for i, mean := range means {
			logs[i] = p.value(y[i], m[i]-logs[i], mean)
		}
	}
	if last := len(y) - 1; last >= 0 {
		out[last] = p.value(y[last], m[last]-kernels.Log(y[last]), kernels.Exp(m[last]))
	}
}

// value returns y(e^h − 1 − h), mean = ye^h: it may be finite where e^h is not.
func (Poisson) value(y, h, mean float64) float64 {
	switch {
	case y == 0:
		return mean
	case math.Abs(h) < seriesRadius:
		return float64(y*half(h)) * scaledExpExcess(h)
	default:
		return mean - y - float64(y*h)
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

// Divergence implements [Loss]: KL(t‖μ) at t = (1 − c)y + cμ, μ = e^m.
func (p Poisson) Divergence(k *kernels.Set, y, m []float64, at Dual, out []float64) {
	for from, to := range halvings(len(y)) {
		means := out[from:to]
		p.means(k, m[from:to], means)
		entropies(k, at, from, y[from:to], means, out[to:][:to-from])
		p.repair(at, from, y[from:to], m[from:to], means)
	}
	if last := len(y) - 1; last >= 0 {
		p.means(k, m[last:], out[last:])
		out[last] = entropyToward(at.Rest(last), y[last], out[last])
		p.repair(at, last, y[last:], m[last:], out[last:])
	}
}

// repair recomputes the divergences that are infinite because μ is 0 as a float64.
func (Poisson) repair(at Dual, first int, y, m, out []float64) {
	for i, v := range out {
		if v > math.MaxFloat64 {
			t := float64(at.Rest(first+i) * y[i])
			out[i] = float64(t*(kernels.Log(t)-m[i])) - t
		}
	}
}

// entropies turns means μ into KL(t‖μ) = t ln(t/μ) − t + μ at t = (1 − c)y + cμ, for the rows from first on;
// y is 1 where it is nil. logs is scratch memory for one number per row.
func entropies(k *kernels.Set, at Dual, first int, y, means, logs []float64) {
	rests := [2]float64{1 - float64(at.Scale*at.Balance[0]), 1 - float64(at.Scale*at.Balance[1])}
	slope := at.Slope[first:][:len(means)]
	logs, far := logs[:len(means)], false
	for i, mean := range means {
		target := 1.0
		if y != nil {
			target = y[i]
		}
		d := rests[Side(slope[i])] * (target - mean)
		logs[i] = d
		far = far || !(math.Abs(d) < float64(seriesRadius*mean))
	}
	if !far {
		for i, mean := range means {
			means[i] = entropyByDifference(mean, logs[i])
		}
		return
	}
	for i, mean := range means {
		target := 1.0
		if y != nil {
			target = y[i]
		}
		logs[i] = dualTarget(rests[Side(slope[i])], target, mean) / mean
	}
	k.Log(logs, logs)
	for i, mean := range means {
		target := 1.0
		if y != nil {
			target = y[i]
		}
		rest := rests[Side(slope[i])]
		if d := rest * (target - mean); math.Abs(d) < float64(seriesRadius*mean) {
			means[i] = entropyByDifference(mean, d)
		} else {
			means[i] = entropyByLog(rest, target, mean, logs[i])
		}
	}
}

// entropyToward is entropies for one row, rest = 1 − c.
func entropyToward(rest, y, mean float64) float64 {
	d := rest * (y - mean)
	if math.Abs(d) < float64(seriesRadius*mean) {
		return entropyByDifference(mean, d)
	}
	return entropyByLog(rest, y, mean, kernels.Log(dualTarget(rest, y, mean)/mean))
}

// entropyByDifference returns KL(μ + d‖μ) where d is small compared with μ.
func entropyByDifference(mean, d float64) float64 {
	d2 := float64(0.5 * d)
	s := d2 / (mean + d2) // as in entropy, x = d/μ
	return float64(d*s) * entropySeries(s)
}

// entropyByLog returns KL(t‖μ) where log is ln(t/μ).
func entropyByLog(rest, y, mean, log float64) float64 {
	t := dualTarget(rest, y, mean)
	if t == 0 || rest == 0 {
		return mean - t
	}
	return float64(t*log) - t + mean
}

// dualTarget returns t = (1 − c)y + cμ, rest = 1 − c.
func dualTarget(rest, y, mean float64) float64 { return float64(rest*y) + float64((1-rest)*mean) }

// blockRows is the number of rows that are processed together, so that their intermediate results stay in the
// nearest cache.
const blockRows = 1024

// halvings yields parts of n rows, each at most half of the rows left, until one row is left over. An output
// vector that is set part by part then has room, behind each part, for a second number per row of the part.
func halvings(n int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from := 0; n-from > 1; {
			to := from + min((n-from)/2, blockRows)
			if !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// Smoothness returns false: there is no bound.
func (Poisson) Smoothness() (float64, bool) { return 0, false }

// Concordance returns 1.
func (Poisson) Concordance() (float64, bool) { return 1, true }

// Bind implements [Binder]. It returns an error where all counts are 0 and there is an intercept, which would
// have no finite optimum.
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

// Step implements [Stepper]: ln(Σsᵢyᵢ/Σsᵢe^mᵢ), which leads to the best intercept in one step.
func (p poisson) Step(k *kernels.Set, y, rho, v []float64) float64 {
	return p.StepBy(p.Sums(k, y, rho, v))
}

// Sums implements [Summed]: Σvᵢ.
func (poisson) Sums(k *kernels.Set, _, _, v []float64) [3]float64 {
	var slope float64
	for from, to := range k.Pieces(len(v)) {
		for _, v := range v[from:to] {
			slope += v
		}
	}
	return [3]float64{slope}
}

// StepBy implements [Summed].
func (p poisson) StepBy(sums [3]float64) float64 {
	slope := sums[0]
	if math.Abs(slope) <= sumRounding*p.sum {
		return 0
	}
	return math.Copysign(kernels.Log(p.sum/(p.sum-slope)), slope)
}

// seriesRadius is the absolute value of an argument up to which the series below are used; the functions themselves
// would lose digits there.
const seriesRadius = 0.25

// expMinus1 returns e^x − 1.
func expMinus1(x float64) float64 {
	if math.Abs(x) < seriesRadius {
		return x + float64(expExcess(x))
	}
	return kernels.Exp(x) - 1
}

// relativeEntropy returns (1 + x)ln(1 + x) − x for x ≥ −1: KL(u(1 + x)‖u)/u.
func relativeEntropy(x float64) float64 {
	switch {
	case math.Abs(x) < seriesRadius:
		return entropy(x)
	case x == -1:
		return 1
	default:
		return float64((1+x)*kernels.Log(1+x)) - x
	}
}

// expExcess returns e^x − 1 − x.
func expExcess(x float64) float64 {
	if math.Abs(x) >= seriesRadius {
		return kernels.Exp(x) - 1 - x
	}
	return half(x) * scaledExpExcess(x)
}

// scaledExpExcess returns (e^x − 1 − x)/½x² for small x: 1 + x/3 + x²/12 + …, summed in pairs, so that few operations
// depend on one another.
func scaledExpExcess(x float64) float64 {
	x2 := float64(x * x)
	x4 := float64(x2 * x2)
	q01 := float64(2./6*x) + 1
	q23 := float64(2./120*x) + 2./24
	q45 := float64(2./5040*x) + 2./720
	q67 := float64(2./362880*x) + 2./40320
	q89 := float64(2./39916800*x) + 2./3628800
	q1011 := float64(2./6227020800*x) + 2./479001600
	q0, q4, q8 := float64(q23*x2)+q01, float64(q67*x2)+q45, float64(q1011*x2)+q89
	return float64((float64(q8*x4)+q4)*x4) + q0
}

// entropy returns (1 + x)ln(1 + x) − x for small x. With s = x/(2 + x) the logarithm is
// 2(s + s³/3 + s⁵/5 + …), and the result is xs(1 + s(1 + s)(1/3 + s²/5 + s⁴/7 + …)), which loses no digits.
func entropy(x float64) float64 {
	s := x / (2 + x)
	return float64(x*s) * entropySeries(s)
}

// entropySeries returns the last factor of entropy. It uses no [math.FMA], whose check for the instruction
// costs more than separate products and sums.
func entropySeries(s float64) float64 {
	z := float64(s * s)
	z2 := float64(z * z)
	z4 := float64(z2 * z2)
	p01 := float64(1./5*z) + 1./3
	p23 := float64(1./9*z) + 1./7
	p45 := float64(1./13*z) + 1./11
	p67 := float64(1./17*z) + 1./15
	p89 := float64(1./21*z) + 1./19
	p0, p4 := float64(p23*z2)+p01, float64(p67*z2)+p45
	p := float64((float64(p89*z4)+p4)*z4) + p0
	return float64(float64(s*(1+s))*p) + 1
}
