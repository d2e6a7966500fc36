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
//	svm     min ½‖β‖² + e^λΣ(1 − yᵢxᵢβ)₊,  y = ±1
//
// with an unpenalised intercept b unless it is switched off (the svm has none);
// multiclass is a logreg for each class against the others, each with its own λ. The outer
// problem is to choose the logarithms λ so that a criterion on held-out rows is
// least. Its gradient in λ comes from the implicit function theorem (Bertrand et al.,
// "Implicit Differentiation for Fast Hyperparameter Selection in Non-Smooth
// Convex Learning", JMLR 23, 2022), so a handful of evaluations does the work
// of a grid.
//
// [Select] chooses λ and refits; [Fit] solves at one λ, [Path] along a grid;
// [Gradient] returns the criterion and its hypergradient at one λ. Every result
// carries a duality gap recomputed from X, relative to the objective of the
// null model, and a status. Results have the same bits on every CPU and for any
// number of threads.
package pare

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Config states the inner problem and how to solve it. The zero value is a
// Lasso with an intercept, solved to a relative gap of 1e-6 on all processors
// with the fastest kernels.
type Config struct {
	Model       Model // "" means Lasso
	NoIntercept bool  // leave the intercept out, as the paper does; an SVM has none anyway
	// Weights of the rows, finite and ≥ 0, in the inner problem and in the criterion;
	// nil means 1 each. A row of weight k counts as k equal rows in the same fold, one
	// of weight 0 as absent: n becomes the sum of the weights. Not kept.
	Weights []float64
	// Standardize divides the columns by their standard deviations over the weighted
	// rows, or without an intercept by their root mean squares: penalties are those of
	// coefficients β̃ⱼ = dⱼβⱼ, as are objectives and αmax; Coef is β. The numbers dⱼ are
	// those of the rows trained on, in every fold its own. Not for an [SVM].
	Standardize bool
	// Positive constrains β to be ≥ 0. Not for [Ridge] and [SVM].
	Positive  bool
	Tol       float64 // relative duality gap to reach, at least 1e-15; 0 means 1e-6
	MaxEpochs int     // sweeps allowed for one solve; 0 means 100,000
	Threads   int     // inner problems solved at once; 0 means all processors
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
}

// Fitted is a certified solution of an inner problem on all rows given.
type Fitted struct {
	Model        Model
	Columns      int       // of X
	LogLambda    []float64 // one per hyperparameter
	LogLambdaMax []float64 // ln αmax, above which β = 0; the same shape; see [LogLambdaMax]

	// Support lists the columns with non-zero coefficients, ascending; unpenalised ones
	// belong to it, and all columns with entries under a [Ridge].
	Support   []int32
	Coef      []float64 // their coefficients
	Intercept float64

	// Classes and PerClass are set for [Multiclass] alone: the labels, ascending, and
	// the solution for each. Support is then the union of theirs, Coef and Intercept
	// are not set; objectives, gaps and counts are sums, RelativeGap and KKT the
	// worst.
	Classes  []float64
	PerClass []*Fitted
	// Free and Bound are set for [SVM] alone: samples on the margin, with a dual
	// variable between 0 and C, and samples at C. Objective is then the primal one.
	Free, Bound int

	Objective   float64 // Φ(β, b)
	Gap         float64 // duality gap, ≥ Φ(β, b) − Φ*
	RelativeGap float64 // Gap relative to the objective of the null model
	KKT         float64 // fixed-point residual of the optimality conditions
	// Unique is a proof that there is one solution, or that there are others to working
	// precision; nil where there is neither: without [Config].Certify only a ridge and an
	// [SVM] prove it. SupportCertified is, with Certify, a proof that the exact solution
	// has this support, with its signs, and DualMargin min(1 − |zⱼ|/αⱼ) off the support,
	// how far the nearest column is from entering. An [SVM] has neither of these.
	Unique           *bool
	SupportCertified bool
	DualMargin       float64
	SecondsCertify   float64
	Epochs           int // sweeps over working sets
	Passes           int // passes over X
	Status           outcome.Status
	Kernels          string // the kernel set used
}

