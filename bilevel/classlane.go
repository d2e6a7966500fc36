package bilevel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// oneVsRest holds what all lanes of a one-versus-rest problem share.
type oneVsRest struct {
	spec    Spec
	classes []float64 // labels, ascending
	label   []int32   // n: the class of each row
}

// classFold holds what the lanes of a fold share. Solvers belong to the fold, not to its lanes, so that
// memory grows with the supports and not with q·n.
type classFold struct {
	*oneVsRest
	heldOut
	view        *sparse.View
	penalty     func(logLambda []float64) (model.Penalty, error)
	workers     chan *classSolver // the solvers that are not in use
	logAlphaMax []float64         // ln αmax of each class; −Inf without [Spec].AlphaMax
}

// NewMulticlassLanes prepares the lanes of the problem that [NewMulticlass] returns.
func NewMulticlassLanes(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec) (*Lanes, error) {
	n, p := x.Dims()
	if len(y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(y), n)
	}
	if err := spec.Check(k, n); err != nil {
		return nil, err
	}
	spec.Threads = team.Count(spec.Threads)
	all := &oneVsRest{spec: spec}
	var err error
	if all.classes, all.label, err = Classes(k, y); err != nil {
		return nil, err
	}
	folds := make([]func() (*classFold, error), spec.Folds.Count(k))
	for fold := range folds {
		folds[fold] = sync.OnceValues(func() (*classFold, error) { return all.newFold(k, x, fold) })
	}
	return newLanes(spec, len(folds), len(all.classes), p, func(id LaneID) (lane, error) {
		f, err := folds[id.Fold]()
		if err != nil {
			return nil, err
		}
		return &classLane{
			fold: f, class: id.Class,
			LaneResult: LaneResult{Scores: make([]float64, len(f.rows)), TestScores: make([]float64, len(f.test)), Top: f.logAlphaMax[id.Class]},
		}, nil
	}), nil
}

func (v *oneVsRest) newFold(k *kernels.Set, x sparse.Matrix, fold int) (*classFold, error) {
	held, err := newHeldOut(k, &v.spec, v.classes, v.label, fold)
	if err != nil {
		return nil, err
	}
	view, err := v.spec.View(k, x, held.train)
	if err != nil {
		return nil, err
	}
	f := &classFold{oneVsRest: v, heldOut: *held, view: view, penalty: boxed(v.spec.Penalty, v.spec.Box.In(view)), workers: make(chan *classSolver, min(v.spec.Threads, len(v.classes)))}
	for range cap(f.workers) {
		n := len(v.label)
		f.workers <- &classSolver{y: make([]float64, n), slope: make([]float64, n), curvature: make([]float64, n)}
	}
	return f, f.findAlphaMax()
}

// findAlphaMax sets logAlphaMax, at the cost of one pass over X for each class.
func (f *classFold) findAlphaMax() error {
	f.logAlphaMax = slices.Repeat([]float64{math.Inf(-1)}, len(f.classes))
	if f.spec.AlphaMax == nil || f.spec.Given {
		return nil
	}
	w, box := <-f.workers, f.spec.Box.In(f.view)
	defer func() { f.workers <- w }()
	var null *model.Null
	for class := range f.logAlphaMax {
		fit, err := (&classLane{fold: f, class: class}).datafit(w)
		if err != nil {
			return err
		}
		if null == nil {
			null = model.NewNull(fit)
		} else {
			null.Use(fit)
		}
		f.logAlphaMax[class] = kernels.Log(f.spec.AlphaMax(null.Within(box)))
	}
	return nil
}

// classLane is the lane of one class in one fold. It keeps the non-zero coefficients of its last
// solution, from which the next solve starts.
type classLane struct {
	fold  *classFold
	class int
	LaneResult
	support   []int32
	coef      []float64
	tangent   tangent
	clearance float64 // of the last solution, see [cd.Solver.Clearance]
}

func (l *classLane) result() *LaneResult { return &l.LaneResult }

// classSolver solves one class at a time.
type classSolver struct {
	y                      []float64
	solver                 *cd.Solver
	slope, curvature       []float64
	motion, curvatureBound []float64 // n
}

// curvatureWithin is [implicit.Outer].CurvatureWithin. If all scores change by at most reach, P(1 − P) of a class grows
// by a factor of at most e^(2·reach).
func (w *classSolver) curvatureWithin(reach float64) []float64 {
	w.curvatureBound = slices.Grow(w.curvatureBound[:0], len(w.slope))[:len(w.slope)]
	growth := kernels.Exp(2 * min(reach, 300))
	for i, c := range w.curvature {
		w.curvatureBound[i] = c * growth
	}
	return w.curvatureBound
}

// use sets the solver to the datafit of a class, and resets it.
func (w *classSolver) use(fit model.Datafit) {
	if w.solver == nil {
		w.solver = cd.New(fit)
	} else {
		w.solver.Use(fit)
	}
}

