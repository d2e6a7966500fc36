// Package model holds the formulas of the inner problems: objectives, proximal operators,
// duality gaps and their bounds, as in tables 1 and 3 of Bertrand et al., "Implicit
// Differentiation for Fast Hyperparameter Selection in Non-Smooth Convex Learning" (JMLR 23,
// 2022), with row weights and an unpenalised intercept added. It has no solvers and no state.
//
// Most inner problems are
//
//	min over β, b of (1/N)Σᵢ sᵢℓ(yᵢ, xᵢβ + b) + Σⱼ αⱼ|βⱼ| + (α₂/2)‖β‖²
//
// with a loss ℓ of package loss ([Datafit]), row weights s, N = Σs, and strengths αⱼ = e^λⱼ and
// α₂ ([Penalty]). Derivatives are always with respect to λ. [Blocks] are penalties on groups of
// columns or on several scores ([Scores]). [Separable] penalties are on single coefficients and
// need not be convex. [SVM] and [Vectors] are the dual problems of support vectors, whose sum over
// the rows is not divided by N.
package model
