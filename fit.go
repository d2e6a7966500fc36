package pare

import (
	"context"
	"iter"

	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Fitted is a solution of the inner problem on all rows, with its certificate.
type Fitted struct {
	Model        Model
	Loss         string    // the name of the loss
	Link         loss.Link // how a score is related to the mean of the target
	Columns      int       // the number of columns of X
	LogLambda    []float64 // λ, one per hyperparameter
	LogLambdaMax []float64 // see [LogLambdaMax], one per hyperparameter

	// Support lists the columns with nonzero coefficients, ascending. Unpenalised columns belong
	// to it, and so does, under a [Ridge], every column that is not all zeros.
	Support   []int32
	Coef      []float64 // the coefficients of Support, in units of X
	Intercept float64

	// Classes and PerClass are set for models with a predictor per class: the labels,
	// ascending, and the solution of each class. Support is then the union of the supports of
	// the classes, and Coef and Intercept are not set. For [Multiclass], objectives, gaps and
	// counts are sums over the classes; RelativeGap and KKT are the largest.
	Classes  []float64
	PerClass []*Fitted
	// For support vectors, Free counts the rows whose dual variable is strictly between 0 and C,
	// and Bound the rows whose dual variable is C. With [Config].Lower or Upper, Bound counts the
	// coefficients at a bound.
	Free, Bound int

	Objective float64 // the minimised objective, scaled as in the package comment; the primal one of an [SVM]
	outcome.Certificate
	// Unique points to true if the solution is proved to be unique, and to false if other
	// solutions are proved to exist to working precision; it is nil if neither is proved. Without
	// [Config].Certify only ridge penalties and support vectors are proved unique.
	Unique *bool
	// SupportCertified reports, with Certify, a proof that the exact solution has this support
	// with these signs. DualMargin is then the minimum of 1 − |zⱼ|/αⱼ over the columns outside
	// the support, where z are the correlations with the residual: it measures how far the
	// nearest column is from entering. Neither is set for support vectors.
	SupportCertified bool
	DualMargin       float64
	SecondsCertify   float64 // spent on these proofs
	outcome.Effort
	// Work is the counted work in nanoseconds of the cost model, like [search.Evaluation].Work.
	// Shared is the part of Work that several threads may divide among them, the same for any
	// number of threads; it is 0 for classes, groups, [MCP], [SCAD] and support vectors, where it
	// is not counted. If rare classes start from the solution of one class, Work includes that
	// first solve besides the sum over PerClass.
	Work, Shared float64
	Status       outcome.Status
	Kernels      string // the kernel set used
}

// Fit solves the inner problem at one λ. x has n rows and p columns, y has n entries; neither
// is modified or kept. logLambda has the natural logarithms of the strengths, one per
// hyperparameter ([Model.Hyperparameters], [Traits].Strengths): usually 1; 2 for the elastic
// net, ℓ1 then ridge; one per class of [Multiclass], labels ascending; and p for
// [WeightedLasso], where +Inf excludes a column and −Inf leaves it unpenalised.
//
// A solve that uses up its epochs, or whose ctx ends, returns its solution with its true gap and
// a status that says so; if ctx ends on large data before any point has been certified, Fit
// returns the error of ctx. Any other error is an [outcome.Error] about the arguments, found
// before work starts: Usage for an option that the model does not have, Shape for lengths that
// do not match, NonFinite or BadParameter for invalid numbers, SingleClass for a target of one
// class, and Limit if [Config].MaxBytes is too small. [Config].MaxSupport may end a solve with
// Limit.
func Fit(ctx context.Context, x sparse.Matrix, y, logLambda []float64, c Config) (_ *Fitted, err error) {
	defer outcome.Caught(&err)
	e, leave, err := admitEngine(ctx, x, y, c, nil, toFit)
	if err != nil {
		return nil, err
	}
	defer leave()
	return e.fit(ctx, logLambda)
}

// Path solves the inner problem at each λ of grid in turn, with a warm start from the previous
// solution; decreasing order is fastest. It yields one new result per λ, and stops after an error
// or, when ctx ends, after a result with status Cancelled or with the error of ctx. See [Fit] for
// the arguments and errors.
func Path(ctx context.Context, x sparse.Matrix, y []float64, grid [][]float64, c Config) iter.Seq2[*Fitted, error] {
	return func(yield func(*Fitted, error) bool) {
		to := toFit
		if len(grid) >= manyFits {
			to = toFitMany
		}
		e, leave, err := admitEngine(ctx, x, y, c, nil, to)
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

// LogLambdaMax returns ln αmax for every hyperparameter, where αmax is the smallest strength at
// which all penalised coefficients are zero. It is −Inf if the target depends on no column, and
// NaN for support vectors, which have no αmax. A [Ridge] makes no coefficient zero: its αmax is
// Σⱼ‖x̃ⱼ‖²/n over the centred columns x̃ⱼ, at which every direction of an unpenalised fit is
// shrunk by half or more. For the second λ of the elastic net, αmax is that of the Lasso.
// LogLambdaMax costs a few passes over X, per class. The errors are those of [Fit].
func LogLambdaMax(x sparse.Matrix, y []float64, c Config) ([]float64, error) {
	e, err := newEngine(context.Background(), x, y, c)
	if err != nil {
		return nil, err
	}
	return e.max()
}

// Fitter solves the inner problem on one data set at many λ's, each with the bits of [Fit], and
// keeps its working memory between calls. After the first calls it does not allocate for [Lasso],
// [ElasticNet], [Ridge], [Logistic] and an [SVM] without an intercept, nor for these with another
// [Config].Loss. It does allocate with [Config].Certify, Pool, Lower, Upper or PenaltyFactors,
// and where a loss that is not quadratic starts on a sample of the rows. It is not safe for
// concurrent use. [NewFitter] makes one; the zero value fits nothing.
type Fitter struct {
	engine *engine
	broken bool // the last call panicked
}

// NewFitter makes a Fitter. It keeps x, y and the slices of c, which must not change. The errors
// are those of [Fit].
func NewFitter(x sparse.Matrix, y []float64, c Config) (*Fitter, error) {
	e, err := newUnopenedEngine(context.Background(), x, y, c)
	if err != nil {
		return nil, err
	}
	if !e.family.classes {
		e.statement.Keep, e.reused = true, &Fitted{}
	}
	if err := e.openTo(context.Background(), toFit); err != nil {
		return nil, err
	}
	return &Fitter{engine: e}, nil
}

// Fit solves the inner problem at one λ; see the function [Fit]. The next call overwrites the
// result and its slices.
func (f *Fitter) Fit(ctx context.Context, logLambda []float64) (_ *Fitted, err error) {
	defer outcome.Caught(&err)
	e := f.engine
	if e == nil {
		return nil, outcome.Errorf(outcome.Usage, "the Fitter is not initialised; make it with NewFitter")
	}
	if ctx == nil {
		return nil, errNoContext()
	}
	if e.config.Pool != nil {
		leave, err := e.admit(ctx, nil, toFit)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	if f.broken {
		if err := e.openTo(ctx, toFit); err != nil {
			return nil, err
		}
		f.broken = false
	}
	e.Restart()
	fitted, err := e.fit(ctx, logLambda)
	f.broken = outcome.KindOf(err) == outcome.Internal
	return fitted, err
}

// LogLambdaMax returns [LogLambdaMax] of the data. It is nil for the zero Fitter, and if a loss that
// the caller has written panics.
func (f *Fitter) LogLambdaMax() []float64 {
	if f.engine == nil {
		return nil
	}
	top, err := f.engine.max()
	f.broken = f.broken || err != nil
	return top
}
