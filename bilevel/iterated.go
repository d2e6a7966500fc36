package bilevel

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// iteratedLane is a lane that is differentiated along the iterates of its solver.
type iteratedLane struct {
	foldCriterion
	stateless
	method iterdiff.Method
	// iterate runs the solver and differentiates its iterates.
	iterate   func(ctx context.Context, logLambda []float64, o iterdiff.Options) (*iterdiff.Result, error)
	perColumn bool // each column has its own λ
}

func newIterated(j foldCriterion, spec Spec, fit model.Datafit) (lane, error) {
	solver, err := iterdiff.New(fit)
	if err != nil {
		return nil, err
	}
	l := &iteratedLane{foldCriterion: j, method: *spec.Iterate}
	l.iterate = func(ctx context.Context, logLambda []float64, o iterdiff.Options) (*iterdiff.Result, error) {
		penalty, err := makePenalty(spec.Penalty, logLambda)
		if err != nil {
			return nil, err
		}
		l.perColumn = penalty.PerColumn()
		return solver.Solve(ctx, penalty, l.evaluateSlope, o)
	}
	return l, nil
}

// evaluateSlope is an [iterdiff.Outer]: it sets the slope of the criterion at the predictions m and returns its value.
func (l *iteratedLane) evaluateSlope(m, slope []float64) float64 {
	if len(l.test) > 0 {
		l.Test, l.Tested = l.loss(l.test, m, nil), true
	}
	value := l.loss(l.rows, m, slope)
	l.ValueError = l.valueError(value, m)
	return value
}

// defaultTol is the default tolerance of cd.
const defaultTol = 1e-6

// solve computes the gradient, too.
func (l *iteratedLane) solve(ctx context.Context, request *LaneRequest, options cd.Options) error {
	start := time.Now()
	o := iterdiff.Options{Method: l.method, Tol: options.Tol, MaxEpochs: options.MaxEpochs}
	if o.Tol == 0 {
		o.Tol = defaultTol
	}
	r, err := l.iterate(ctx, request.LogLambda, o)
	if err = cmp.Or(l.failure, err); err != nil {
		return err
	}
	if r.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	if size := len(r.Support); options.MaxSupport > 0 && size > options.MaxSupport {
		return outcome.At(outcome.Limit, "max-support", "the support has %d columns, but the limit is %d", size, options.MaxSupport)
	}
	l.Value, l.Gradient, l.Columns = r.Value, r.Gradient, nil
	if l.perColumn {
		l.Columns = r.Support
	}
	// Change, the remaining distance of the gradient, is relative to its largest entry.
	var largest float64
	for _, g := range r.Gradient {
		largest = max(largest, math.Abs(g))
	}
	took, status := time.Since(start), outcome.Converged
	if !(r.Gap <= o.Tol) {
		status = r.Status // the value is not to be trusted either
	}
	l.Solved = Solved{
		Certificate: outcome.Certificate{RelativeGap: r.Gap, KKT: r.KKT}, Effort: outcome.Effort{Epochs: r.Epochs},
		Support: len(r.Support), Status: status, Seconds: took.Seconds(),
	}
	l.Derived = Derived{ErrorBound: r.Change * largest, InjectivityMargin: math.NaN(), Status: r.Status}
	return nil
}

func (l *iteratedLane) differentiate(context.Context, *LaneRequest, cd.Options) error { return nil }