// datafit returns the datafit of the one-versus-rest problem of the class, whose labels it writes to w.y.
func (l *classLane) datafit(w *classSolver) (*model.Rowwise, error) {
	for i, c := range l.fold.label {
		w.y[i] = -1
		if int(c) == l.class {
			w.y[i] = 1
		}
	}
	fit, err := model.NewLogistic(l.fold.view, w.y)
	if err != nil {
		return nil, outcome.In(fmt.Sprintf("class %g", l.fold.classes[l.class]), err)
	}
	return fit, nil
}

// borrowSolver returns the penalty of a request, the datafit of the class, and a solver for it, which the
// caller has to give back.
func (l *classLane) borrowSolver(r *LaneRequest) (model.Penalty, *model.Rowwise, *classSolver, error) {
	penalty, err := makePenalty(l.fold.penalty, r.LogLambda)
	if err != nil {
		return penalty, nil, nil, err
	}
	w := <-l.fold.workers
	fit, err := l.datafit(w)
	if err != nil {
		l.fold.workers <- w
		return penalty, nil, nil, err
	}
	w.use(fit)
	return penalty, fit, w, nil
}

func (l *classLane) solve(ctx context.Context, r *LaneRequest, options cd.Options) error {
	start := time.Now()
	penalty, _, w, err := l.borrowSolver(r)
	if err != nil {
		return err
	}
	defer func() { l.fold.workers <- w }()
	w.solver.Start(l.support, l.coef)
	l.tangent.follow(w.solver, r.LogLambda[0])
	solution, err := w.solver.Solve(ctx, penalty, withPolish(options))
	if err != nil {
		return err
	}
	if solution.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	l.support = append(l.support[:0], solution.Support...)
	l.coef = append(l.coef[:0], solution.Coef...)
	for at, i := range l.fold.rows {
		l.Scores[at] = solution.Prediction[i]
	}
	for at, i := range l.fold.test {
		l.TestScores[at] = solution.Prediction[i]
	}
	l.clearance = w.solver.Clearance()
	l.Solved = summarise(solution, time.Since(start))
	return nil
}

// setDerivatives sets slope and curvature to the derivatives of the cross-entropy in the scores of the class.
func (w *classSolver) setDerivatives(l *classLane, r *LaneRequest) error {
	f := l.fold
	if len(r.Probability) != len(f.rows) || len(r.Others) != f.count(l.class) {
		return outcome.Errorf(outcome.Shape, "lane %v: got %d probabilities of the class and %d of the other classes, expected %d and %d",
			r.Lane, len(r.Probability), len(r.Others), len(f.rows), f.count(l.class))
	}
	total, others := f.criterion().Total(f.view.Kernels(), len(f.rows)), r.Others
	k := f.view.Kernels()
	k.Clear(w.slope)
	k.Clear(w.curvature)
	pace := k.Pace()
	for at, i := range f.rows {
		pace.Did(1)
		share := r.Probability[at]
		w.curvature[i] = f.weight(at) * share * (1 - share) / total
		if int(f.class[at]) == l.class {
			share, others = -others[0], others[1:] // 1 − share would suffer from cancellation
		}
		w.slope[i] = f.weight(at) * share / total
	}
	return nil
}

func (l *classLane) differentiate(ctx context.Context, r *LaneRequest, options cd.Options) error {
	start := time.Now()
	options = withPolish(options)
	penalty, fit, w, err := l.borrowSolver(r)
	if err != nil {
		return err
	}
	defer func() { l.fold.workers <- w }()
	if err := w.setDerivatives(l, r); err != nil {
		return err
	}
	cache := w.solver.Cache()
	cache.Limit(options.MaxGram)
	cache.Columns().Bound(options.MaxPacked)
	solver := implicit.NewSharing(fit, cache)
	at := implicit.Point{Support: l.support, Coef: l.coef, KKT: l.Solved.KKT, Clearance: l.clearance}
	certify := l.fold.spec.Certify
	rough := r.Rough && !certify
	o := implicit.Options{Tol: systemTol(options.Tol, rough), Prove: certify, AssumeFullRank: isLoose(options.Tol), Rough: rough}
	if r.Curvature {
		if w.motion == nil {
			w.motion = make([]float64, len(w.slope))
		}
		clear(w.motion)
		o.Motion = [][]float64{w.motion}
	}
	g, err := solver.Solve(ctx, penalty, at, implicit.Outer{Slope: w.slope, Curvature: w.curvature, CurvatureWithin: w.curvatureWithin}, o)
	if err != nil {
		return err
	}
	if g.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	l.Gradient, l.MotionNorm, l.ErrorNorm = g.Gradient, g.MotionNorm, g.ErrorNorm
	l.tangent.update(r.LogLambda[0], g)
	l.Motion = l.Motion[:0]
	if r.Curvature {
		for _, i := range l.fold.rows {
			l.Motion = append(l.Motion, w.motion[i])
		}
		l.weighMotion(r.Probability)
	}
	l.Derived = derivedFrom(g, time.Since(start))
	if l.fold.spec.Certify {
		return l.Derived.recordProof(func() (implicit.Certificate, error) { return solver.Certify(ctx, penalty, at) })
	}
	return nil
}
