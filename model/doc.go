// Package model holds the formulas of the inner problems, and nothing else:
// objectives, proximal operators, duality gaps and their bounds, as in tables
// 1 and 3 of Bertrand et al., "Implicit Differentiation for Fast
// Hyperparameter Selection in Non-Smooth Convex Learning" (JMLR 23, 2022),
// with row weights and an unpenalised intercept added.
//
// Every inner problem but the [SVM], which has its own form, is
//
//	min over β, b of (1/N)Σᵢ sᵢℓ(yᵢ, xᵢβ + b) + Σⱼ αⱼ|βⱼ| + (α₂/2)‖β‖²
//
// with the half squared or the logistic loss ℓ ([Datafit]), row weights s, N = Σs,
// and strengths αⱼ, α₂ ([Penalty]). Strengths are α = e^λ; derivatives elsewhere are
// with respect to λ.
package model
