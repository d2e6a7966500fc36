// Package pare fits sparse linear models and chooses their regularisation by
// gradient descent on a validation criterion.
//
// An inner problem is, for a design matrix X (n × p), a target y and penalty
// strengths α = e^λ,
//
//	lasso   min (1/2n)‖y − Xβ − b1‖² + e^λ‖β‖₁
//	enet    min (1/2n)‖y − Xβ − b1‖² + e^λ₁‖β‖₁ + ½e^λ₂‖β‖²
//	wlasso  min (1/2n)‖y − Xβ − b1‖² + Σ e^λⱼ|βⱼ|
//	ridge   min (1/2n)‖y − Xβ − b1‖² + ½e^λ‖β‖²
//	logreg  min (1/n)Σ ln(1 + e^{−yᵢ(xᵢβ + b)}) + e^λ‖β‖₁,  y = ±1
//	poisson min (1/n)Σ (e^{mᵢ} − yᵢmᵢ − yᵢ + yᵢ ln yᵢ) + e^λ‖β‖₁,  mᵢ = xᵢβ + b, y ≥ 0
//	huber   min (1/n)Σ h(yᵢ − mᵢ) + e^λ‖β‖₁,  h(r) = ½r², or δ|r| − ½δ² where |r| > δ
//	gamma   min (1/n)Σ (yᵢe^{−mᵢ} + mᵢ − 1 − ln yᵢ) + e^λ‖β‖₁,  y > 0
//	tweedie min (1/n)Σ (e^{amᵢ}/a + yᵢe^{−qmᵢ}/q − yᵢᵃ/aq) + e^λ‖β‖₁,  a = 2 − p, q = p − 1, y ≥ 0
//	squared_hinge min (1/n)Σ ½(1 − yᵢmᵢ)₊² + e^λ‖β‖₁,  y = ±1
//	group   min (1/2n)‖y − Xβ − b1‖² + e^λΣ w_g‖β_g‖₂,  groups g of columns
//	mcp     min (1/2n)‖y − Xβ − b1‖² + Σ g(βⱼ),  g not convex: Zhang's penalty; scad: Fan and Li's
//	multinomial min (1/n)Σ (ln Σₖ e^{mᵢₖ} − mᵢ,yᵢ) + e^λΣ|βⱼₖ|,  mᵢₖ = xᵢβₖ + bₖ
//	svm     min ½‖β‖² + e^λΣ(1 − yᵢxᵢβ)₊,  y = ±1
//	svr     min ½‖β‖² + e^λ₁Σ(|yᵢ − mᵢ| − e^λ₂)₊
//	simplex_svr the same with β ≥ 0, Σβ = 1 and without intercept
//
// with an unpenalised intercept b unless it is switched off (the svm has one if it is asked for), and any loss
// in the place of the squared one ([Config].Loss);
// multiclass is a logreg for each class against the others, each with its own λ. The outer
// problem is to choose the logarithms λ so that a criterion on held-out rows is
// least. Its gradient in λ comes from the implicit function theorem (Bertrand et al.,
// "Implicit Differentiation for Fast Hyperparameter Selection in Non-Smooth
// Convex Learning", JMLR 23, 2022), so a handful of evaluations does the work
// of a grid.
//
// [Select] chooses λ and refits; [Fit] solves at one λ, [Path] along a grid;
// [Gradient] returns the criterion and its hypergradient at one λ, [Validate] the
// criterion along a grid. A [Predictor] is what predicts, and is kept in files. Every
// result carries a duality gap recomputed from X, relative to the objective of the
// null model, and a status. Results have the same bits on every CPU and for any
// number of threads.
package pare

import "github.com/seed-45b9a24c/pare/loss"

