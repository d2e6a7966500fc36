package model

import (
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
)

// SCAD is the smoothly clipped absolute deviation (Fan and Li, JASA 96, 2001), a
// [Separable] with λ = (ln α, ln a), a > 2:
//
//	gⱼ′(b) = α for 0 < b ≤ α, (aα − b)/(a − 1) up to aα, 0 beyond,
//
// which is a Lasso for small coefficients and constant for large ones. As for [MCP], the curvature
// of the loss in every coefficient must exceed 1/(a − 1); standardised columns have curvature 1
// under the squared loss.
type SCAD struct{ alpha, a float64 }

// NewSCAD returns the penalty of α = e^logAlpha and a = e^logA. The error is an
// [outcome.Error] of kind BadParameter if a λ is not finite, its exponential overflows or
// underflows, or a is not above 2.
func NewSCAD(logAlpha, logA float64) (SCAD, error) {
	alpha, err := strength(logAlpha, 0)
	if err != nil {
		return SCAD{}, err
	}
	a, err := strength(logA, 1)
	if err == nil && !(a > 2) {
		err = outcome.At(outcome.BadParameter, "a", "must be above 2, got %g", a)
	}
	return SCAD{alpha: alpha, a: a}, err
}

// Hyperparameters returns 2.
func (g SCAD) Hyperparameters() int { return 2 }

// LargestStep returns a − 1.
func (g SCAD) LargestStep() float64 { return g.a - 1 }

// Value implements [Separable].
func (g SCAD) Value(_ int, b float64) float64 {
	size := math.Abs(b)
	end := float64(g.a * g.alpha)
	switch {
	case size <= g.alpha:
		return g.alpha * size
	case size < end:
		short := end - size
		return float64(0.5*g.alpha*g.alpha*(g.a+1)) - float64(short/(2*(g.a-1))*short)
	default:
		return 0.5 * g.alpha * g.alpha * (g.a + 1)
	}
}

// Prox implements [Separable]: ST(z, step·α) up to α(1 + step), ((a − 1)z − step·aα
// sign(z))/(a − 1 − step) up to aα, z beyond.
func (g SCAD) Prox(_ int, z, step float64) (value, slope float64) {
	switch size := math.Abs(z); {
	case size > g.a*g.alpha:
		return z, 1
	case size > g.alpha*(1+step):
		shrink := g.a - 1 - step
		return math.Copysign((float64((g.a-1)*size)-float64(step*g.a*g.alpha))/shrink, z), (g.a - 1) / shrink
	case size > step*g.alpha:
		return SoftThreshold(z, step*g.alpha), 1
	default:
		return 0, 0
	}
}

// Sensitivity returns ∂prox/∂λᵢ, for differentiation of the prox.
func (g SCAD) Sensitivity(j, i int, z, step float64) float64 {
	x, slope := g.Prox(j, z, step)
	size := math.Abs(z)
	switch {
	case slope == 0 || size > g.a*g.alpha:
		return 0
	case size > g.alpha*(1+step) && i == 0:
		return -math.Copysign(step*g.a*g.alpha/(g.a-1-step), z)
	case size > g.alpha*(1+step):
		return -math.Copysign((math.Abs(x)-g.alpha)*step*g.a/((g.a-1)*(g.a-1-step)), z)
	case i == 0:
		return -math.Copysign(step*g.alpha, z)
	default:
		return 0
	}
}

// Slope implements [Separable].
func (g SCAD) Slope(_ int, b float64) float64 {
	switch size := math.Abs(b); {
	case size <= g.alpha:
		return math.Copysign(g.alpha, b)
	default:
		return math.Copysign(max(0, float64(g.a*g.alpha)-size)/(g.a-1), b)
	}
}

// Shift implements [Separable]. On the three ranges of |b|, up to α, up to aα and beyond, it is, for
// ln α, −α sign(b), −aα sign(b)/(a − 1) and 0; for ln a, 0, −a(|b| − α)sign(b)/(a − 1)² and 0.
func (g SCAD) Shift(_, i int, b float64) float64 {
	size := math.Abs(b)
	switch {
	case b == 0 || size >= g.a*g.alpha:
		return 0
	case size <= g.alpha && i == 0:
		return -math.Copysign(g.alpha, b)
	case size <= g.alpha:
		return 0
	case i == 0:
		return -math.Copysign(g.a*g.alpha/(g.a-1), b)
	default:
		return -math.Copysign(g.a*(size-g.alpha)/((g.a-1)*(g.a-1)), b)
	}
}

// Strength implements [Separable].
func (g SCAD) Strength() float64 { return g.alpha }

// Curvature implements [Separable]: −1/(a − 1) for α < |b| < aα.
func (g SCAD) Curvature(_ int, b float64) float64 {
	if size := math.Abs(b); size > g.alpha && size < g.a*g.alpha {
		return -1 / (g.a - 1)
	}
	return 0
}
