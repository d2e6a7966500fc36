package pare

import (
	"context"
	"iter"
	"slices"

	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Fitted is a certified solution of an inner problem on all rows given.
type Fitted struct {
	Model        Model
	Loss         string    // the name of its loss
	Link         loss.Link // what a score is of the mean of the target
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
	// Free and Bound are set for an [SVM]: samples on the margin, with a dual
	// variable between 0 and C, and samples at C. Objective is then the primal one. With
	// bounds on coefficients, Bound counts those at one.
	Free, Bound int

	Objective float64 // Φ(β, b)
	outcome.Certificate
	// Unique is a proof that there is one solution, or that there are others to working
	// precision; nil where there is neither: without [Config].Certify only a ridge and an
	// [SVM] prove it. SupportCertified is, with Certify, a proof that the exact solution
	// has this support, with its signs, and DualMargin min(1 − |zⱼ|/αⱼ) off the support,
	// how far the nearest column is from entering. An [SVM] has neither of these.
	Unique           *bool
	SupportCertified bool
	DualMargin       float64
	SecondsCertify   float64
	outcome.Effort
	Status  outcome.Status
	Kernels string // the kernel set used
}

// Fit solves the inner problem at one λ. X has one row per entry of y; neither
// is changed or kept. logLambda has one entry per hyperparameter, see
// [Model.Hyperparameters]: 1, but 2 for the elastic net (ℓ1, then ridge), one for
// each class of [Multiclass], labels ascending, and p for the weighted Lasso, where
// +Inf excludes a column and −Inf leaves it unpenalised.
//
// A solve that ran out of epochs, or whose ctx ended, is returned with its true
// gap and the status that says so. The error is an [outcome.Error] about the
// arguments, found before work starts: of kind Usage for what a model does not have,
// Shape for lengths that do not fit, NonFinite or BadParameter for numbers that cannot
// be, SingleClass for a target of one class, and Limit where [Config].MaxBytes is too
// little; [Config].MaxSupport may end a solve with one of kind Limit.
func Fit(ctx context.Context, x sparse.Matrix, y, logLambda []float64, c Config) (*Fitted, error) {
	e, leave, err := admitted(ctx, x, y, c, nil)
	if err != nil {
		return nil, err
	}
	defer leave()
	return e.fit(ctx, logLambda)
}

// Path solves the inner problem along a sequence of λ's, each from the solution
// before it; decreasing order is the fast one. It yields one result per λ, its own
// for good, and stops early after an error or, with a result that says Cancelled, when
// ctx ends. See [Fit] for the λ's and the errors.
func Path(ctx context.Context, x sparse.Matrix, y []float64, grid [][]float64, c Config) iter.Seq2[*Fitted, error] {
	return func(yield func(*Fitted, error) bool) {
		e, leave, err := admitted(ctx, x, y, c, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer leave()
		for _, logLambda := range grid {
			fitted, err := e.fit(ctx, logLambda)
			if !yield(fitted, err) || err != nil || fitted.Status == outcome.Cancelled {
				return
			}
		}
	}
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
	return slices.Clone(e.Max()), nil
}

// Fitter solves the inner problem of one set of data at any number of λ's, each as [Fit]
// would, to the bit, and keeps its working memory from one to the next: after the first
// calls it allocates nothing, but with [Config].Certify, for [Multiclass], [WeightedLasso],
// [SVR] and an [SVM] with an intercept, and where a loss that is not quadratic begins on a
// sample of the rows.
// It is not safe for concurrent use.
type Fitter struct {
	engine *engine
}

// NewFitter makes a Fitter. X and y are kept and must not change. The errors are those
// of [Fit].
func NewFitter(x sparse.Matrix, y []float64, c Config) (*Fitter, error) {
	e, err := newEngine(x, y, c)
	if err != nil {
		return nil, err
	}
	if !e.family.classes {
		e.of.Keep, e.reused = true, &Fitted{}
	}
	return &Fitter{e}, nil
}

// Fit solves at one λ, see [Fit]. The result, with its slices, belongs to the Fitter and
// changes with the next call.
func (f *Fitter) Fit(ctx context.Context, logLambda []float64) (*Fitted, error) {
	if e := f.engine; e.config.Pool != nil {
		leave, err := e.enter(ctx, nil)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	f.engine.Restart()
	return f.engine.fit(ctx, logLambda)
}

// LogLambdaMax is [LogLambdaMax] of the data. Read only.
func (f *Fitter) LogLambdaMax() []float64 { return f.engine.Max() }
