package loss

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Tweedie is, with a = 2 − p and q = p − 1,
//
//	ℓ = e^{am}/a + ye^{−qm}/q − y^a/aq
//
// of a number y ≥ 0: half the unit deviance of a mean e^m where the variance is the mean to the power p, as
// of sums of a random number of gamma-distributed terms, which are often 0 (Jørgensen, The Theory of
// Dispersion Models, 1997). Its curvature has no bound. Where an exponential overflows, its derivatives are
// the largest number instead.
type Tweedie struct {
	// Power is p, between 1 and 2; 0 means 1.5. At 1 it would be [Poisson], at 2 [Gamma].
	Power float64
}

const defaultPower = 1.5

// Name returns "tweedie".
func (Tweedie) Name() string { return "tweedie" }

// Link returns [Log].
func (Tweedie) Link() Link { return Log }

// Check accepts numbers from 0 to 1e100.
func (Tweedie) Check(y float64) error {
	if y < 0 {
		return outcome.Errorf(outcome.BadParameter, "the target is %g; it must be 0 or more", y)
	}
	return checkSize(y)
}

// powers returns a and q.
func (t Tweedie) powers() (a, q float64) {
	if t.Power == 0 {
		return 2 - defaultPower, defaultPower - 1
	}
	return 2 - t.Power, t.Power - 1
}

// isHalfway reports that a = q = ½, as they are without a power: then e^{−qm} is 1/e^{am}.
func (t Tweedie) isHalfway() bool {
	a, q := t.powers()
	return a == q
}

// terms returns e^{am} and ye^{−qm}.
func (t Tweedie) terms(y, m float64) (up, down float64) {
	a, q := t.powers()
	rising := kernels.Exp(a * m)
	if t.isHalfway() {
		return boundedTerms(y, rising, 1/rising)
	}
	return boundedTerms(y, rising, kernels.Exp(-q*m))
}

// boundedTerms returns e^{am} and ye^{−qm}, limited so that they do not overflow, given e^{am} and e^{−qm}.
func boundedTerms(y, rising, falling float64) (up, down float64) {
	up = min(rising, 0.25*math.MaxFloat64)
	if y > 0 {
		down = min(y*falling, 0.25*math.MaxFloat64)
	}
	return up, down
}

// eachRow sets out to a function of the row number, e^{am} and ye^{−qm} of every row. Exponentials are
// computed for many rows at once, in entries of out that are not set yet.
func (t Tweedie) eachRow(k *kernels.Set, y, m, out []float64, of func(i int, up, down float64) float64) {
	a, q := t.powers()
	if t.isHalfway() {
		for i, v := range m {
			out[i] = a * v
		}
		k.Exp(out, out)
		for i, target := range y {
			up, down := boundedTerms(target, out[i], 1/out[i])
			out[i] = of(i, up, down)
		}
		return
	}
	for from, to := range halvings(len(y)) {
		rising, falling := out[from:to], out[to:][:to-from]
		for i, v := range m[from:to] {
			rising[i], falling[i] = a*v, -q*v
		}
		k.Exp(rising, rising)
		k.Exp(falling, falling)
		for i, target := range y[from:to] {
			up, down := boundedTerms(target, rising[i], falling[i])
			rising[i] = of(from+i, up, down)
		}
	}
	if last := len(y) - 1; last >= 0 {
		up, down := t.terms(y[last], m[last])
		out[last] = of(last, up, down)
	}
}

// Value implements [Loss], with h = m − ln y and E(x) = e^x − 1 − x: y^a(E(ah)/a + E(−qh)/q). For a = q = ½
// that is 2(e^{m/2} − √y)²/e^{m/2}.
func (t Tweedie) Value(k *kernels.Set, y, m, out []float64) {
	a, q := t.powers()
	if t.isHalfway() {
		for i, v := range m {
			out[i] = a * v
		}
		k.Exp(out, out)
		for i, up := range out {
			if root := math.Sqrt(y[i]); root > 0 {
				out[i] = 2 * (up - root) * (1 - root/up)
			} else {
				out[i] = 2 * up
			}
		}
		return
	}
	for i, target := range y {
		if out[i] = a * m[i]; target > 0 {
			out[i] = a * kernels.Log(target)
		}
	}
	k.Exp(out, out)
	for i, target := range y {
		if target == 0 {
			out[i] /= a
			continue
		}
		h := m[i] - kernels.Log(target)
		out[i] *= expExcess(a*h)/a + expExcess(-q*h)/q
	}
}

// Slope implements [Loss]: ye^{−qm} − e^{am}.
func (t Tweedie) Slope(k *kernels.Set, y, m, out []float64) {
	t.eachRow(k, y, m, out, func(_ int, up, down float64) float64 { return down - up })
}

// Curvature implements [Loss]: ae^{am} + qye^{−qm}.
func (t Tweedie) Curvature(k *kernels.Set, y, m, out []float64) {
	a, q := t.powers()
	t.eachRow(k, y, m, out, func(_ int, up, down float64) float64 { return float64(a*up) + float64(q*down) })
}

