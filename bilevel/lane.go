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

// judged is a fold's held-out rows, what judges predictions on them, and what came
// of the last evaluation.
type judged struct {
	k         *kernels.Set
	criterion criterion.Criterion
	name      string // its
	y         []float64
	weights   []float64 // nil: all 1
	rows      []int32
	test      []int32 // rows that neither train nor validate
	broken    error   // of a criterion that panicked
	foreign   bool    // the criterion may do so

	slope, curvature []float64 // n, written at rows only
	prediction       []float64 // n, the solver's

	batches [][]int32 // of the rows, see [Spec.inBatches]
	given   bool      // see [Spec].Given
	LaneResult
}

func newJudged(k *kernels.Set, spec *Spec, y []float64, rows []int32) judged {
	c := spec.Criterion
	if spec.Weights != nil {
		c = criterion.Weighted{Criterion: c, Weights: spec.Weights}
	}
	return judged{
		k: k, criterion: c, name: c.Name(), foreign: criterion.Foreign(c), y: y, weights: spec.Weights, rows: rows, test: spec.test(k), LaneResult: LaneResult{Top: math.Inf(-1)},
		batches: byBatch(k, spec.inBatches(k), rows), given: spec.Given,
		slope: spec.Memory.Floats(k, len(y)), curvature: spec.Memory.Floats(k, len(y)),
	}
}

func (j *judged) result() *LaneResult { return &j.LaneResult }

// judge sets the value, and the slopes, of predictions.
func (j *judged) judge(prediction []float64) error {
	j.prediction = prediction
	j.Value = j.loss(j.rows, prediction, j.slope)
	j.ValueError = j.errorOf(j.Value, prediction)
	if j.Tested = len(j.test) > 0; j.Tested {
		j.Test = j.loss(j.test, prediction, nil)
	}
	return j.broken
}

// loss evaluates the criterion, which may be the user's: where it breaks off, by a panic or
// by runtime.Goexit, there is an error, kept in broken, and the value is NaN.
func (j *judged) loss(rows []int32, prediction, slope []float64) float64 {
	curvature := j.curvature
	if slope == nil {
		curvature = nil
	}
	return j.eval(rows, prediction, slope, curvature)
}

// eval calls the criterion, one that is a caller's on a goroutine of its own, which it may end.
func (j *judged) eval(rows []int32, prediction, slope, curvature []float64) float64 {
	if !j.foreign {
		return criterion.Eval(j.k, j.criterion, rows, j.y, prediction, slope, curvature)
	}
	var over error // the call
	value, returned, ended := math.NaN(), false, make(chan struct{})
	broke := func(how string, cause error) {
		j.broken = &outcome.Error{Kind: outcome.Internal, Message: "the criterion " + j.name + " " + how, Err: cause}
	}
	go func() {
		defer close(ended)
		defer func() {
			switch cause := recover(); {
			case cause != nil:
				broke("panicked", &outcome.PanicError{Value: cause, Stack: debug.Stack()})
			case !returned && over == nil:
				broke("ended its goroutine (runtime.Goexit) instead of returning a value", nil)
			}
		}()
		defer kernels.Caught(&over)
		value = criterion.Eval(j.k, j.criterion, rows, j.y, prediction, slope, curvature)
		returned = true
	}()
	if <-ended; over != nil {
		j.k.Look() // which goes on with it here
	}
	return value
}

// judgeNull sets the value of the predictions of the null model, NaN where nobody asks for it.
func (j *judged) judgeNull(prediction []float64) error {
	if j.given {
		j.Null = math.NaN()
		return nil
	}
	j.Null = j.loss(j.rows, prediction, nil)
	j.NullError = j.errorOf(j.Null, prediction)
	return j.broken
}

// outer is the criterion as the last call of judge left it.
func (j *judged) outer() implicit.Outer {
	outer := implicit.Outer{Slope: j.slope, Curvature: j.curvature, Blind: !criterion.Curved(j.criterion)}
	if !outer.Blind && !criterion.Quadratic(j.criterion) {
		outer.CurvatureWithin = j.curvatureWithin
	}
	return outer
}

