package model

import "math"

// MCP is the minimax concave penalty (Zhang, Annals of Statistics 38, 2010), a [Separable]
// with λ = (ln α, ln γ):
//
//	gⱼ(b) = α|b| − b²/2γ for |b| ≤ γα, and γα²/2 beyond,
//
// which shrinks large coefficients less than a Lasso, and coefficients beyond γα not at all. It is
// not convex: γ must exceed 1/Lⱼ for every coefficient, where Lⱼ is the curvature of the loss in
// that coefficient. Standardised columns have Lⱼ = 1 under the squared loss.
type MCP struct{ alpha, gamma float64 }

// NewMCP returns the penalty of α = e^logAlpha and γ = e^logGamma. The error is an
// [outcome.Error] of kind BadParameter if a λ is not finite, or its exponential overflows or underflows.
func NewMCP(logAlpha, logGamma float64) (MCP, error) {
	alpha, err := strength(logAlpha, 0)
	if err != nil {
		return MCP{}, err
	}
	gamma, err := strength(logGamma, 1)
	return MCP{alpha: alpha, gamma: gamma}, err
}

// Hyperparameters returns 2.
func (g MCP) Hyperparameters() int { return 2 }

// LargestStep returns γ.
func (g MCP) LargestStep() float64 { return g.gamma }

// Value implements [Separable].
func (g MCP) Value(_ int, b float64) float64 {
	if size := min(math.Abs(b), g.gamma*g.alpha); size > 0 {
		return size * (g.alpha - float64(size/(2*g.gamma)))
	}
	return 0
}

// flatFrom returns γα, beyond which the prox is the identity and the penalty constant.
func (g MCP) flatFrom() float64 { return g.gamma * g.alpha }

// Prox implements [Separable]: ST(z, step·α)/(1 − step/γ) for |z| ≤ γα, z beyond.
func (g MCP) Prox(_ int, z, step float64) (value, slope float64) {
	threshold, shrink := step*g.alpha, 1-step/g.gamma
	switch size := math.Abs(z); {
	case size > g.flatFrom():
		return z, 1
	case size > threshold:
		return SoftThreshold(z, threshold) / shrink, 1 / shrink
	default:
		return 0, 0
	}
}

// Sensitivity returns ∂prox/∂λᵢ, for differentiation of the prox: for |z| between step·α and γα it is
// −step·α·sign(z)/(1 − step/γ) for ln α, and −x(step/γ)/(1 − step/γ), x the prox, for ln γ; 0
// elsewhere.
func (g MCP) Sensitivity(j, i int, z, step float64) float64 {
	x, slope := g.Prox(j, z, step)
	if slope == 0 || math.Abs(z) > g.flatFrom() {
		return 0
	}
	if i == 0 {
		return -math.Copysign(step*g.alpha, z) * slope
	}
	return -x * (step / g.gamma) * slope
}

// Strength implements [Separable].
func (g MCP) Strength() float64 { return g.alpha }

// Slope implements [Separable]: (α − |b|/γ)₊ sign(b).
func (g MCP) Slope(_ int, b float64) float64 {
	return math.Copysign(max(0, g.alpha-math.Abs(b)/g.gamma), b)
}

// Shift implements [Separable]: for |b| < γα, −α sign(b) for ln α and −b/γ for ln γ; 0 beyond.
func (g MCP) Shift(_, i int, b float64) float64 {
	switch {
	case b == 0 || math.Abs(b) >= g.flatFrom():
		return 0
	case i == 0:
		return -math.Copysign(g.alpha, b)
	default:
		return -b / g.gamma
	}
}

// Curvature implements [Separable]: −1/γ for 0 < |b| < γα.
func (g MCP) Curvature(_ int, b float64) float64 {
	if size := math.Abs(b); size > 0 && size < g.flatFrom() {
		return -1 / g.gamma
	}
	return 0
}
