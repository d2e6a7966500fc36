// Package bilevel states the problem of choosing λ: minimise over λ a criterion of
// the solutions of inner problems, one for each fold.
//
// Every fold is a lane: a view of the shared design matrix with the fold's rows
// masked out, an inner solver that starts from its last solution, and a solver
// of the implicit system (lane.go; other kinds of lane are in blocks.go, svm.go, vectors.go and
// iterated.go, the lane of a class in classlane.go). An evaluation sends a request at one λ to every
// lane through a [Runner], whose lanes may be in this process or in another (lanes.go); lanes of this
// process work in parallel (local.go). Predictions on held-out rows are a by-product of the
// certificates, so the criterion costs no extra pass. Values and gradients are summed in the order of
// the folds: results do not depend on the number of goroutines.
package bilevel

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/arena"
	"github.com/seed-45b9a24c/pare/internal/team"
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
	// Risk, where set, is a criterion on all rows; Folds, Forward, Datafit and Criterion are then
	// not used, and Weights must be nil.
	Risk *Risk
	// Weights s of the rows, in the inner problems and in the criterion; nil: all 1. A
	// weight of k counts as k equal rows of the same fold.
	Weights []float64
	// Training, where set, changes in place the weights of the rows that a fold trains on; the weights
	// of all other rows are 0. This affects the inner problem only, not the criterion.
	Training func(k *kernels.Set, weights []float64)
	// Forward trains a fold only on folds with smaller ids, for rows in the order of time.
	Forward bool
	// Penalty returns the inner penalty at a given λ.
	Penalty func(logLambda []float64) (model.Penalty, error)
	// Blocked, where set, is used instead of Penalty.
	Blocked *Blocked
	// AlphaMax, where set, returns the smallest strength whose solution is the null model,
	// for [Problem.LogLambdaMax].
	AlphaMax func(*model.Null) float64
	// Given says that the criterion is evaluated at given λ only, without a search: it is not evaluated
	// for the null model, and the value of [Problem.Null] is NaN.
	Given bool
	// Free, where set, has the factors of the columns' ℓ1 strengths in Penalty. A column whose factor is 0
	// is unpenalised and part of the null model.
	Free []float64
	// Box, where set, bounds the coefficients, in units of the matrix's columns.
	Box *model.Box
	// Datafit returns the inner datafit of a view. nil means the squared loss.
	Datafit func(view *sparse.View, y []float64) (model.Datafit, error)
	// batches, where set, has the batch of each row of a hold-out on condensed rows, see [Spec.inBatches].
	batches Folds
	// Criterion judges predictions on held-out rows. nil means the mean squared
	// error.
	Criterion criterion.Criterion
	// Intercept adds an unpenalised intercept to every inner problem.
	Intercept bool
	// Standardise scales columns to unit variance on each fold's training rows; see
	// [sparse.View.Standardised].
	Standardise bool
	// Times, where set, multiplies the columns after Standardise; see [sparse.View.Rescaled].
	Times []float64
	// Solver has the options of the inner solvers. Its Tol is used where a request has none.
	Solver cd.Options
	// Certify asks gradients for a proof of the supports, at a pass over X and a
	// factorisation for each fold.
	Certify bool
	// Iterate, where set, differentiates the iterates of this method instead of the
	// solution. Every evaluation then starts cold, and computes the gradient even if it is not asked for.
	Iterate *iterdiff.Method
	// Threads bounds the number of threads at work at once: on different lanes or, where there are fewer
	// lanes than threads, within lanes. 0 means all processors.
	Threads int
	// Among, where set, has the Threads threads of a call, which lanes share with the call's other work.
	Among *team.Threads
	// AtOnce, where positive, bounds the number of lanes that hold more than their coefficients in memory
	// at a time. A lane releases the rest after each answer, so that its next solve begins with a new
	// solver, which changes the last bits. Lanes of classes hold little memory and are not affected.
	AtOnce int
	// Memory is where vectors that are not used after the call are allocated; nil means the heap.
	Memory *arena.Arena
	// Solved, where set, is called each time an inner problem ends: with the number done so far, the number
	// of inner problems of the evaluation or path, and the λ of this one. Calls are not concurrent.
	Solved func(done, of int, logLambda []float64)
}

// withThreads resolves the number of threads, and makes the threads that lanes share unless Among is set.
func (s *Spec) withThreads() {
	s.Threads = team.Count(s.Threads)
	if s.Among == nil {
		s.Among = team.NewThreads(s.Threads, nil)
	}
}