const (
	slightGrowth = 1e-6 // of second derivatives, which bounds of first order leave room for
	mostGrowth   = 2
	shortReach   = 0.25 // no stretch of curvature lies between the ends of it and the prediction
)

// curvatureWithin is [implicit.Outer].CurvatureWithin: by the self-concordance of the criterion, by where its
// curvature jumps, or the largest curvature at either end of the reach and at what is in it of the middle of the criteria
// of classes, where theirs is largest.
func (j *judged) curvatureWithin(reach float64) []float64 {
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
		j.eval(j.rows, at, slope, curvature)
		for _, i := range j.rows {
			pace.Did(1)
			out[i] = max(out[i], curvature[i])
		}
	}
	return out
}

// penalisedLane is the lane of a datafit and a penalty.
type penalisedLane struct {
	judged
	penalty  func([]float64) (model.Penalty, error)
	solver   *cd.Solver
	implicit *implicit.Solver
	certify  bool
	at       model.Penalty // of the last solution
	last     *cd.Solution
	met      []float64 // correlations of its support
	curved   bool      // the loss is not quadratic
	tall     bool      // there are many rows for every column
	released bool      // the solver has begun with unpenalised columns
	tangent  tangent
	fit      model.Datafit
	from     *Solution   // where the next solve begins, if not where the last has ended
	null0    float64     // objective of the null model
	most     float64     // size of the largest support that rows and columns allow
	motion   [][]float64 // r × n: how predictions move
	view     *sparse.View
}

// newLane makes the lane of a datafit and the spec's penalty.
func newLane(spec Spec, fit model.Datafit, j judged) (lane, error) {
	if spec.Iterate != nil {
		null := model.NewState(fit)
		fit.Fit(nil, nil, null)
		if err := j.judgeNull(null.Prediction); err != nil {
			return nil, err
		}
		return newIterated(j, spec, fit)
	}
	null, box := model.NewNull(fit), spec.Box.In(fit.View())
	solver, err := spec.solverAt(&null)
	if err != nil {
		return nil, err
	}
	if err := j.judgeNull(null.State.Prediction); err != nil {
		return nil, err
	}
	if spec.AlphaMax != nil && !spec.Given {
		j.Top = kernels.Log(spec.AlphaMax(null.Within(box)))
	}
	_, curved := fit.(model.Curved)
	_, columns := fit.View().Dims()
	return &penalisedLane{judged: j, fit: fit, curved: curved, tall: fit.View().Positive() >= tallFor*columns, released: spec.Free != nil, penalty: within(spec.Penalty, box), solver: solver, implicit: implicit.NewSharing(fit, solver.Cache()), certify: spec.Certify, null0: solver.Null(), most: largestSupport(fit.View()), view: fit.View()}, nil
}

// solverAt returns a solver at the null model, which it moves to that with all unpenalised
// columns.
func (s *Spec) solverAt(null **model.Null) (*cd.Solver, error) {
	if s.Free == nil {
		return cd.NewFrom(*null), nil
	}
	solver, released, err := cd.NewReleased((*null).Fit.View().Kernels().Context(), *null, s.Free, s.Solver)
	*null = released
	return solver, err
}

// sharp is the tolerance from which on a caller wants the criterion, not only the
// inner objective, to many digits.
const sharp = 1e-9

func sharpen(o cd.Options) cd.Options {
	o.Polish = o.Polish || (o.Tol > 0 && o.Tol <= sharp)
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
	certified := l.from == nil && !r.Anew // the solver is where its last pass was
	l.from = nil
	switch {
	case !l.curved:
	case certified && l.tall:
		l.tangent.forget()
	default:
		l.tangent.follow(l.solver, r.LogLambda[0])
	}
	solution, err := l.solver.Solve(ctx, penalty, sharpen(options))
	if err != nil {
		return err
	}
	if solution.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	l.at, l.last = penalty, solution
	if err := l.judge(solution.Prediction); err != nil {
		return err
	}
	l.Solved = summarise(solution, time.Since(start))
	l.Solved.relate(solution.Objective, l.null0)
	l.Solved.Saturation = float64(len(solution.Support)) / l.most
	return nil
}