// engine is a Config resolved against data.
type engine struct {
	config Config
	family family
	k      *kernels.Set
	x      sparse.Matrix
	y      []float64
	problem
	hyperparameters int
	gram            int // columns of the largest Gram matrix; 0: no limit of ours
}

func newEngine(x sparse.Matrix, y []float64, c Config) (*engine, error) {
	if c.Model == "" {
		c.Model = Lasso
	}
	e := &engine{config: c, family: c.Model.family(), x: x, y: y}
	switch {
	case e.family.state == nil:
		return nil, outcome.At(outcome.Usage, "model", "no model %q; there are %v", c.Model, Models())
	case c.Standardize && c.Model == SVM:
		return nil, outcome.At(outcome.Usage, "standardize", "%s works on rows as they are; scale the columns before", SVM)
	case c.Positive && !e.family.positive:
		return nil, outcome.At(outcome.Usage, "positive", "%s has no constraint β ≥ 0; the models with an ℓ1 penalty have it", c.Model)
	}
	var err error
	if err = e.checkMethod(); err != nil {
		return nil, err
	}
	if e.k, err = c.kernels(); err != nil {
		return nil, err
	}
	if x == nil {
		return nil, outcome.Errorf(outcome.Shape, "no design matrix")
	}
	if err = e.checkBudget(); err != nil {
		return nil, err
	}
	e.hyperparameters = c.Model.Hyperparameters(x, y)
	if e.problem, err = e.family.state(e); err != nil {
		return nil, err
	}
	return e, nil
}

func (c Config) kernels() (*kernels.Set, error) {
	var k *kernels.Set
	var err error
	if c.Kernels == "" {
		k, err = kernels.Active()
	} else {
		k, err = kernels.Named(c.Kernels)
	}
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.BadParameter, Flag: "kernels", Message: "cannot use this set", Err: err}
	}
	return k, nil
}

// view returns the view of all rows.
func (e *engine) view() (*sparse.View, error) {
	view, err := sparse.NewView(e.k, e.x, e.config.Weights, !e.config.NoIntercept)
	if err == nil && e.config.Standardize {
		view = view.Standardised()
	}
	return view, err
}

// solver returns the bounds of an inner solve.
func (e *engine) solver() cd.Options {
	return cd.Options{Tol: e.config.Tol, MaxEpochs: e.config.MaxEpochs, MaxSupport: e.config.MaxSupport, MaxGram: e.gram}
}

// spec returns what all outer problems share.
func (e *engine) spec() bilevel.Spec {
	return bilevel.Spec{
		Weights: e.config.Weights, Intercept: !e.config.NoIntercept, Standardise: e.config.Standardize, Solver: e.solver(),
		Iterate: e.config.Method.iterate(), Certify: e.config.Certify, Threads: e.config.Threads,
	}
}

// check refuses a λ of the wrong length.
func (e *engine) check(logLambda []float64) error {
	if r := e.hyperparameters; len(logLambda) != r {
		return outcome.At(outcome.Shape, "log-lambda", "%s has %d hyperparameters, got %d", e.config.Model, r, len(logLambda))
	}
	return nil
}

// fit solves at one λ and says where.
func (e *engine) fit(ctx context.Context, logLambda []float64) (*Fitted, error) {
	if err := e.check(logLambda); err != nil {
		return nil, err
	}
	f, err := e.solve(ctx, logLambda)
	if err != nil {
		return nil, err
	}
	f.Model = e.config.Model
	_, f.Columns = e.x.Dims()
	f.LogLambda, f.LogLambdaMax, f.Kernels = slices.Clone(logLambda), slices.Clone(e.max()), e.k.Name
	return f, nil
}

// LogLambdaMax returns ln αmax for every hyperparameter: from there on every
// coefficient is zero. It is −Inf where the target depends on no column, and NaN for
// an [SVM], which has none. No [Ridge] makes a coefficient zero: its αmax is the sum of
// the columns' variances, at which every direction of a fit without penalty is
// halved at least. The second λ of the elastic net is measured against the Lasso's.
// It makes a few passes over X, for each class. The errors are those of [Fit].
func LogLambdaMax(x sparse.Matrix, y []float64, c Config) ([]float64, error) {
	e, err := newEngine(x, y, c)
	if err != nil {
		return nil, err
	}
	return slices.Clone(e.max()), nil
}
