package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Penalty is g(β) = Σ αⱼ|βⱼ| + (α₂/2)‖β‖², separable over the columns, optionally with the
// constraint β ≥ 0 ([Penalty.NonNegative]) or with bounds on columns ([Penalty.Within]). The
// error of a constructor is an [outcome.Error] of kind BadParameter, with the column, if a λ
// is not finite, or its e^λ overflows or underflows. The zero value penalises nothing and is
// not a valid problem.
//
// Methods that do not change the penalty have pointer receivers, since passes over X call them
// for each column.
type Penalty struct {
	alpha          float64   // αⱼ of all columns if each is nil
	alphas         []float64 // αⱼ, one per column
	hasUnpenalised bool      // some entries of each are 0
	ridge          float64   // α₂
	lambdas        int       // number of hyperparameters r
	perColumn      bool      // each column has a λ of its own
	positive       bool      // β ≥ 0
	box            *Box      // nil: no bounds, or β ≥ 0 alone
}

// Lasso returns the penalty α‖β‖₁ with α = e^logAlpha.
func Lasso(logAlpha float64) (Penalty, error) {
	alpha, err := strength(logAlpha, 0)
	return Penalty{alpha: alpha, lambdas: 1}, err
}

// ElasticNet returns α₁‖β‖₁ + (α₂/2)‖β‖² with α = e^logAlpha. One of the two may be −Inf, a
// strength of 0: the penalty is then a ridge or a Lasso with the λ's of an elastic net.
func ElasticNet(logAlpha1, logAlpha2 float64) (Penalty, error) {
	if math.IsInf(logAlpha1, -1) && math.IsInf(logAlpha2, -1) {
		return Penalty{}, outcome.At(outcome.BadParameter, "log-lambda", "at least one of the two strengths must be positive")
	}
	a1, err := strengthOrNone(logAlpha1, 0)
	if err != nil {
		return Penalty{}, err
	}
	a2, err := strengthOrNone(logAlpha2, 1)
	return Penalty{alpha: a1, ridge: a2, lambdas: 2}, err
}

// strengthOrNone is strength, with 0 for −Inf.
func strengthOrNone(logAlpha float64, index int) (float64, error) {
	if math.IsInf(logAlpha, -1) {
		return 0, nil
	}
	return strength(logAlpha, index)
}

// Ridge returns (α₂/2)‖β‖² with α₂ = e^logAlpha.
func Ridge(logAlpha float64) (Penalty, error) {
	alpha, err := strength(logAlpha, 0)
	return Penalty{ridge: alpha, lambdas: 1}, err
}

// WeightedLasso returns Σ αⱼ|βⱼ| with αⱼ = e^logAlpha[j]. +Inf excludes a
// column, −Inf leaves it unpenalised. The slice is not kept.
func WeightedLasso(logAlpha []float64) (Penalty, error) {
	return WeightedLassoBy(kernels.Available()[0], logAlpha)
}

// WeightedLassoBy is [WeightedLasso] with exponentials computed by the kernels k.
func WeightedLassoBy(k *kernels.Set, logAlpha []float64) (Penalty, error) {
	each := make([]float64, len(logAlpha))
	k.Exp(each, logAlpha)
	free := false
	for j, alpha := range each {
		if alpha >= leastStrength && alpha <= math.MaxFloat64 || math.IsInf(logAlpha[j], 1) {
			continue
		}
		if !math.IsInf(logAlpha[j], -1) {
			_, err := strength(logAlpha[j], j)
			return Penalty{}, err
		}
		free = true
	}
	return Penalty{alphas: each, lambdas: len(each), perColumn: true, hasUnpenalised: free}, nil
}

// Weighted returns the penalty with the ℓ1 strength of column j multiplied by weights[j], a
// finite number of 0 or more; its λ's stay the same. A column of weight 0 is unpenalised, which is
// allowed only without a ridge. A penalty without an ℓ1 strength is returned unchanged.
func (g Penalty) Weighted(weights []float64) Penalty {
	if g.Quadratic() {
		return g
	}
	each := make([]float64, len(weights))
	for j, w := range weights {
		if w > 0 {
			each[j] = g.Alpha(j) * w
		}
	}
	g.alphas, g.hasUnpenalised = each, slices.Contains(each, 0)
	return g
}

// NonNegative returns the penalty with the constraint β ≥ 0. It refuses a penalty that
// does not have an ℓ1 strength on every column: without one, no scaling makes a dual point
// feasible.
func (g Penalty) NonNegative() (Penalty, error) {
	if g.Quadratic() || g.Unpenalised() {
		return Penalty{}, outcome.At(outcome.BadParameter, "positive", "β ≥ 0 needs an ℓ1 strength on every column")
	}
	g.positive = true
	return g, nil
}

// leastStrength is the smallest normal number.
const leastStrength = math.SmallestNonzeroFloat64 * (1 << 52)

// strength returns e^λ. It refuses a λ that is not finite, and one whose exponential overflows or
// underflows.
func strength(lambda float64, j int) (float64, error) {
	bad := func(what string) error {
		return &outcome.Error{Kind: outcome.BadParameter, Flag: "log-lambda", HasColumn: j > 0, Column: j, Message: what}
	}
	if math.IsNaN(lambda) || math.IsInf(lambda, 0) {
		return 0, bad(fmt.Sprintf("λ must be finite, got %g", lambda))
	}
	alpha := kernels.Exp(lambda)
	if math.IsInf(alpha, 1) {
		return 0, bad(fmt.Sprintf("e^λ overflows for λ = %g; λ is the logarithm of the strength", lambda))
	}
	if alpha < leastStrength {
		return 0, bad(fmt.Sprintf("e^λ underflows for λ = %g; λ is the logarithm of the strength", lambda))
	}
	return alpha, nil
}