func (l *penalisedLane) differentiate(ctx context.Context, r *LaneRequest, options cd.Options) error {
	start, shared := time.Now(), l.view.Team().Shared()
	l.met = l.solver.Correlations(l.met[:0])
	at := implicit.Point{Support: l.last.Support, Coef: l.last.Coef, KKT: l.last.KKT, State: l.last.State, Correlation: l.met}
	if !r.Rough || len(at.Support) == 0 {
		at.Clearance = l.solver.Clearance()
	}
	motion, rough := l.prepareMotion(r), r.Rough && !l.certify
	g, err := l.implicit.Solve(ctx, l.at, at, l.outer(), implicit.Options{Tol: systemTol(options.Tol, rough), Motion: motion, Prove: l.certify, AssumeFullRank: loose(options.Tol), Rough: rough})
	if err != nil {
		return err
	}
	if g.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	if l.broken != nil { // in curvatureWithin
		return l.broken
	}
	if motion != nil {
		l.weighMotion()
	}
	if l.curved && len(r.LogLambda) == 1 {
		l.tangent.note(r.LogLambda[0], g)
	}
	l.Gradient, l.Columns = g.Gradient, weightedColumns(l.at, at.Support)
	l.Derived = differentiated(g, time.Since(start))
	l.Derived.Shared = l.view.Team().Shared() - shared
	if l.certify {
		return l.Derived.prove(func() (implicit.Certificate, error) {
			return l.implicit.Certify(ctx, l.at, at)
		})
	}
	return nil
}

// within puts the penalties of λ's in a box.
func within(of func([]float64) (model.Penalty, error), box *model.Box) func([]float64) (model.Penalty, error) {
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

// makePenalty makes the penalty of a λ of the right length.
func makePenalty(of func([]float64) (model.Penalty, error), logLambda []float64) (model.Penalty, error) {
	penalty, err := of(logLambda)
	if r := penalty.Hyperparameters(); err == nil && r != len(logLambda) {
		err = outcome.At(outcome.Shape, "log-lambda", "the penalty has %d hyperparameters, got %d", r, len(logLambda))
	}
	return penalty, err
}

// weightedColumns returns the columns whose λ's the entries of a gradient belong to:
// those of the support where each column has its own, else nil.
func weightedColumns(penalty model.Penalty, support []int32) []int32 {
	if penalty.PerColumn() {
		return support
	}
	return nil
}

// edge is the dual margin up to which a column counts as about to enter.
const edge = 1e-10

// prove adds a proof of the support, or withdraws the trust in a gradient that the
// theorem does not cover.
func (d *Derived) prove(certify func() (implicit.Certificate, error)) error {
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
	case c.DualMargin > edge || c.Support:
	case c.Dependent:
		d.Status = outcome.NotUnique
	default:
		d.Status = outcome.NotDifferentiable
	}
	return nil
}

// loose reports that a search asks for less than the default: it will come back before a
// gradient is an answer.
func loose(gap float64) bool { return gap > defaultTol }

// systemTol ties the tolerance of the linear system to that of the inner
// problem, 0 for the default: β is known to about √gap, and the system a little better
// than that; with a polish β is known to working precision. A slope to step by need not be that good.
func systemTol(gap float64, rough bool) float64 {
	if gap == 0 {
		gap = defaultTol
	}
	if gap <= sharp {
		return 0.01 * math.Sqrt(gap)
	}
	tol := min(1e-3, 0.1*math.Sqrt(gap))
	if rough {
		tol *= 3
	}
	return tol
}