// Problem is a bilevel problem ready to evaluate. It implements
// [search.Objective]; it is not safe for concurrent use, but any number of
// problems may share X and y.
type Problem struct {
	// Curvature asks for the curvature with every gradient, where all columns share the λ's, at
	// r·n numbers for each fold. The curvature is nil if the criterion's second derivatives are not known.
	Curvature bool
	// Keep makes lanes keep the solution of every evaluation, as a sparse vector, for
	// [search.Request].From and [Problem.Mean].
	Keep bool

	spec        Spec
	runner      Runner
	onExpected  func(ctx context.Context, logLambda []float64) // see OnExpected; nil: none
	lanes       int
	kept        points
	start       startPoint
	laneWeight  float64 // the weight of each lane in the criterion
	null        search.Evaluation
	memory      memory
	logAlphaMax float64 // the largest ln αmax of the lanes

	straight float64 // the smallest of the lanes' [model.SVM.Straight], a value of C
}

// New prepares the lanes of a problem: O(n + p) memory for each fold. X has one row per
// entry of y; both are kept and must not change. The error is an [outcome.Error] about
// the spec or the data, as from [sparse.NewView] and the datafit, and names the fold.
func New(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec) (*Problem, error) {
	lanes, err := NewLanes(k, x, y, spec)
	if err != nil {
		return nil, err
	}
	return NewOver(context.Background(), lanes, spec)
}

// NewLanes prepares the lanes of the problem that [New] returns.
func NewLanes(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec) (*Lanes, error) {
	if spec.Penalty == nil && spec.Blocked == nil {
		return nil, outcome.At(outcome.BadParameter, "penalty", "missing")
	}
	if spec.Risk != nil {
		return newRisk(k, x, y, spec)
	}
	spec.withThreads()
	n, p := x.Dims()
	if err := spec.Check(k, n); err != nil {
		return nil, err
	}
	if spec.Criterion == nil {
		spec.Criterion = criterion.MeanSquaredError{}
	}
	if spec.Blocked != nil {
		return newBlockLanes(k, x, y, spec)
	}
	spec.reuseMemory(n)
	return newLanes(spec, spec.Folds.Count(k), 0, p, func(id LaneID) (lane, error) {
		weights, rows := spec.Split(k, id.Fold)
		view, err := spec.View(k, x, weights)
		spec.Memory.Free(weights)
		if err != nil {
			return nil, err
		}
		fit, err := spec.datafit(view, y)
		if err != nil {
			return nil, err
		}
		return newLane(spec, fit, newFoldCriterion(k, &spec, y, rows))
	}), nil
}

// datafit returns the inner datafit of a view.
func (s *Spec) datafit(view *sparse.View, y []float64) (model.Datafit, error) {
	if s.Datafit == nil {
		return model.NewSquared(view, y)
	}
	return s.Datafit(view, y)
}

// View returns the view of x with the given row weights, nil for all 1, as the spec centres and scales it.
func (s *Spec) View(k *kernels.Set, x sparse.Matrix, weights []float64) (*sparse.View, error) {
	view, err := sparse.NewView(k, x, weights, s.Intercept)
	if err == nil && s.Standardise {
		view = view.Standardised()
	}
	if err == nil && s.Times != nil {
		view, err = view.Rescaled(s.Times)
	}
	if err == nil && s.Among != nil {
		view = view.With(s.Among.Team())
	}
	if err == nil {
		view = view.Within(s.Memory)
	}
	return view, err
}

// NewOver returns a problem over existing lanes, which were prepared for the same spec. The error is
// that of a lane that cannot be made, or of ctx.
func NewOver(ctx context.Context, runner Runner, spec Spec) (p *Problem, err error) {
	defer outcome.Caught(&err)
	p = &Problem{spec: spec, runner: runner, lanes: 2, laneWeight: 1, logAlphaMax: math.Inf(-1), straight: math.Inf(1)}
	if spec.Risk == nil {
		p.lanes = spec.Folds.Count((*kernels.Set)(nil).Until(ctx))
		p.laneWeight = 1 / float64(p.lanes)
	}
	results, err := runner.Run(ctx, p.toAllLanes(LaneRequest{Ask: AskNull}), nil)
	if err != nil {
		return nil, err
	}
	var values []float64
	for _, l := range results {
		p.null.Value += float64(p.laneWeight * l.Null)
		values = append(values, l.Null)
		p.null.StandardError += l.NullError
		p.logAlphaMax = max(p.logAlphaMax, l.Top)
		p.straight = min(p.straight, l.Straight)
	}
	if spec.Risk == nil && len(values) > 1 {
		p.null.StandardError = standardError(values, p.null.Value)
	}
	p.null.TrainLoss, p.null.Trusted, p.null.Status = 1, true, outcome.Converged
	return p, nil
}

// toAllLanes returns the request r addressed to every lane, in the order of the folds.
func (p *Problem) toAllLanes(r LaneRequest) []LaneRequest {
	requests := slices.Repeat([]LaneRequest{r}, p.lanes)
	for fold := range requests {
		requests[fold].Lane.Fold = fold
	}
	return requests
}