// Hyperparameters returns r, the number of λ's of the penalty.
func (g *Penalty) Hyperparameters() int { return g.lambdas }

// PerColumn reports whether every column has a λ of its own.
func (g *Penalty) PerColumn() bool { return g.perColumn }

// OfRidge reports whether hyperparameter i is that of the ridge: the only one of a ridge
// alone, or the second of an elastic net.
func (g *Penalty) OfRidge(i int) bool { return i == 1 || g.lambdas == 1 && g.Quadratic() }

// Alpha returns αⱼ.
func (g *Penalty) Alpha(j int) float64 {
	if g.alphas != nil {
		return g.alphas[j]
	}
	return g.alpha
}

// Scaled returns the penalty with the ℓ1 strengths multiplied by l1 and the ridge by ridge, both
// positive, to change units: if X is multiplied by u and y by v, the same problem has the factors
// l1 = u·v and ridge = u².
func (g Penalty) Scaled(l1, ridge float64) Penalty {
	g.alpha *= l1
	g.ridge *= ridge
	g.alphas = slices.Clone(g.alphas)
	for j := range g.alphas {
		if g.alphas[j] != 0 {
			g.alphas[j] *= l1
		}
	}
	g.hasUnpenalised = slices.Contains(g.alphas, 0)
	return g
}

// Positive reports whether there is the constraint β ≥ 0.
func (g *Penalty) Positive() bool { return g.positive }

// Smooth reports whether gⱼ is differentiable at 0 too: column j is unpenalised, or the
// penalty is a ridge alone. The column is then in every generalised support.
func (g *Penalty) Smooth(j int) bool { return g.Alpha(j) == 0 }

// Quadratic reports whether the penalty is a ridge alone.
func (g *Penalty) Quadratic() bool { return g.alphas == nil && g.alpha == 0 }

// Unpenalised reports whether there are unpenalised columns.
func (g *Penalty) Unpenalised() bool { return g.hasUnpenalised }

// Indifferent reports whether the penalty depends only on the sum of the coefficients of equal
// columns, so that a solver may treat them as one column, and whether the same holds for columns
// of opposite sign. That takes a single strength, no bounds and no ridge; a ridge makes the
// coefficients unique.
func (g *Penalty) Indifferent() (equal, opposite bool) {
	equal = g.alphas == nil && g.ridge == 0 && g.box == nil
	return equal, equal && !g.positive
}

// Pull returns the size of the force z on a zero coefficient of column j, which stays at zero up to
// a pull of αⱼ. That is |z|, or 0 if a constraint blocks the direction of z.
func (g *Penalty) Pull(j int, z float64) float64 {
	switch {
	case g.positive:
		return max(z, 0) // keeps NaN
	case g.box != nil && g.box.blocked(j, z):
		return 0
	default:
		return math.Abs(z)
	}
}

// Ridge returns α₂.
func (g *Penalty) Ridge() float64 { return g.ridge }

// Columns returns the number of columns that the penalty is made for, or -1 if it
// fits any number.
func (g *Penalty) Columns() int {
	switch {
	case g.alphas != nil:
		return len(g.alphas)
	case g.box != nil:
		return len(g.box.lower)
	default:
		return -1
	}
}

// SoftThreshold returns the proximal operator of t|·| at z: sign(z)(|z| − t)₊.
// The conversions keep products passed as z and t from being fused into the sum.
func SoftThreshold(z, t float64) float64 {
	switch {
	case z > t:
		return float64(z) - float64(t)
	case z < -t:
		return float64(z) + float64(t)
	default:
		return 0
	}
}

// Prox returns prox_{γg_j}(z) = ST(z, γαⱼ)/(1 + γα₂) (table 3, with the step
// γ that its caption leaves out); under constraints, the nearest point to it that satisfies them.
func (g *Penalty) Prox(j int, z, step float64) float64 {
	if g.positive && !(z > 0) {
		return 0
	}
	return g.Clip(j, SoftThreshold(z, float64(step*g.Alpha(j)))/(1+float64(step*g.ridge)))
}

// Value returns g(β) for the non-zero coefficients b of the columns cols.
func (g *Penalty) Value(cols []int32, b []float64) float64 {
	var l1, l2 float64
	for k, j := range cols {
		l1 = math.FMA(g.Alpha(int(j)), math.Abs(b[k]), l1)
		l2 = math.FMA(g.ridge*b[k], b[k], l2)
	}
	return l1 + float64(0.5*l2)
}

// Sensitivity sets out[k] = B_{k,i}, the right-hand side of the implicit
// system A J = B for hyperparameter i, on the support cols with coefficients b:
// −αⱼ sign(βⱼ) for an ℓ1 strength, −α₂βⱼ for the ridge (appendix A). The constraint
// β ≥ 0 does not change these. For a weighted penalty, where every column has its own
// λ, use [Penalty.Alpha] instead.
func (g *Penalty) Sensitivity(i int, cols []int32, b, out []float64) {
	for k, j := range cols {
		if !g.OfRidge(i) {
			out[k] = -math.Copysign(g.Alpha(int(j)), b[k])
		} else {
			out[k] = -g.ridge * b[k]
		}
	}
}
