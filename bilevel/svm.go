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
// without intercept, judged by the smoothed hinge unless the spec has another
// criterion. samples is the transpose of the design matrix, which the folds share;
// labels are ±1, and every fold must train on both. Penalty, Datafit and Intercept of
// the spec are not used.
func NewSVM(k *kernels.Set, samples sparse.Matrix, y []float64, spec Spec) (*Problem, error) {
	_, n := samples.Dims()
	if err := spec.Check(n); err != nil {
		return nil, err
	}
	if spec.Criterion == nil {
		spec.Criterion = criterion.Of(loss.SmoothedHinge{})
	}
	return newProblem(spec, spec.Folds.Count(), func(fold int) (lane, error) {
		weights, rows := spec.Split(fold)
		fit, err := model.NewSVM(k, samples, y, weights)
		if err != nil {
			return nil, err
		}
		j := newJudged(&spec, y, rows)
		if err := j.judgeNull(make([]float64, n)); err != nil {
			return nil, err
		}
		if spec.Iterate != nil {
			l := &iterated{judged: j, method: *spec.Iterate}
			solver := iterdiff.NewSVM(fit)
			l.iterate = func(ctx context.Context, logLambda []float64, o iterdiff.Options) (*iterdiff.Result, error) {
				return solver.Solve(ctx, logLambda[0], l.slopes, o)
			}
			return l, nil
		}
		return &machine{judged: j, fit: fit, solver: cd.NewSVM(fit), implicit: implicit.NewSVM(fit), certify: spec.Certify}, nil
	})
}

// machine is the lane of an SVM.
type machine struct {
	judged
	fit      *model.SVM
	solver   *cd.SVM
	implicit *implicit.SVM
	certify  bool
	last     *cd.SVMSolution
}

func (l *machine) solve(ctx context.Context, logLambda []float64, options cd.Options) error {
	start := time.Now()
	s, err := l.solver.Solve(ctx, logLambda[0], sharpen(options))
	if err != nil {
		return err
	}
	if s.Status == outcome.Cancelled {
		return ctx.Err()
	}
	l.last = s
	if err := l.judge(s.Predictions); err != nil {
		return err
	}
	l.solved = solved{
		Certificate: s.Certificate, Effort: s.Effort, support: len(s.Free),
		status: s.Status, seconds: time.Since(start).Seconds(), work: s.Work, train: s.Primal / l.fit.Null(s.C),
	}
	return nil
}

func (l *machine) differentiate(ctx context.Context, logLambda []float64, options cd.Options) error {
	start, s := time.Now(), l.last
	at := implicit.SVMPoint{Free: s.Free, Dual: s.Dual, Bound: s.Bound, W: s.W, Predictions: s.Predictions}
	g, err := l.implicit.Solve(ctx, logLambda[0], at, l.outer(), implicit.Options{Tol: systemTol(options.Tol)})
	if err != nil {
		return err
	}
	if g.Status == outcome.Cancelled {
		return ctx.Err()
	}
	l.gradient = g.Gradient
	l.derived = differentiated(&g.Hypergradient, time.Since(start))
	if l.certify && l.derived.status == outcome.Converged {
		c, err := l.implicit.Certify(ctx, logLambda[0], at)
		l.derived.certified = c.Support
		return err
	}
	return nil
}