// Config states the inner problem and how to solve it. The zero value is a
// Lasso with an intercept, solved to a relative gap of 1e-6 on all processors
// with the fastest kernels.
type Config struct {
	Model Model // "" means Lasso
	// Loss, where set, takes the place of the squared loss of a Lasso, elastic net, weighted
	// Lasso or ridge. It is one of package loss, perhaps with parameters, or the caller's own.
	// With the penalty of a Lasso, a loss that has a model is that model.
	Loss        loss.Loss
	NoIntercept bool // leave the intercept out, as the paper does; an SVM has none anyway
	Intercept   bool // of an [SVM], which has none otherwise
	// Weights of the rows, finite and ≥ 0, in the inner problem and in the criterion;
	// nil means 1 each. A row of weight k counts as k equal rows in the same fold, one
	// of weight 0 as absent: n becomes the sum of the weights. Not kept.
	Weights []float64
	// ClassWeights multiply the weights of the rows of each class, in ascending order of their
	// labels, in the inner problem alone: the criterion has Weights. Balanced makes the classes
	// count alike there instead: the weights of class k are multiplied by N/KNₖ, N and Nₖ the
	// weights of all rows and of those of the class that are trained on, in every fold its own.
	// For models of classes. Not kept.
	ClassWeights []float64
	Balanced     bool
	// Offset is added to the predictions of the rows: m = Xβ + b + o, in the fit and in the
	// criterion, finite, one a row; nil means 0. With a logarithmic link it is the logarithm
	// of the exposure. Columns are not standardised or penalised with it, and what predicts
	// does not know it: it is to be added to scores (see [Predictor.Target]). Not for
	// [Multiclass] and [SVM], and with [Implicit] alone. Not kept.
	Offset []float64
	// Standardize divides the columns by their standard deviations over the weighted
	// rows, or without an intercept by their root mean squares: penalties are those of
	// coefficients β̃ⱼ = dⱼβⱼ, as are objectives and αmax; Coef is β. The numbers dⱼ are
	// those of the rows trained on, in every fold its own. Not for an [SVM] without intercept.
	Standardize bool
	// PenaltyFactors multiply the strengths of the columns, one number each: of an ℓ1 penalty,
	// of a ridge, and of both of an elastic net. 0 leaves a column unpenalised, under one ℓ1
	// strength of one predictor: it is part of the null model and of every support. +Inf
	// excludes a column. nil means 1 each. They are not rescaled, and with Standardize are
	// those of standardised columns. Not for a [WeightedLasso], whose λ's they would only move,
	// nor an [SVM]. Not kept.
	PenaltyFactors []float64
	// Groups has a number for each column of a [GroupLasso] and of its kin: columns of the same
	// number are a group, and nil makes every column one. GroupWeights multiply their strengths, one for each group in the order
	// of their first columns; nil means the root of the number of columns. Not kept.
	Groups       []int
	GroupWeights []float64
	// Tau is the share of the ℓ1 term of a [SparseGroup], 0 means 0.5; Gamma the γ of [MCP], 0
	// means 3; A the a of [SCAD], 0 means 3.7. The latter two are in units of the curvature of
	// the loss: Standardize the columns.
	Tau, Gamma, A float64
	// Positive constrains β to be ≥ 0. Not for [Ridge] and [SVM].
	Positive bool
	// Lower and Upper bound the coefficients, in units of the matrix, one number a column; nil
	// means none, ∓Inf none of a column. A coefficient must be free to be 0. Coefficients at a
	// bound do not move with λ. For models with an ℓ1 penalty, on columns with a penalty
	// factor other than 0. Not kept.
	Lower, Upper []float64
	Tol          float64 // relative duality gap to reach, at least 1e-15; 0 means 1e-6
	MaxEpochs    int     // sweeps allowed for one solve; 0 means 100,000
	Threads      int     // at work at once, on inner problems or, where these are fewer, within them; 0 means all processors, or those of Pool
	// Pool, where set, shares threads, memory and a queue with all other calls that have it.
	Pool *Pool
	// Observer, where set, is told of admissions, evaluations and solutions.
	Observer Observer
	// MaxSupport, where positive, ends a solve with an error of kind Limit as soon as a
	// certified point has more columns in its support. An SVM has no such cap.
	MaxSupport int
	// MaxBytes, where positive, refuses work with an error of kind Limit, before it
	// starts, if its working memory, the data aside, might be larger; below what the
	// fastest way may take, it is the Gram matrix that is kept small.
	MaxBytes int64
	Kernels  string // kernel set; "" means PARE_KERNELS, else the fastest
	Method   Method // of hypergradients; "" means Implicit
	// Certify makes [Fit], [Path] and the refit of [Select] look for a proof of the
	// support and of uniqueness, and [Gradient] of the supports, at a pass over X and
	// a factorisation for each fold.
	Certify bool
	// Solved, where set, is told of the inner problems of folds and classes as they end:
	// how many are done of those of one evaluation of the criterion, or of all points of
	// [Validate], and the λ of the last. Calls are not concurrent, but come from other
	// goroutines than the caller's.
	Solved func(done, of int, logLambda []float64)

	seat *seat // of the call in Pool, once it is admitted
}