// At implements [Pointwise].
func (t Tweedie) At(y, m float64) (slope, curvature float64) {
	a, q := t.powers()
	up, down := t.terms(y, m)
	return down - up, float64(a*up) + float64(q*down)
}

// Third implements [Loss]: a²e^{am} − q²ye^{−qm}.
func (t Tweedie) Third(k *kernels.Set, y, m, out []float64) {
	a, q := t.powers()
	t.eachRow(k, y, m, out, func(_ int, up, down float64) float64 { return float64(a*a*up) - float64(q*q*down) })
}

// Divergence implements [Loss]. The conjugate has no closed form. With U = e^{am} and W = ye^{−qm}, the dual
// point is W′ − U′ for many pairs (U′, W′). The minimum of
//
//	KL(U′‖U)/a + KL(W′‖W)/q
//
// over these pairs is the divergence, and is at U′ = Ue^{ad}, W′ = We^{−qd}. Any other pair gives more than
// the divergence (the conjugate of a sum is at most the sum of conjugates), so that an inexact d makes no gap
// too small.
func (t Tweedie) Divergence(k *kernels.Set, y, m []float64, at Dual, out []float64) {
	a, q := t.powers()
	halfway := t.isHalfway()
	t.eachRow(k, y, m, out, func(i int, up, down float64) float64 {
		rest, target := at.Rest(i), y[i]
		switch {
		case rest == 0:
			return 0
		case target == 0: // U′ = cU
			return float64(up*relativeEntropy(-rest)) / a
		}
		want := float64(rest * (down - up))
		var grown, other float64 // U′/U − 1 and W′/W − 1
		if halfway {
			grown = grownHalfway(target, up, down, want, (1-rest)*(down-up))
			other = -grown / (1 + grown)
		} else {
			grown = t.rootShift(up, down, want, kernels.Log(target)-m[i])
			other = (float64(up*grown) - want) / down
		}
		if !(other >= -1 && other < mostCount) { // W is negligible beside U: W′ = 0
			other, grown = -1, (want-down)/up
		}
		return float64(up*relativeEntropy(grown))/a + float64(down*relativeEntropy(other))/q
	})
}

// grownHalfway returns g = U′/U − 1 where UW = y = U′W′, and dual = W′ − U′: the root of
// Ug² + (U + W − want)g = want, whose discriminant is dual² + 4y.
func grownHalfway(y, up, down, want, dual float64) float64 {
	const huge = 1e150
	root := math.Abs(dual)
	if root < huge {
		root = math.Sqrt(float64(root*root) + float64(4*y))
	}
	return 2 * want / (up + down - want + root)
}

const (
	mostShifts   = 30
	bisectionTol = 1e-9 // tolerance of a bisection step
	newtonTol    = 1e-4 // tolerance of a Newton step, relative to min(1, |d|): the error of d is about its square, that of the divergence the square of that
)

// rootShift returns e^{ad} − 1 at the root d of U(e^{ad} − 1) − W(e^{−qd} − 1) = want, which lies
// between 0 and last.
func (t Tweedie) rootShift(up, down, want, last float64) float64 {
	a, q := t.powers()
	lower, upper := min(0, last), max(0, last)
	d := min(max(want/(float64(a*up)+float64(q*down)), lower), upper)
	for range mostShifts {
		grow, shrink := expMinus1(a*d), expMinus1(-q*d)
		f := float64(up*grow) - float64(down*shrink) - want
		slope := float64(a*up*(1+grow)) + float64(q*down*(1+shrink))
		if f > 0 {
			upper = d
		} else {
			lower = d
		}
		next, near := d-f/slope, newtonTol
		if !(next >= lower && next <= upper) {
			next, near = 0.5*(lower+upper), bisectionTol
		}
		done := math.Abs(next-d) <= near*min(1, math.Abs(next))
		if d = next; done {
			break
		}
	}
	return expMinus1(a * d)
}

// Smoothness returns false: there is no bound.
func (Tweedie) Smoothness() (float64, bool) { return 0, false }

// Concordance returns the larger of a and q.
func (t Tweedie) Concordance() (float64, bool) {
	a, q := t.powers()
	return max(a, q), true
}

// Bind implements [Binder]. It returns an error for a power that is not between 1 and 2, and where all
// targets are 0 and there is an intercept, which would have no finite optimum.
func (t Tweedie) Bind(k *kernels.Set, y, weights []float64, intercept bool) (Loss, error) {
	if t.Power != 0 && !(t.Power > 1 && t.Power < 2) {
		return nil, outcome.At(outcome.BadParameter, "power", "the power must be between 1 (the poisson loss) and 2 (the gamma loss), got %g", t.Power)
	}
	var sum float64
	pace := k.Pace()
	for i, v := range y {
		pace.Did(1)
		if weights != nil {
			v = float64(v * weights[i])
		}
		sum += v
	}
	if intercept && sum == 0 {
		return nil, outcome.Errorf(outcome.BadParameter, "the target of every training row is 0, so there is no best intercept; fit without one")
	}
	return t, nil
}
