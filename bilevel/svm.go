package bilevel

import (
	"context"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// NewSVM prepares the choice of λ = ln C for a linear support vector machine
// without intercept. The criterion is the smoothed hinge unless the spec has another
// one. samples is the transpose of the design matrix, which the folds share;
// labels are ±1, and every fold must train on both. Penalty, Datafit and Intercept of
// the spec are not used.
func NewSVM(k *kernels.Set, samples sparse.Matrix, y []float64, spec Spec) (*Problem, error) {
	lanes, err := NewSVMLanes(k, samples, y, spec)
	if err != nil {
		return nil, err
	}
	return NewOver(context.Background(), lanes, spec)
}

// NewSVMLanes prepares the lanes of the problem that [NewSVM] returns.
func NewSVMLanes(k *kernels.Set, samples sparse.Matrix, y []float64, spec Spec) (*Lanes, error) {
	p, n := samples.Dims()
	if err := spec.Check(k, n); err != nil {
		return nil, err
	}
	if spec.Criterion == nil {
		spec.Criterion = criterion.Of(loss.SmoothedHinge{})
	}
	return newLanes(spec, spec.Folds.Count(k), 0, p, func(id LaneID) (lane, error) {
		weights, rows := spec.Split(k, id.Fold)
		fit, err := model.NewSVM(k, samples, y, weights)
		if err != nil {
			return nil, err
		}
		j := newFoldCriterion(k, &spec, y, rows)
		if err := j.evaluateNull(make([]float64, n)); err != nil {
			return nil, err
		}
		if !spec.Given {
			j.Straight = fit.Straight()
		}
		if spec.Iterate != nil {
			l := &iteratedLane{foldCriterion: j, method: *spec.Iterate}
			solver := iterdiff.NewSVM(fit)
			l.iterate = func(ctx context.Context, logLambda []float64, o iterdiff.Options) (*iterdiff.Result, error) {
				return solver.Solve(ctx, logLambda[0], l.evaluateSlope, o)
			}
			return l, nil
		}
		return &svmLane{foldCriterion: j, fit: fit, solver: cd.NewSVM(fit), implicit: implicit.NewSVM(fit), certify: spec.Certify, maxFree: mostOf(k, p, weights)}, nil
	}), nil
}

// svmLane is the lane of an SVM.
type svmLane struct {
	foldCriterion
	stateless
	fit      *model.SVM
	solver   *cd.SVM
	implicit *implicit.SVM
	certify  bool
	last     *cd.SVMSolution
	start    *Solution // the state to begin with, see lanestate.go; nil: the last solution
	maxFree  float64   // the largest number of free samples that columns and training rows allow
}

func (l *svmLane) solve(ctx context.Context, r *LaneRequest, options cd.Options) error {
	start := time.Now()
	if r.Anew {
		l.renew()
	}
	l.start = nil
	s, err := l.solver.Solve(ctx, r.LogLambda[0], withPolish(options))
	if err != nil {
		return err
	}
	if s.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	l.last = s
	if err := l.evaluate(s.Predictions); err != nil {
		return err
	}
	l.Solved = Solved{
		Certificate: s.Certificate, Effort: s.Effort, Support: len(s.Free),
		Status: s.Status, Seconds: time.Since(start).Seconds(), Work: s.Work,
		Saturation: float64(len(s.Free)) / l.maxFree,
	}
	l.Solved.relate(s.Primal, l.fit.Null(s.C))
	return nil
}

func (l *svmLane) differentiate(ctx context.Context, r *LaneRequest, options cd.Options) error {
	start, s := time.Now(), l.last
	at := implicit.SVMPoint{Free: s.Free, Dual: s.Dual, Bound: s.Bound, W: s.W, Predictions: s.Predictions}
	g, err := l.implicit.Solve(ctx, r.LogLambda[0], at, l.outer(), implicit.Options{Tol: systemTol(options.Tol, false)})
	if err != nil {
		return err
	}
	if g.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	l.Gradient = g.Gradient
	l.Derived = derivedFrom(&g.Hypergradient, time.Since(start))
	if l.certify && l.Derived.Status == outcome.Converged {
		c, err := l.implicit.Certify(ctx, r.LogLambda[0], at)
		l.Derived.SupportCertified = c.Support
		return err
	}
	return nil
}
