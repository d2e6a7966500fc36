// Package bilevel is the problem of choosing λ: minimise over λ a criterion of
// the solutions of inner problems, one for each fold.
//
// Every fold is a lane: a view of the shared design matrix with the fold's rows
// masked out, an inner solver that starts from its last solution, and a solver
// of the implicit system (lane.go; of another kind in svm.go and iterated.go). An evaluation solves all lanes at one λ, in parallel;
// predictions on held-out rows are a by-product of the certificates, so the
// criterion costs no extra pass. Values and gradients are summed in the order of the
// folds: results do not depend on the number of goroutines.
package bilevel

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Spec states a bilevel problem. Penalty is required, and Folds or Risk.
type Spec struct {
	Folds Folds
	// Risk, where set, judges on all rows; Folds, Forward, Datafit and Criterion are not
	// used then, and there are no Weights.
	Risk *Risk
	// Weights s of the rows, in the inner problems and in the criterion; nil: all 1. A
	// weight of k counts as k equal rows of the same fold.
	Weights []float64
	// Forward trains a fold on those of smaller ids alone: rows in the order of time.
	Forward bool
	// Penalty makes the inner penalty of a λ.
	Penalty func(logLambda []float64) (model.Penalty, error)
	// AlphaMax, where set, returns the least strength whose solution is the null model's,
	// for [Problem.LogLambdaMax].
	AlphaMax func(*model.Null) float64
	// Free, where set, weighs the ℓ1 strengths of Penalty, 0 where a column is unpenalised: it
	// is part of the null model then.
	Free []float64
	// Datafit makes the inner datafit of a view. nil means the squared loss.
	Datafit func(view *sparse.View, y []float64) (model.Datafit, error)
	// Criterion judges predictions on held-out rows. nil means the mean squared
	// error.
	Criterion criterion.Criterion
	// Intercept adds an unpenalised intercept to every inner problem.
	Intercept bool
	// Standardise makes columns of unit variance of every fold's training rows; see
	// [sparse.View.Standardised].
	Standardise bool
	// Times, where set, multiplies the columns after that; see [sparse.View.Rescaled].
	Times []float64
	// Solver bounds the inner problems. Its Tol is used where a request has none.
	Solver cd.Options
	// Certify asks gradients for a proof of the supports, at a pass over X and a
	// factorisation for each fold.
	Certify bool
	// Iterate, where set, differentiates the iterates of this method instead of the
	// solution; every evaluation starts cold, and makes the gradient asked for or not.
	Iterate *iterdiff.Method
	// Threads bounds the lanes solved at once. 0 means all processors.
	Threads int
	// Solved, where set, is told of inner problems as they end: how many are done of those
	// of an evaluation, or of a path, and the λ of the last. Calls are not concurrent.
	Solved func(done, of int, logLambda []float64)
}

// Problem is a bilevel problem ready to evaluate. It implements
// [search.Objective]; it is not safe for concurrent use, but any number of
// problems may share X and y.
type Problem struct {
	// Curvature asks for the curvature with gradients, where all columns share the λ's:
	// r·n numbers for each fold. It is nil of a criterion whose second derivatives are not known.
	Curvature bool
	// Keep makes lanes remember the solutions of every evaluation, sparse, for
	// [search.Request].From and [Problem.Mean].
	Keep bool

	spec  Spec
	lanes []lane
	share float64 // of a lane in the criterion
	null  search.Evaluation
}

// New prepares the lanes of a problem: O(n + p) memory for each fold. X has one row per
// entry of y; both are kept and must not change. The error is an [outcome.Error] about
// the spec or the data, as from [sparse.NewView] and the datafit, with the fold.
func New(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec) (*Problem, error) {
	if spec.Penalty == nil {
		return nil, outcome.At(outcome.BadParameter, "penalty", "missing")
	}
	if spec.Risk != nil {
		return newRisk(k, x, y, spec)
	}
	if spec.Datafit == nil {
		spec.Datafit = func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewSquared(view, y) }
	}
	n, _ := x.Dims()
	if err := spec.Check(n); err != nil {
		return nil, err
	}
	if spec.Criterion == nil {
		spec.Criterion = criterion.MeanSquaredError{}
	}
	return newProblem(spec, spec.Folds.Count(), func(fold int) (lane, error) {
		weights, rows := spec.Split(fold)
		view, err := spec.view(k, x, weights)
		if err != nil {
			return nil, err
		}
		fit, err := spec.Datafit(view, y)
		if err != nil {
			return nil, err
		}
		return newLane(spec, fit, newJudged(&spec, y, rows))
	})
}

// view returns the view of the rows with the given weights.
func (s *Spec) view(k *kernels.Set, x sparse.Matrix, weights []float64) (*sparse.View, error) {
	view, err := sparse.NewView(k, x, weights, s.Intercept)
	if err == nil && s.Standardise {
		view = view.Standardised()
	}
	if err == nil && s.Times != nil {
		view, err = view.Rescaled(s.Times)
	}
	return view, err
}

