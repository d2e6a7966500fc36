// Package model holds the formulas of the inner problems, and nothing else:
// objectives, proximal operators, duality gaps and their bounds, as in tables
// 1 and 3 of Bertrand et al., "Implicit Differentiation for Fast
// Hyperparameter Selection in Non-Smooth Convex Learning" (JMLR 23, 2022),
// with row weights and an unpenalised intercept added.
//
// Every inner problem here is
//
//	min over β, b of (1/2N)‖y − Xβ − b1‖ₛ² + Σⱼ αⱼ|βⱼ| + (α₂/2)‖β‖²
//
// where s are the row weights and N = Σs. The Lasso has one strength αⱼ = α
// and α₂ = 0. Strengths are α = e^λ; derivatives elsewhere are with respect
// to λ.
package model

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Penalty is g(β) = Σ αⱼ|βⱼ| + (α₂/2)‖β‖², separable over the columns. The
// zero value penalises nothing and is not a valid problem: use a constructor.
type Penalty struct {
	alpha  float64   // αⱼ where each is nil
	each   []float64 // αⱼ, one per column
	ridge  float64   // α₂
	lambda int       // number of hyperparameters r
}

// Lasso returns the penalty α‖β‖₁ with α = e^logAlpha.
func Lasso(logAlpha float64) (Penalty, error) {
	alpha, err := strength(logAlpha, 0)
	return Penalty{alpha: alpha, lambda: 1}, err
}

// ElasticNet returns α₁‖β‖₁ + (α₂/2)‖β‖² with α = e^logAlpha.
func ElasticNet(logAlpha1, logAlpha2 float64) (Penalty, error) {
	a1, err := strength(logAlpha1, 0)
	if err != nil {
		return Penalty{}, err
	}
	a2, err := strength(logAlpha2, 1)
	return Penalty{alpha: a1, ridge: a2, lambda: 2}, err
}

// WeightedLasso returns Σ αⱼ|βⱼ| with αⱼ = e^logAlpha[j]. +Inf excludes a
// column. The slice is not kept.
func WeightedLasso(logAlpha []float64) (Penalty, error) {
	each := make([]float64, len(logAlpha))
	for j, l := range logAlpha {
		if math.IsInf(l, 1) {
			each[j] = math.Inf(1)
			continue
		}
		a, err := strength(l, j)
		if err != nil {
			return Penalty{}, err
		}
		each[j] = a
	}
	return Penalty{each: each, lambda: len(each)}, nil
}

// strength returns e^λ, refusing what cannot be a strength.
func strength(lambda float64, j int) (float64, error) {
	bad := func(what string) error {
		return &outcome.Error{Kind: outcome.BadParameter, Flag: "log_lambda", HasColumn: j > 0, Column: j, Message: what}
	}
	if math.IsNaN(lambda) || math.IsInf(lambda, 0) {
		return 0, bad("λ must be finite")
	}
	alpha := kernels.Exp(lambda)
	if math.IsInf(alpha, 1) {
		return 0, bad("e^λ overflows")
	}
	if alpha < math.SmallestNonzeroFloat64*(1<<52) {
		return 0, bad("e^λ underflows")
	}
	return alpha, nil
}

// Hyperparameters returns r, the number of λ's behind the penalty.
func (g Penalty) Hyperparameters() int { return g.lambda }

// Alpha returns αⱼ.
func (g Penalty) Alpha(j int) float64 {
	if g.each != nil {
		return g.each[j]
	}
	return g.alpha
}

// Ridge returns α₂.
func (g Penalty) Ridge() float64 { return g.ridge }

// Columns returns the number of columns the penalty is made for, or -1 where
// it fits any.
func (g Penalty) Columns() int {
	if g.each == nil {
		return -1
	}
	return len(g.each)
}

// SoftThreshold returns the proximal operator of t|·| at z: sign(z)(|z| − t)₊.
// The conversions keep products passed for z and t from being fused into the sum.
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
// γ that its caption leaves out).
func (g Penalty) Prox(j int, z, step float64) float64 {
	return SoftThreshold(z, float64(step*g.Alpha(j))) / (1 + float64(step*g.ridge))
}

// Value returns g(β) for the non-zero coefficients b of the columns cols.
func (g Penalty) Value(cols []int32, b []float64) float64 {
	var l1, l2 float64
	for k, j := range cols {
		l1 = math.FMA(g.Alpha(int(j)), math.Abs(b[k]), l1)
		l2 = math.FMA(b[k], b[k], l2)
	}
	return l1 + float64(0.5*g.ridge*l2)
}

// Sensitivity sets out[k] = B_{k,i}, the right-hand side of the implicit
// system A J = B for hyperparameter i, on the support cols with coefficients b:
// −αⱼ sign(βⱼ) for an ℓ1 strength, −α₂βⱼ for the ridge (appendix A).
// For a weighted penalty, where every column has its own λ, use
// [Penalty.Alpha] instead.
func (g Penalty) Sensitivity(i int, cols []int32, b, out []float64) {
	for k, j := range cols {
		if i == 0 {
			out[k] = -math.Copysign(g.Alpha(int(j)), b[k])
		} else {
			out[k] = -g.ridge * b[k]
		}
	}
}
