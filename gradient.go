package pare

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Hypergradient is a criterion and its gradient in λ at one point. Over the
// folds, gap, KKT residual, bound and margin are the worst or, for the bound,
// the mean; counts are sums. Methods other than [Implicit] have no margin (NaN) and
// no linear systems, and their bound is an estimate from the last changes.
type Hypergradient struct {
	LogLambda []float64
	Value     float64
	Gradient  []float64 // ∂value/∂λ, one per hyperparameter
	Sigma     float64   // the noise level, of [SURE], [AIC] and [BIC]

	RelativeGap float64 // as of [Fitted]
	KKT         float64 // likewise
	Support     int     // mean over folds
	// ErrorBound estimates the largest error of an entry of Gradient; it assumes
	// that the supports are right.
	ErrorBound float64
	// SupportCertified reports a proof that the supports are those of the exact
	// solutions in every fold. It takes [Config].Certify and [Implicit].
	SupportCertified  bool
	InjectivityMargin float64 // how far the systems are from singular; an estimate
	Iterations        int     // of conjugate gradients
	Epochs, Passes    int
	// Status is Converged, Flat where the solutions do not move with λ, or why
	// the gradient is not to be trusted.
	Status                        outcome.Status
	SecondsSolve, SecondsGradient float64 // summed over folds
	Kernels                       string
}

// Gradient returns the validation criterion and its hypergradient at one λ. See
// [Fit] for logLambda and the errors; when ctx ends, its error is returned. What
// αmax is, at a pass over X, [LogLambdaMax] tells.
func Gradient(ctx context.Context, x sparse.Matrix, y, logLambda []float64, v Validation, c Config) (*Hypergradient, error) {
	e, err := newEngine(x, y, c)
	if err != nil {
		return nil, err
	}
	if err := e.check(logLambda); err != nil {
		return nil, err
	}
	spec, err := e.choice(ctx, v)
	if err != nil {
		return nil, err
	}
	problem, err := e.outer(spec)
	if err != nil {
		return nil, err
	}
	r, err := problem.Evaluate(ctx, search.Request{LogLambda: slices.Clone(logLambda)})
	if err != nil {
		return nil, err
	}
	return &Hypergradient{
		LogLambda:         r.LogLambda,
		Value:             r.Value,
		Gradient:          r.Gradient,
		Sigma:             noiseLevel(spec),
		RelativeGap:       r.GapRelative,
		KKT:               r.KKT,
		Support:           r.Support,
		ErrorBound:        r.ErrorBound,
		SupportCertified:  r.SupportCertified,
		InjectivityMargin: r.InjectivityMargin,
		Iterations:        r.Iterations,
		Epochs:            r.Epochs,
		Passes:            r.Passes,
		Status:            r.Status,
		SecondsSolve:      r.SecondsSolve,
		SecondsGradient:   r.SecondsGradient,
		Kernels:           e.k.Name,
	}, nil
}
