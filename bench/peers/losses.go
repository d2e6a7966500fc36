package peers

import "math"

// rowLoss sets slope to ρ = −∂ℓ/∂m at the scores m of a row (one score, unless the loss is of classes
// together). It returns ℓ(y, m), whose infimum is 0, and the Fenchel–Young deficit at the dual point cρ, 0 ≤ c
// ≤ 1: ℓ(y, m) + ℓ*(y, −cρ) + c⟨ρ, m⟩ ≥ 0.
type rowLoss func(y float64, m []float64, c float64, slope []float64) (value, lack float64)

func squaredLoss(y float64, m []float64, c float64, slope []float64) (value, lack float64) {
	r := y - m[0]
	slope[0] = r
	return r * r / 2, (1 - c) * (1 - c) * r * r / 2
}

func logisticLoss(y float64, m []float64, c float64, slope []float64) (value, lack float64) {
	margin := y * m[0]
	t := 1 / (1 + math.Exp(margin)) // the probability of the other class
	slope[0] = y * t
	return max(0, -margin) + math.Log1p(math.Exp(-math.Abs(margin))), divergence(c*t, t) + divergence(1-c*t, 1-t)
}

func poissonLoss(y float64, m []float64, c float64, slope []float64) (value, lack float64) {
	mean := math.Exp(m[0])
	slope[0] = y - mean
	return divergence(y, mean), divergence((1-c)*y+c*mean, mean)
}

func gammaLoss(y float64, m []float64, c float64, slope []float64) (value, lack float64) {
	u := y * math.Exp(-m[0])
	slope[0] = u - 1
	return divergence(1, u), divergence(1-c+c*u, u)
}

// power is the power of the Tweedie loss here, for which the conjugate has a closed form.
const power = 1.5

func tweedieLoss(y float64, m []float64, c float64, slope []float64) (value, lack float64) {
	up, down := math.Exp(m[0]/2), y*math.Exp(-m[0]/2)
	slope[0] = down - up
	// ℓ′ at the minimiser u of 2u + 2y/u is −cρ; both terms are entropies with log links.
	rho := c * slope[0]
	root := math.Sqrt(rho*rho + 4*y)
	u, w := (root-rho)/2, (root+rho)/2 // uw = y, w − u = cρ
	switch {
	case rho > 0:
		u = y / w
	case y > 0:
		w = y / u
	default:
		w = 0
	}
	return 2 * (up + down - 2*math.Sqrt(y)), 2 * (divergence(u, up) + divergence(w, down))
}

// delta is the residual beyond which the Huber loss is linear.
const delta = 0.5

func huberLoss(y float64, m []float64, c float64, slope []float64) (value, lack float64) {
	r := y - m[0]
	rho := min(max(r, -delta), delta)
	slope[0] = rho
	beyond := math.Abs(r) - math.Abs(rho)
	return rho*rho/2 + delta*beyond, (1-c)*(1-c)*rho*rho/2 + (1-c)*delta*beyond
}

func squaredHingeLoss(y float64, m []float64, c float64, slope []float64) (value, lack float64) {
	t := max(0, 1-y*m[0])
	slope[0] = y * t
	return t * t / 2, (1 - c) * (1 - c) * t * t / 2
}

// softmaxLoss is the loss of all classes together; y is the number of the class.
func softmaxLoss(y float64, m []float64, c float64, slope []float64) (value, lack float64) {
	largest, sum := m[0], 0.0
	for _, v := range m {
		largest = max(largest, v)
	}
	for k, v := range m {
		slope[k] = math.Exp(v - largest)
		sum += slope[k]
	}
	for k, v := range slope {
		p, at := v/sum, 0.0
		if k == int(y) {
			at = 1
		}
		slope[k] = at - p
		lack += divergence((1-c)*at+c*p, p)
	}
	return largest - m[int(y)] + math.Log(sum), lack
}

// divergence returns a ln(a/b) − a + b ≥ 0, which is 0 only for a = b. Near a = b it uses a series, so that
// small gaps keep their digits.
func divergence(a, b float64) float64 {
	switch d := (a - b) / b; {
	case a <= 0:
		return b
	case math.Abs(d) < 1e-3:
		return b * d * d * (1./2 - d*(1./6-d*(1./12-d*(1./20-d/30))))
	default:
		return a*math.Log(a/b) - a + b
	}
}
