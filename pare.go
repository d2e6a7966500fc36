// Package pare fits sparse linear models and chooses their regularisation by
// gradient descent on a validation criterion.
//
// The inner problems are, for a design matrix X (n × p), a target y and penalty
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
//	mcp     min (1/2n)‖y − Xβ − b1‖² + Σ g(βⱼ),  g Zhang's nonconvex penalty; scad: that of Fan and Li
//	multinomial min (1/n)Σ (ln Σₖ e^{mᵢₖ} − mᵢ,yᵢ) + e^λΣ|βⱼₖ|,  mᵢₖ = xᵢβₖ + bₖ
//	svm     min ½‖β‖² + e^λΣ(1 − yᵢxᵢβ)₊,  y = ±1
//	svr     min ½‖β‖² + e^λ₁Σ(|yᵢ − mᵢ| − e^λ₂)₊
//	simplex_svr the same with β ≥ 0, Σβ = 1 and without intercept
//
// The intercept b is not penalised. Every model but svm and simplex_svr has an intercept unless
// [Config].NoIntercept is set; svm has one only with [Config].Intercept. [Config].Loss replaces
// the squared loss by another. multiclass is one logreg for each class against the other
// classes, each with its own λ. With weighted rows, n is the sum of the weights. The sums of svm
// and svr are not divided by n, so that their λ is the logarithm of the usual C.
//
// The outer problem is to choose the λ that minimises a criterion such as the cross-validated
// loss; λ is always the natural logarithm of a strength. The gradient of the criterion with
// respect to λ, the hypergradient, comes from the implicit function theorem (Bertrand et al.,
// "Implicit Differentiation for Fast Hyperparameter Selection in Non-Smooth Convex Learning",
// JMLR 23, 2022), so a few evaluations replace a grid search.
//
// Begin with [Select], which chooses λ and refits on all rows:
//
//   - [Fit] solves the inner problem at one λ, and [Path] at every λ of a grid.
//   - [Gradient] returns the criterion and its hypergradient at one λ, and [Validate] the
//     criterion at every λ of a grid.
//   - [Fitted.Predictor] makes a [Predictor], which predicts and can be saved to a file.
//
// Every result carries a status and a duality gap, relative to the objective of the null model.
// The gap is recomputed from X or, with many rows, from sums over the rows together with a bound
// on their rounding error. Results have the same bits on every CPU and for any number of threads.
package pare

import "github.com/seed-45b9a24c/pare/loss"

