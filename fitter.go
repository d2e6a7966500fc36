package pare

import (
	"context"

	"github.com/seed-45b9a24c/pare/sparse"
)

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
