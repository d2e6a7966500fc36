package bilevel

import (
	"context"
	"math"
	"runtime/debug"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// foldCriterion holds the held-out rows of a fold, the criterion on them, and the result
// of the last evaluation.
type foldCriterion struct {
	k         *kernels.Set
	criterion criterion.Criterion
	name      string // of the criterion
	y         []float64
	weights   []float64 // nil: all 1
	rows      []int32
	test      []int32 // rows that neither train nor validate
	failure   error   // why the criterion did not return: it panicked or ended its goroutine
	foreign   bool    // the criterion runs code of the caller, which may do so

	slope, curvature []float64 // n, set on rows only
	prediction       []float64 // n, belongs to the solver

	batches [][]int32 // the rows of each batch, see [Spec.inBatches]
	given   bool      // see [Spec].Given
	LaneResult
}

func newFoldCriterion(k *kernels.Set, spec *Spec, y []float64, rows []int32) foldCriterion {
	c := spec.Criterion
	if spec.Weights != nil {
		c = criterion.Weighted{Criterion: c, Weights: spec.Weights}
	}
	return foldCriterion{
		k: k, criterion: c, name: c.Name(), foreign: criterion.Foreign(c), y: y, weights: spec.Weights, rows: rows, test: spec.testRows(k), LaneResult: LaneResult{Top: math.Inf(-1)},
		batches: byBatch(k, spec.inBatches(k), rows), given: spec.Given,
		slope: spec.Memory.Floats(k, len(y)), curvature: spec.Memory.Floats(k, len(y)),
	}
}

func (j *foldCriterion) result() *LaneResult { return &j.LaneResult }

// evaluate sets the value of the criterion for the predictions, and its slope and curvature.
func (j *foldCriterion) evaluate(prediction []float64) error {
	j.prediction = prediction
	j.Value = j.loss(j.rows, prediction, j.slope)
	j.ValueError = j.valueError(j.Value, prediction)
	if j.Tested = len(j.test) > 0; j.Tested {
		j.Test = j.loss(j.test, prediction, nil)
	}
	return j.failure
}

// loss evaluates the criterion, which may run the caller's code. If that panics or calls
// runtime.Goexit, loss sets failure to the error and returns NaN.
func (j *foldCriterion) loss(rows []int32, prediction, slope []float64) float64 {
	curvature := j.curvature
	if slope == nil {
		curvature = nil
	}
	return j.callCriterion(rows, prediction, slope, curvature)
}

// callCriterion calls the criterion, a foreign one on a goroutine of its own, which the criterion may end.
func (j *foldCriterion) callCriterion(rows []int32, prediction, slope, curvature []float64) float64 {
	if !j.foreign {
		return criterion.Eval(j.k, j.criterion, rows, j.y, prediction, slope, curvature)
	}
	var ctxErr error // set if the context has ended
	value, returned, ended := math.NaN(), false, make(chan struct{})
	broke := func(how string, cause error) {
		j.failure = &outcome.Error{Kind: outcome.Internal, Message: "the criterion " + j.name + " " + how, Err: cause}
	}
	go func() {
		defer close(ended)
		defer func() {
			switch cause := recover(); {
			case cause != nil:
				broke("panicked", &outcome.PanicError{Value: cause, Stack: debug.Stack()})
			case !returned && ctxErr == nil:
				broke("ended its goroutine (runtime.Goexit) instead of returning a value", nil)
			}
		}()
		defer kernels.Caught(&ctxErr)
		value = criterion.Eval(j.k, j.criterion, rows, j.y, prediction, slope, curvature)
		returned = true
	}()
	if <-ended; ctxErr != nil {
		j.k.Look() // panics with it on this goroutine
	}
	return value
}

// evaluateNull sets the criterion's value for the predictions of the null model, NaN if [Spec].Given is set.
func (j *foldCriterion) evaluateNull(prediction []float64) error {
	if j.given {
		j.Null = math.NaN()
		return nil
	}
	j.Null = j.loss(j.rows, prediction, nil)
	j.NullError = j.valueError(j.Null, prediction)
	return j.failure
}

// outer returns the derivatives of the criterion at the predictions of the last call of evaluate.
func (j *foldCriterion) outer() implicit.Outer {
	outer := implicit.Outer{Slope: j.slope, Curvature: j.curvature, Blind: !criterion.Curved(j.criterion)}
	if !outer.Blind && !criterion.Quadratic(j.criterion) {
		outer.CurvatureWithin = j.curvatureWithin
	}
	return outer
}

const (
	slightGrowth = 1e-6 // the relative growth of second derivatives that first-order bounds leave room for
	mostGrowth   = 2    // the largest exponent for which growth is bounded by self-concordance
	shortReach   = 0.25 // below it, no interval of curvature fits between the prediction and an end of the reach
)

// curvatureWithin is [implicit.Outer].CurvatureWithin. It bounds the curvature by the self-concordance of the
// criterion, or by the places where its curvature jumps. Else it takes the largest curvature at the prediction, at
// both ends of the reach, and at the points within reach that are closest to 0 and to y/2, where the curvature of
// criteria for classes is largest.
func (j *foldCriterion) curvatureWithin(reach float64) []float64 {
	concordance, ok := criterion.Concordance(j.criterion)
	growth := float64(concordance * reach)
	if ok && growth < slightGrowth {
		return j.curvature
	}
	out, pace := j.k.Clone(j.curvature), j.k.Pace()
	if ok && growth < mostGrowth {
		growth = kernels.Exp(growth)
		for _, i := range j.rows {
			pace.Did(1)
			out[i] *= growth
		}
		return out
	}
	if !(reach < math.MaxFloat64) {
		for _, i := range j.rows {
			pace.Did(1)
			out[i] = math.Inf(1)
		}
		return out
	}
	if !j.foreign && criterion.CurvatureWithin(j.k, j.criterion, j.rows, j.y, j.prediction, reach, out) {
		return out
	}
	at, slope, curvature := make([]float64, len(out)), make([]float64, len(out)), make([]float64, len(out))
	places := []func(y, m float64) float64{
		func(_, m float64) float64 { return m - reach },
		func(_, m float64) float64 { return m + reach },
		func(_, m float64) float64 { return min(max(0, m-reach), m+reach) },
		func(y, m float64) float64 { return min(max(0.5*y, m-reach), m+reach) },
	}
	if reach < shortReach {
		places = places[:2]
	}
	for _, place := range places {
		for _, i := range j.rows {
			pace.Did(1)
			at[i] = place(j.y[i], j.prediction[i])
		}
		j.callCriterion(j.rows, at, slope, curvature)
		for _, i := range j.rows {
			pace.Did(1)
			out[i] = max(out[i], curvature[i])
		}
	}
	return out
}

// penalisedLane is the lane of a datafit with a [model.Penalty].
type penalisedLane struct {
	foldCriterion
	penalty       func([]float64) (model.Penalty, error)
	solver        *cd.Solver
	implicit      *implicit.Solver
	certify       bool
	lastPenalty   model.Penalty // the penalty of the last solution
	last          *cd.Solution
	correlations  []float64 // correlations of the columns of its support
	curved        bool      // the loss is not quadratic
	tall          bool      // there are at least tallRatio rows for every column
	released      bool      // the solver has fitted unpenalised columns for the null model
	tangent       tangent
	fit           model.Datafit
	start         *Solution   // where the next solve begins; nil: at the last solution
	nullObjective float64     // the objective of the null model
	maxSupport    float64     // the size of the largest support that rows and columns allow
	motion        [][]float64 // r × n: the derivatives of the predictions in λ
	view          *sparse.View
}

// newLane makes the lane of a datafit and the spec's penalty.
func newLane(spec Spec, fit model.Datafit, j foldCriterion) (lane, error) {
	if spec.Iterate != nil {
		null := model.NewState(fit)
		fit.Fit(nil, nil, null)
		if err := j.evaluateNull(null.Prediction); err != nil {
			return nil, err
		}
		return newIterated(j, spec, fit)
	}
	null, box := model.NewNull(fit), spec.Box.In(fit.View())
	solver, err := spec.solverAt(&null)
	if err != nil {
		return nil, err
	}
	if err := j.evaluateNull(null.State.Prediction); err != nil {
		return nil, err
	}
	if spec.AlphaMax != nil && !spec.Given {
		j.Top = kernels.Log(spec.AlphaMax(null.Within(box)))
	}
	_, curved := fit.(model.Curved)
	_, columns := fit.View().Dims()
	return &penalisedLane{foldCriterion: j, fit: fit, curved: curved, tall: fit.View().Positive() >= tallRatio*columns, released: spec.Free != nil, penalty: boxed(spec.Penalty, box), solver: solver, implicit: implicit.NewSharing(fit, solver.Cache()), certify: spec.Certify, nullObjective: solver.Null(), maxSupport: largestSupport(fit.View()), view: fit.View()}, nil
}

// solverAt returns a solver that starts from the null model. With unpenalised columns, it sets
// *null to the null model that includes them.
func (s *Spec) solverAt(null **model.Null) (*cd.Solver, error) {
	if s.Free == nil {
		return cd.NewFrom(*null), nil
	}
	solver, released, err := cd.NewReleased((*null).Fit.View().Kernels().Context(), *null, s.Free, s.Solver)
	*null = released
	return solver, err
}

// polishTol is the tolerance at and below which solutions are polished: not only the inner objective but
// also the criterion is then to be accurate to many digits.
const polishTol = 1e-9

func withPolish(o cd.Options) cd.Options {
	o.Polish = o.Polish || (o.Tol > 0 && o.Tol <= polishTol)
	return o
}

func (l *penalisedLane) solve(ctx context.Context, r *LaneRequest, options cd.Options) error {
	penalty, err := makePenalty(l.penalty, r.LogLambda)
	if err != nil {
		return err
	}
	start := time.Now()
	if r.Anew {
		l.renew()
	}
	certified := l.start == nil && !r.Anew // the solver is still at its last certified point
	l.start = nil
	switch {
	case !l.curved:
	case certified && l.tall:
		l.tangent.forget()
	default:
		l.tangent.follow(l.solver, r.LogLambda[0])
	}
	solution, err := l.solver.Solve(ctx, penalty, withPolish(options))
	if err != nil {
		return err
	}
	if solution.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	l.lastPenalty, l.last = penalty, solution
	if err := l.evaluate(solution.Prediction); err != nil {
		return err
	}
	l.Solved = summarise(solution, time.Since(start))
	l.Solved.relate(solution.Objective, l.nullObjective)
	l.Solved.Saturation = float64(len(solution.Support)) / l.maxSupport
	return nil
}

func (l *penalisedLane) differentiate(ctx context.Context, r *LaneRequest, options cd.Options) error {
	start, shared := time.Now(), l.view.Team().Shared()
	l.correlations = l.solver.Correlations(l.correlations[:0])
	at := implicit.Point{Support: l.last.Support, Coef: l.last.Coef, KKT: l.last.KKT, State: l.last.State, Correlation: l.correlations}
	if !r.Rough || len(at.Support) == 0 {
		at.Clearance = l.solver.Clearance()
	}
	motion, rough := l.prepareMotion(r), r.Rough && !l.certify
	g, err := l.implicit.Solve(ctx, l.lastPenalty, at, l.outer(), implicit.Options{Tol: systemTol(options.Tol, rough), Motion: motion, Prove: l.certify, AssumeFullRank: isLoose(options.Tol), Rough: rough})
	if err != nil {
		return err
	}
	if g.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	if l.failure != nil { // in curvatureWithin
		return l.failure
	}
	if motion != nil {
		l.weighMotion()
	}
	if l.curved && len(r.LogLambda) == 1 {
		l.tangent.update(r.LogLambda[0], g)
	}
	l.Gradient, l.Columns = g.Gradient, weightedColumns(l.lastPenalty, at.Support)
	l.Derived = derivedFrom(g, time.Since(start))
	l.Derived.Shared = l.view.Team().Shared() - shared
	if l.certify {
		return l.Derived.recordProof(func() (implicit.Certificate, error) {
			return l.implicit.Certify(ctx, l.lastPenalty, at)
		})
	}
	return nil
}

// boxed returns of with every penalty restricted to the box; nil leaves of as it is.
func boxed(of func([]float64) (model.Penalty, error), box *model.Box) func([]float64) (model.Penalty, error) {
	if box == nil {
		return of
	}
	return func(logLambda []float64) (model.Penalty, error) {
		g, err := of(logLambda)
		if err != nil {
			return g, err
		}
		return g.Within(box)
	}
}

// makePenalty returns the penalty at λ, or an error if λ does not have the penalty's number of hyperparameters.
func makePenalty(of func([]float64) (model.Penalty, error), logLambda []float64) (model.Penalty, error) {
	penalty, err := of(logLambda)
	if r := penalty.Hyperparameters(); err == nil && r != len(logLambda) {
		err = outcome.At(outcome.Shape, "log-lambda", "the penalty has %d hyperparameters, got %d values of λ", r, len(logLambda))
	}
	return penalty, err
}

// weightedColumns returns [LaneResult].Columns: the support if each column has its own λ, else nil.
func weightedColumns(penalty model.Penalty, support []int32) []int32 {
	if penalty.PerColumn() {
		return support
	}
	return nil
}

// enteringMargin is the dual margin up to which a column is considered about to enter the support.
const enteringMargin = 1e-10

// recordProof records whether the support is proved to be that of the exact solution. If the implicit
// function theorem does not apply, it sets the status to NotUnique or NotDifferentiable.
func (d *Derived) recordProof(certify func() (implicit.Certificate, error)) error {
	switch d.Status {
	case outcome.Converged, outcome.NotDifferentiable, outcome.SupportUncertified:
	default:
		return nil
	}
	c, err := certify()
	if err != nil {
		return err
	}
	d.SupportCertified = c.Support && d.Status == outcome.Converged
	switch {
	case c.DualMargin > enteringMargin || c.Support:
	case c.Dependent:
		d.Status = outcome.NotUnique
	default:
		d.Status = outcome.NotDifferentiable
	}
	return nil
}

// isLoose reports whether the tolerance is above the default: it is then that of a search's intermediate
// step, and the search evaluates again before it returns a gradient.
func isLoose(gap float64) bool { return gap > defaultTol }

// systemTol returns the tolerance of the linear system for that of the inner problem, where 0
// means the default. β is accurate to about √gap, and the system is solved a little more accurately
// than that; a polished β is accurate to working precision. A rough gradient needs less accuracy.
func systemTol(gap float64, rough bool) float64 {
	if gap == 0 {
		gap = defaultTol
	}
	if gap <= polishTol {
		return 0.01 * math.Sqrt(gap)
	}
	tol := min(1e-3, 0.1*math.Sqrt(gap))
	if rough {
		tol *= 3
	}
	return tol
}