// Config states the inner problem and how to solve it. The zero value is a Lasso with an
// intercept, solved to a relative duality gap of 1e-6 on all processors with the fastest
// kernels. Slices are neither modified nor kept, except by a [Fitter].
type Config struct {
	Model Model // the inner problem; "" means Lasso
	// Loss replaces the squared loss of [Lasso], [ElasticNet], [WeightedLasso] or [Ridge]. It
	// is a loss of package loss, with parameters of its own if it has any, or one that the
	// caller has written. nil means the loss of Model. If a model is defined by this loss and
	// penalty, such as [Poisson], results carry the name of that model.
	Loss        loss.Loss
	NoIntercept bool // leaves the intercept out, as the paper does
	Intercept   bool // gives an [SVM] an intercept; the other models have one already
	// Weights has one weight per row, finite and ≥ 0, for the inner problem and the criterion;
	// nil means 1 each. A row of weight k counts as k equal rows in the same fold, and a row of
	// weight 0 counts as absent.
	Weights []float64
	// ClassWeights has one positive number per class, in ascending order of the labels. It
	// multiplies the weights of the rows of that class in the inner problem, not in the
	// criterion. nil means 1 each. Only for models of classes.
	ClassWeights []float64
	// Balanced gives all classes the same total weight in the inner problem, instead of
	// ClassWeights: the weights of class k are multiplied by N/(K·Nₖ), where K is the number of
	// classes, N the total weight of the training rows, and Nₖ the total weight of class k. Each
	// fold computes these factors from its own training rows.
	Balanced bool
	// Offset has one finite number per row that is added to its prediction, m = Xβ + b + o,
	// in the fit and in the criterion; nil means 0. With a logarithmic link it is the logarithm
	// of the exposure. A [Predictor] has no offsets: add the offset of a new row to its scores
	// before calling [Predictor.Target]. Only for models of one predictor with a penalty on
	// columns, and with the method [Implicit].
	Offset []float64
	// Standardize divides each column j by dⱼ, its standard deviation over the weighted rows, or
	// its root mean square without an intercept. The penalty, objectives and αmax are then in
	// terms of β̃ⱼ = dⱼβⱼ, while coefficients are returned as β, in units of X. Each fold
	// computes dⱼ from the rows it trains on. Not for an [SVM] without an intercept.
	Standardize bool
	// PenaltyFactors has one factor per column, which multiplies the strength of the penalty on
	// that column: the ℓ1 strength, the ridge, or both in an elastic net. nil means 1 each; the
	// factors are not rescaled. +Inf excludes a column. 0 leaves a column unpenalised, in models
	// of one predictor with one ℓ1 strength: the column then belongs to the null model and to
	// every support. With Standardize the factors apply to the standardised columns. Not for
	// [WeightedLasso] or support vectors.
	PenaltyFactors []float64
	// Groups has the group of each column, any number from 0, for [GroupLasso] and the other
	// penalties on groups; nil makes every column a group.
	Groups []int
	// GroupWeights has one factor per group, in the order of the first column of each group,
	// that multiplies the group's strength; nil means the square root of the number of its columns.
	GroupWeights []float64
	Tau          float64 // the share of the ℓ1 term in [SparseGroup], above 0 and at most 1; 0 means 0.5
	// Gamma is γ of [MCP]; 0 means 3. A is a of [SCAD]; 0 means 3.7. Their effect depends on the
	// scale of the columns, so set Standardize.
	Gamma, A float64
	// Positive constrains the coefficients to be ≥ 0. Only for models with an ℓ1 penalty.
	Positive bool
	// Lower and Upper bound the coefficients in units of X, one number per column; nil means no
	// bounds, and −Inf or +Inf no bound for one column. Lower must be ≤ 0 and Upper ≥ 0.
	// Coefficients at a bound do not move with λ. Only for models with an ℓ1 penalty, and not on
	// unpenalised columns.
	Lower, Upper []float64
	Tol          float64 // relative duality gap to reach, at least 1e-15 and below 1; 0 means 1e-6
	MaxEpochs    int     // sweeps allowed in one solve; 0 means 100,000
	// Threads is how many threads work at once, on several inner problems or together on one;
	// 0 means all processors, or the threads of Pool.
	Threads int
	// Pool shares threads, memory and a queue among all calls whose Config has this pool; nil
	// means no sharing.
	Pool *Pool
	// Observer is notified of admissions, evaluations and solutions; nil means no observer.
	Observer Observer
	// MaxSupport ends a solve with an error of kind Limit as soon as a certified point has more
	// columns than this in its support; 0 means no limit. Not for support vectors.
	MaxSupport int
	// MaxBytes bounds the working memory, not counting the data; 0 means no limit. Work that
	// might need more is refused, before it starts, with an error of kind Limit. If the limit is
	// below what the fastest method may use, Gram matrices are kept smaller. If it is below what
	// all folds may use together, the folds take turns, as many at a time as fit, and each solve
	// starts from coefficients alone, at up to twice the work. If it is below what one fold may
	// use, columns of a sparse matrix are copied anew for each use, at several times the work.
	// With any limit, a choice of λ on a large dense matrix goes without the 32-bit copy, half
	// the size of the matrix, that otherwise stays with it. All of this can change the last bits.
	// The limit holds in the worst case, which is several times what most data need;
	// [PoolOptions].MaxBytes is compared with the usual need.
	MaxBytes int64
	Kernels  string // the kernel set; "" means the one named by the environment variable PARE_KERNELS, else the fastest
	Method   Method // how hypergradients are computed; "" means Implicit
	// Certify makes [Fit], [Path] and the refit of [Select] try to prove the support and
	// uniqueness, and [Gradient] the supports of all folds. It costs a pass over X and a
	// factorisation per fold.
	Certify bool
	// Solved, if not nil, is called when the inner problem of a fold or class ends. done counts
	// the inner problems that have ended, out of those of one evaluation of the criterion or of
	// all points of [Validate]; logLambda is the λ of the last one. Calls are never concurrent,
	// but come from goroutines other than the caller's.
	Solved func(done, of int, logLambda []float64)

	grant    *grant // the grant of this call in Pool, once admitted
	sweepFew bool   // see [cd.Options]
}
