// Package loss holds the losses ℓ(y, m) of a target y and a prediction m, one per file. Package model makes
// datafits of them, and package criterion the criteria on held-out rows.
//
// A loss is convex in m and as smooth as its methods say, and it is normalised so that its infimum over m is
// 0: only then is the objective of the null model a scale for duality gaps. Methods work on vectors with one
// entry per row; out does not overlap y and m, and a method may use it as scratch memory. To add a loss,
// implement [Loss]; docs/add-a-loss.md shows how. A loss may also implement [Binder], [Stepper], [Summed],
// [Anchored], [Majorised], [Pointwise], [Clipped] and [Jumping].
package loss

import (
	"errors"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Loss is a loss ℓ(y, m). Implementations are immutable and safe for concurrent use. The kernel set k has
// exponentials with the same bits on every CPU; a loss whose results may differ between architectures need
// not use it.
type Loss interface {
	// Name is the loss's name in messages, flags and JSON.
	Name() string
	// Link says how the prediction m relates to the mean of y.
	Link() Link
	// Check returns nil if y can be a target, else an error that says what y must be. The caller adds the
	// row.
	Check(y float64) error
	// Value sets out[i] = ℓ(yᵢ, mᵢ), finite or +Inf.
	Value(k *kernels.Set, y, m, out []float64)
	// Slope sets out[i] = −ℓ′(yᵢ, mᵢ), the residual ρᵢ. It must be finite wherever mᵢ is.
	Slope(k *kernels.Set, y, m, out []float64)
	// Curvature sets out[i] = ℓ″(yᵢ, mᵢ) ≥ 0, finite wherever mᵢ is.
	Curvature(k *kernels.Set, y, m, out []float64)
	// Third sets out[i] = ℓ‴(yᵢ, mᵢ): second derivatives of a criterion in λ need it.
	Third(k *kernels.Set, y, m, out []float64)
	// Divergence sets out[i] = ℓ(yᵢ, mᵢ) + ℓ*(yᵢ, −ρ̃ᵢ) + ρ̃ᵢmᵢ ≥ 0, the gap in the Fenchel–Young inequality
	// for mᵢ and the dual point ρ̃ᵢ = cᵢρᵢ, 0 ≤ cᵢ ≤ 1. (ρ is Slope's at m. Every such point is feasible, as
	// 0 and −ρ are in the domain of the conjugate ℓ*.) The divergence is 0 at c = 1, and is best written in
	// terms of 1 − c, or small duality gaps lose their digits.
	Divergence(k *kernels.Set, y, m []float64, at Dual, out []float64)
	// Smoothness returns a bound L of ℓ″ over all m; ok is false where there is none.
	Smoothness() (bound float64, ok bool)
	// Concordance returns an M with |ℓ‴| ≤ M·ℓ″ over all m: a self-concordance, which bounds the change of
	// the curvature from one point to another. ok is false where there is none, as where ℓ″ jumps.
	Concordance() (m float64, ok bool)
}

// All returns the losses of this package, those with parameters at their defaults.
func All() []Loss {
	return []Loss{Squared{}, Logistic{}, Poisson{}, Gamma{}, Tweedie{}, Huber{}, SquaredHinge{}, SmoothedHinge{}}
}

// Dual is a dual point on the segment from a residual to 0. Each sign of the residual has its own factor, so
// that positive and negative entries can balance, as an intercept requires.
type Dual struct {
	// Slope is ρ, with each entry already multiplied by the Balance of its sign.
	Slope   []float64
	Scale   float64
	Balance [2]float64 // of positive entries, and of others
}

// Side returns the index in Balance for a residual. It has no branch, as signs are unpredictable.
func Side(rho float64) int {
	bits := math.Float64bits(rho)
	return int((bits - 1 | bits) >> 63) // 0 where it is above 0
}

// Point returns ρ̃ᵢ.
func (d Dual) Point(i int) float64 { return d.Scale * d.Slope[i] }

// Rest returns 1 − cᵢ.
func (d Dual) Rest(i int) float64 { return 1 - float64(d.Scale*d.Balance[Side(d.Slope[i])]) }

// Link says how the mean of y follows from a prediction m.
type Link string

// The links.
const (
	Identity Link = "identity" // it is m
	Log      Link = "log"      // it is e^m
	Logit    Link = "logit"    // the probability of the class +1 is 1/(1 + e^−m)
	Margin   Link = "margin"   // no mean: the sign of m is the class
)

// Mean returns the mean of y at a prediction, the inverse of the link; of a margin, m.
func (l Link) Mean(m float64) float64 {
	switch l {
	case Log:
		return kernels.Exp(m)
	case Logit:
		return kernels.Sigmoid(m)
	default:
		return m
	}
}

// Binder is a Loss with a parameter that depends on all targets of a problem, such as a scale.
type Binder interface {
	Loss
	// Bind returns the loss for the rows of one problem: y are the targets, and weights those of the rows,
	// nil for all 1 and 0 for held-out rows. The error is an [outcome.Error] that says why no model can be
	// fitted to them. Loops over the rows end with the context of k, which may be nil; see
	// [kernels.Set.Until].
	Bind(k *kernels.Set, y, weights []float64, intercept bool) (Loss, error)
}

// Bind returns the loss for the rows of one problem: what a [Binder] makes of l, else l itself.
// The errors are those of [Binder].
func Bind(k *kernels.Set, l Loss, y, weights []float64, intercept bool) (Loss, error) {
	if b, ok := l.(Binder); ok {
		return b.Bind(k, y, weights, intercept)
	}
	return l, nil
}

// Known reports whether l is one of the links.
func (l Link) Known() bool { return l == Identity || l == Log || l == Logit || l == Margin }

// Classes reports whether targets are the classes ±1, and the sign of m is the predicted class.
func (l Link) Classes() bool { return l == Logit || l == Margin }

// Stepper is a Loss with a better step towards the best intercept than Newton's.
type Stepper interface {
	Loss
	// Step returns the step of the intercept at the residual ρ, v = s⊙ρ being the weighted residual: 0 where
	// Σvᵢ is rounding, else a step with the sign of that sum, ±Inf where there is almost no curvature.
	Step(k *kernels.Set, y, rho, v []float64) float64
}

// Summed is a [Stepper] whose step is a function of sums over the rows, so that it needs no vectors of all
// rows.
type Summed interface {
	Stepper
	// Sums returns the contribution of some rows to the sums.
	Sums(k *kernels.Set, y, rho, v []float64) [3]float64
	// StepBy returns the step, given the sums over all rows.
	StepBy(sums [3]float64) float64
}

// Anchored is a Loss with a closed form of P₀, the objective of the null model on its rows.
type Anchored interface {
	Loss
	// Null returns P₀, with or without an intercept.
	Null(intercept bool) float64
}

// Majorised is a Loss with a parabola above it at every point.
type Majorised interface {
	Loss
	// Majorant sets out[i] to the curvature of a parabola that touches ℓ(yᵢ, ·) at mᵢ
	// and lies above it.
	Majorant(k *kernels.Set, y, m, out []float64)
}

// Pointwise is a Loss that can also be evaluated one row at a time, at little cost.
type Pointwise interface {
	Loss
	// At returns −ℓ′(y, m), as Slope has it, and ℓ″(y, m).
	At(y, m float64) (slope, curvature float64)
}

// Clipped is a Loss whose slope is a straight line between bounds: −ℓ′(y, m) = clip(y − m, lower, upper).
type Clipped interface {
	Loss
	// Interval returns the bounds for a target, with 0 between them; one of them may be infinite.
	Interval(y float64) (lower, upper float64)
}

// Jumping is a Loss whose curvature jumps from one value to another, and has no Concordance.
type Jumping interface {
	Loss
	// CurvatureWithin sets out[i] to the largest ℓ″(yᵢ, ·) over predictions within reach ≥ 0 of mᵢ.
	CurvatureWithin(reach float64, y, m, out []float64)
}

// CheckTarget returns an error for the first row whose target the loss does not accept: an [outcome.Error]
// with the row. It ends with the context of k, which may be nil.
func CheckTarget(k *kernels.Set, l Loss, y []float64) error {
	for from, to := range k.Pieces(len(y)) {
		for i, t := range y[from:to] {
			err := l.Check(t)
			if err == nil {
				continue
			}
			e := outcome.Error{Kind: outcome.BadParameter, Message: err.Error()}
			if own, ok := errors.AsType[*outcome.Error](err); ok {
				e = *own
			}
			e.HasRow, e.Row = true, from+i
			return &e
		}
	}
	return nil
}

// half returns ½x².
func half(x float64) float64 { return float64(0.5 * x * x) }

// indicator returns 1 or 0, without a branch, as the side of a jump that a row is on is unpredictable.
func indicator(there bool) float64 {
	var bits uint64
	if there {
		bits = oneBits
	}
	return math.Float64frombits(bits)
}

const oneBits = 0x3ff0000000000000 // of 1

// total returns Σ sᵢ over the rows, n without weights.
func total(k *kernels.Set, n int, weights []float64) float64 {
	if weights == nil {
		return float64(n)
	}
	var sum float64
	for from, to := range k.Pieces(n) {
		for _, s := range weights[from:to] {
			sum += s
		}
	}
	return sum
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
