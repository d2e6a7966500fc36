// Package bilevel is the problem of choosing λ: minimise over λ a criterion of
// the solutions of inner problems, one for each fold.
//
// Every fold is a lane: a view of the shared design matrix with the fold's rows
// masked out, an inner solver that starts from its last solution, and a solver
// of the implicit system. An evaluation solves all lanes at one λ, in parallel;
// predictions on held-out rows are a by-product of the certificates, so the
// criterion costs no extra pass. Values and gradients are summed in the order of the
// folds: results do not depend on the number of goroutines.
package bilevel

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Spec states a bilevel problem. Folds and Penalty are required.
type Spec struct {
	Folds Folds
	// Penalty makes the inner penalty of a λ.
	Penalty func(logLambda []float64) (model.Penalty, error)
	// Datafit makes the inner datafit of a view. nil means the squared loss.
	Datafit func(view *sparse.View, y []float64) (model.Datafit, error)
	// Criterion judges predictions on held-out rows. nil means the mean squared
	// error.
	Criterion criterion.Criterion
	// Intercept adds an unpenalised intercept to every inner problem.
	Intercept bool
	// Solver bounds the inner problems. Its Tol is used where a request has none.
	Solver cd.Options
	// Certify asks gradients for a proof of the supports, at a pass over X and a
	// factorisation for each fold.
	Certify bool
	// Threads bounds the lanes solved at once. 0 means all processors.
	Threads int
}

// Problem is a bilevel problem ready to evaluate. It implements
// [search.Objective]; it is not safe for concurrent use, but any number of
// problems may share X and y.
type Problem struct {
	spec  Spec
	lanes []*lane
	null  float64
}