// newProblem makes the lanes: one for every fold, or those of a risk, which add up.
func newProblem(spec Spec, lanes int, newLane func(at int) (lane, error)) (*Problem, error) {
	if spec.Threads <= 0 {
		spec.Threads = runtime.GOMAXPROCS(0)
	}
	p := &Problem{spec: spec, lanes: slices.Repeat([]lane{nil}, lanes), share: 1 / float64(lanes)}
	if spec.Risk != nil {
		p.share = 1
	}
	var group errgroup.Group
	group.SetLimit(spec.Threads)
	for at := range p.lanes {
		group.Go(func() (err error) {
			if p.lanes[at], err = newLane(at); err != nil && spec.Risk == nil {
				err = outcome.In(fmt.Sprintf("fold %d", at), err)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var values []float64
	for _, l := range p.lanes {
		j := l.result()
		p.null.Value += float64(p.share * j.null)
		values = append(values, j.null)
		p.null.StandardError = j.nullError
	}
	if spec.Risk != nil {
		p.null.StandardError = 0
	} else if len(values) > 1 {
		p.null.StandardError = standardError(values, p.null.Value)
	}
	p.null.TrainLoss, p.null.Trusted, p.null.Status = 1, true, outcome.Converged
	return p, nil
}

// NullValue returns the criterion of the null model.
func (p *Problem) NullValue() float64 { return p.null.Value }

// Null returns the evaluation of the null model, which predicts the intercept of the
// training rows alone; it has no λ.
func (p *Problem) Null() search.Evaluation { return p.null }

// LogLambdaMax returns the largest ln αmax of the inner problems, from where on all are
// their null models; −Inf where no column matters, or without [Spec].AlphaMax.
func (p *Problem) LogLambdaMax() float64 {
	top := math.Inf(-1)
	for _, l := range p.lanes {
		top = max(top, l.result().top)
	}
	return top
}

// Eval implements [search.Objective].
func (p *Problem) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	return evalOnSide(ctx, p, r)
}

// Evaluate solves every lane at r.LogLambda, each from its last solution, and
// returns the criterion, the mean over folds, and its hypergradient. When ctx
// ends before all lanes are done it returns ctx's error; others are about λ, or of kind
// Limit. The report is the caller's.
func (p *Problem) Evaluate(ctx context.Context, r search.Request) (Report, error) {
	start := time.Now()
	options := p.spec.Solver
	if r.Tol != 0 {
		options.Tol = r.Tol
	}
	for _, l := range p.lanes {
		if one, ok := l.(*penalised); ok {
			one.bends = p.Curvature
		}
		if r.From != nil {
			l.recall(r.From)
		}
	}
	if err := p.run(ctx, r, options); err != nil {
		return Report{}, err
	}
	if p.Keep {
		for _, l := range p.lanes {
			l.keep(r.LogLambda)
		}
	}
	report := p.collect(r, func(i int) *judged { return p.lanes[i].result() })
	if p.Curvature && !r.ValueOnly {
		report.Curvature = p.bend(len(r.LogLambda))
	}
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// tally returns what each of a number of inner problems calls when it ends.
func (s *Spec) tally(of int) func(logLambda []float64) {
	if s.Solved == nil {
		return func([]float64) {}
	}
	var mu sync.Mutex
	done := 0
	return func(logLambda []float64) {
		mu.Lock()
		defer mu.Unlock()
		done++
		s.Solved(done, of, logLambda)
	}
}

// run solves and differentiates every lane. Gradients are tasks of their own, begun
// when all solutions have been: threads that are done with those share what is left.
func (p *Problem) run(ctx context.Context, r search.Request, options cd.Options) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(p.spec.Threads)
	tell := p.spec.tally(len(p.lanes))
	ended, solved := make([]chan struct{}, len(p.lanes)), make([]bool, len(p.lanes))
	for i, l := range p.lanes {
		ended[i] = make(chan struct{})
		group.Go(func() error {
			defer close(ended[i])
			err := l.solve(inner, r.LogLambda, options)
			solved[i] = err == nil
			tell(r.LogLambda)
			return err
		})
	}
	for i, l := range p.lanes {
		if r.ValueOnly {
			break
		}
		group.Go(func() error {
			if <-ended[i]; !solved[i] {
				return nil
			}
			return l.differentiate(inner, r.LogLambda, options)
		})
	}
	return group.Wait()
}

// collect folds the lanes' results together, in order.
func (p *Problem) collect(r search.Request, result func(lane int) *judged) Report {
	report := newReport(r, len(r.LogLambda))
	for i := range p.lanes {
		l := result(i)
		if p.spec.Risk == nil {
			report.FoldValues = append(report.FoldValues, l.value)
		}
		report.Value += float64(p.share * l.value)
		if len(l.test) > 0 {
			report.addTest(l.tested, p.share)
		}
		report.addSolution(l.solved)
		if !r.ValueOnly {
			report.addGradient(l.derived, p.share)
			scatter(l.gradient, l.columns, p.share, report.Gradient)
		}
	}
	report.finish(len(p.lanes))
	switch {
	case p.spec.Risk != nil:
	case len(p.lanes) == 1:
		report.StandardError = result(0).valueError
	default:
		report.StandardError = standardError(report.FoldValues, report.Value)
	}
	return report
}

// KeepSolutions makes lanes remember the solutions of every evaluation, see
// [Problem.Keep].
func (p *Problem) KeepSolutions() { p.Keep = true }

// AskCurvature asks for second derivatives, see [Problem.Curvature].
func (p *Problem) AskCurvature() { p.Curvature = true }