// NullValue returns the criterion of the null model.
func (p *Problem) NullValue() float64 { return p.null.Value }

// Null returns the evaluation of the null model, which is fitted to the training rows; it has no λ.
func (p *Problem) Null() search.Evaluation { return p.null }

// LogLambdaMax returns the largest ln αmax of the inner problems: from there on, every solution is
// its null model. It is −Inf where no column matters, or without [Spec].AlphaMax.
func (p *Problem) LogLambdaMax() float64 { return p.logAlphaMax }

// Excess returns the largest difference between LogLambdaMax and an entry of top, which has one entry
// per hyperparameter; −Inf where no column matters, or without [Spec].AlphaMax.
func (p *Problem) Excess(top []float64) float64 {
	excess := math.Inf(-1)
	for _, l := range top {
		if e := p.logAlphaMax - l; e > excess {
			excess = e
		}
	}
	return excess
}

// LogStraight returns ln of the largest C up to which the predictions of an SVM are proportional to C in
// all lanes; it is infinite where there is no such C, and for other models.
func (p *Problem) LogStraight() float64 { return kernels.Log(p.straight) }

// Eval implements [search.Objective].
func (p *Problem) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	return evalOnSide(ctx, p, r)
}

// Evaluate solves every lane at r.LogLambda, each from its last solution, and
// returns the criterion, which is the mean over folds, and its hypergradient. When ctx
// ends before all lanes are done it returns ctx's error; other errors are about λ, or of kind
// Limit. The report belongs to the caller.
func (p *Problem) Evaluate(ctx context.Context, r search.Request) (_ Report, err error) {
	defer outcome.Caught(&err)
	start := time.Now()
	if r.Expected && p.onExpected != nil {
		p.onExpected(ctx, r.LogLambda)
	}
	request := LaneRequest{
		Ask: AskSolve, LogLambda: r.LogLambda, Tol: r.Tol, ValueOnly: r.ValueOnly, Rough: r.Rough && p.spec.Risk == nil, Curvature: p.Curvature && !r.ValueOnly,
		Anew: p.solvesAnew(),
	}
	if r.From != nil {
		request.From = p.kept.number(r.From)
	}
	if p.Keep {
		request.Keep = p.kept.nextNumber(r.LogLambda)
	}
	requests := p.toAllLanes(request)
	p.start.setOn(requests)
	results, err := p.runner.Run(ctx, requests, p.spec.progressCounter(p.lanes)(r.LogLambda))
	if err != nil {
		return Report{}, err
	}
	if p.Keep {
		p.kept.add(r.LogLambda)
	}
	report := p.collect(r, results)
	if request.Curvature {
		report.Curvature = p.curvature(len(r.LogLambda), results)
	}
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// progressCounter returns a function that, given λ, returns the callback for inner problems at λ to call when
// they end. The callback counts them and calls Solved, with of as the total; it is nil if Solved is nil.
func (s *Spec) progressCounter(of int) func(logLambda []float64) func() {
	if s.Solved == nil {
		return func([]float64) func() { return nil }
	}
	var mu sync.Mutex
	done := 0
	return func(logLambda []float64) func() {
		return func() {
			mu.Lock()
			defer mu.Unlock()
			done++
			s.Solved(done, of, logLambda)
		}
	}
}

// collect adds up the results of the lanes, in order, into a report.
func (p *Problem) collect(r search.Request, results []LaneResult) Report {
	report := newReport(r, len(r.LogLambda))
	for i := range results {
		l := &results[i]
		if p.spec.Risk == nil {
			report.FoldValues = append(report.FoldValues, l.Value)
		}
		report.Value += float64(p.laneWeight * l.Value)
		if l.Tested {
			report.addTest(l.Test, p.laneWeight)
		}
		report.addSolution(&l.Solved)
		if !r.ValueOnly {
			report.ErrorBound += float64(p.laneWeight * l.Derived.ErrorBound)
			report.addGradient(&l.Derived)
			scatter(l.Gradient, l.Columns, p.laneWeight, report.Gradient)
			report.addShape(l.Shape, p.laneWeight)
		}
	}
	report.finish(p.lanes)
	switch {
	case p.spec.Risk != nil || p.lanes == 1:
		report.StandardError = results[0].ValueError
	default:
		report.StandardError = standardError(report.FoldValues, report.Value)
	}
	return report
}

// KeepSolutions makes lanes keep the solution of every evaluation, see [Problem.Keep].
func (p *Problem) KeepSolutions() { p.Keep = true }

// OnExpected makes Evaluate call f before it solves at a λ where the search expects to end.
func (p *Problem) OnExpected(f func(ctx context.Context, logLambda []float64)) { p.onExpected = f }

// AskCurvature asks for second derivatives, see [Problem.Curvature].
func (p *Problem) AskCurvature() { p.Curvature = true }