// New prepares the lanes of a problem: O(n + p) memory for each fold.
func New(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec) (*Problem, error) {
	n, _ := x.Dims()
	if err := spec.Folds.check(n); err != nil {
		return nil, err
	}
	if spec.Penalty == nil {
		return nil, outcome.At(outcome.BadParameter, "penalty", "missing")
	}
	if spec.Criterion == nil {
		spec.Criterion = criterion.MeanSquaredError{}
	}
	if spec.Datafit == nil {
		spec.Datafit = func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewSquared(view, y) }
	}
	if spec.Threads <= 0 {
		spec.Threads = runtime.GOMAXPROCS(0)
	}
	p := &Problem{spec: spec, lanes: make([]*lane, spec.Folds.Count())}
	var group errgroup.Group
	group.SetLimit(spec.Threads)
	for fold := range p.lanes {
		group.Go(func() (err error) {
			p.lanes[fold], err = newLane(k, x, y, spec, fold)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, l := range p.lanes {
		p.null += l.null
	}
	p.null /= float64(len(p.lanes))
	return p, nil
}

// NullValue returns the criterion of the null model: the mean over folds of the
// loss of predicting the training rows' intercept alone.
func (p *Problem) NullValue() float64 { return p.null }

// Eval implements [search.Objective].
func (p *Problem) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	report, err := p.Evaluate(ctx, r)
	return report.Evaluation, err
}

// Evaluate solves every lane at r.LogLambda, each from its last solution, and
// returns the mean over folds of the criterion and its hypergradient. When ctx
// ends before all lanes are done it returns ctx's error.
func (p *Problem) Evaluate(ctx context.Context, r search.Request) (Report, error) {
	start := time.Now()
	penalty, err := p.spec.Penalty(r.LogLambda)
	if err != nil {
		return Report{}, err
	}
	options := p.spec.Solver
	if r.Tol != 0 {
		options.Tol = r.Tol
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(p.spec.Threads)
	for _, l := range p.lanes {
		group.Go(func() error { return l.evaluate(inner, penalty, options, !r.ValueOnly) })
	}
	if err := group.Wait(); err != nil {
		return Report{}, err
	}
	report := p.collect(penalty, r)
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// collect folds the lanes' results together, in order.
func (p *Problem) collect(penalty model.Penalty, r search.Request) Report {
	report := newReport(r, penalty.Hyperparameters())
	share := 1 / float64(len(p.lanes))
	for _, l := range p.lanes {
		report.FoldValues = append(report.FoldValues, l.value)
		report.Value += float64(share * l.value)
		report.addSolution(l.solved)
		if !r.ValueOnly {
			report.addGradient(l.derived, share)
			scatter(l.gradient, l.columns, l.weighted, share, report.Gradient)
		}
	}
	report.finish(len(p.lanes))
	return report
}

// lane is the inner problem of one fold.
type lane struct {
	criterion criterion.Criterion
	y         []float64
	rows      []int32 // validation rows
	solver    *cd.Solver
	implicit  *implicit.Solver

	slope, curvature []float64 // n, written at rows only

	value, null float64
	columns     []int32 // support, for weighted penalties
	gradient    *implicit.Hypergradient
	weighted    bool
	certify     bool
	solved      solved
	derived     derived
}

func newLane(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec, fold int) (*lane, error) {
	n, _ := x.Dims()
	weights, rows := split(spec.Folds, fold)
	l := &lane{criterion: spec.Criterion, y: y, rows: rows, certify: spec.Certify}
	view, err := sparse.NewView(k, x, weights, spec.Intercept)
	if err != nil {
		return nil, err
	}
	fit, err := spec.Datafit(view, y)
	if err != nil {
		return nil, fmt.Errorf("fold %d: %w", fold, err)
	}
	l.solver, l.implicit = cd.New(fit), implicit.New(fit)
	l.slope, l.curvature = make([]float64, n), make([]float64, n)
	null := model.NewState(n)
	fit.Fit(nil, nil, null)
	l.null = l.criterion.Eval(l.rows, y, null.Prediction, nil, nil)
	return l, nil
}

// sharp is the tolerance from which on a caller wants the criterion, not only the
// inner objective, to many digits.
const sharp = 1e-9

func sharpen(o cd.Options) cd.Options {
	o.Polish = o.Polish || (o.Tol > 0 && o.Tol <= sharp)
	return o
}

func (l *lane) evaluate(ctx context.Context, penalty model.Penalty, options cd.Options, gradient bool) error {
	start := time.Now()
	solution, err := l.solver.Solve(ctx, penalty, sharpen(options))
	if err != nil {
		return err
	}
	if solution.Status == outcome.Cancelled {
		return ctx.Err()
	}
	l.value = l.criterion.Eval(l.rows, l.y, solution.Prediction, l.slope, l.curvature)
	l.solved = summarise(solution, time.Since(start))
	if !gradient {
		return nil
	}
	start = time.Now()
	l.columns, l.weighted = solution.Support, penalty.Columns() >= 0
	l.gradient, err = l.implicit.Solve(ctx, penalty,
		implicit.Point{Support: solution.Support, Coef: solution.Coef, KKT: solution.KKT},
		implicit.Outer{Slope: l.slope, Curvature: l.curvature},
		implicit.Options{Tol: systemTol(options.Tol)})
	if err != nil {
		return err
	}
	if l.gradient.Status == outcome.Cancelled {
		return ctx.Err()
	}
	l.derived = differentiated(l.gradient, time.Since(start))
	if l.certify && l.derived.status == outcome.Converged {
		return l.prove(ctx, penalty, solution)
	}
	return nil
}

// edge is the dual margin up to which a column counts as about to enter.
const edge = 1e-10

// prove certifies the lane's support, and withdraws the trust in a gradient that
// the theorem does not cover.
func (l *lane) prove(ctx context.Context, penalty model.Penalty, solution *cd.Solution) error {
	c, err := l.implicit.Certify(ctx, penalty, implicit.Point{Support: solution.Support, Coef: solution.Coef})
	if err != nil {
		return err
	}
	l.derived.certified = c.Support
	switch {
	case c.DualMargin > edge || c.Support:
	case c.Dependent:
		l.derived.status = outcome.NotUnique
	default:
		l.derived.status = outcome.NotDifferentiable
	}
	return nil
}

// systemTol ties the tolerance of the linear system to that of the inner
// problem: β is known to about √gap, and the system a little better than that.
func systemTol(gap float64) float64 {
	if gap == 0 {
		return 0
	}
	return min(1e-3, 0.01*math.Sqrt(gap))
}
