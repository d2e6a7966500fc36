package bilevel

import (
	"context"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Blocked specifies inner problems under a penalty on blocks of coefficients.
type Blocked struct {
	Partition *model.Partition
	// Penalty returns the penalty at a given λ. It may have more hyperparameters than λ has
	// entries: the derivatives in the additional ones are [Report].Shape.
	Penalty func(logLambda []float64) (model.Blocks, error)
	// Count is the number of scores of a row; 0 means 1.
	Count int
	// Scores returns the datafit of a view; nil means the Datafit of the spec, with one score.
	Scores func(view *sparse.View) (model.Scores, error)
	// Max returns αmax from the correlations of the null model by column and score.
	Max func(z []float64) float64
	// Descend says that the penalty is not convex, and has one λ: solves follow a path from αmax.
	Descend bool
}

// newBlockLanes is [NewLanes] for a spec with [Spec].Blocked.
func newBlockLanes(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec) (*Lanes, error) {
	if spec.Iterate != nil {
		return nil, outcome.At(outcome.Usage, "method", "penalties on blocks of coefficients can be differentiated only at the solution, not along iterates")
	}
	_, p := x.Dims()
	return newLanes(spec, spec.Folds.Count(k), 0, p*max(1, spec.Blocked.Count), func(id LaneID) (lane, error) {
		weights, rows := spec.Split(k, id.Fold)
		view, err := spec.View(k, x, weights)
		if err != nil {
			return nil, err
		}
		fit, err := spec.scoresFit(view, y)
		if err != nil {
			return nil, err
		}
		return newBlockLane(spec, fit, newFoldCriterion(k, &spec, y, rows))
	}), nil
}

func (s *Spec) scoresFit(view *sparse.View, y []float64) (model.Scores, error) {
	if s.Blocked.Scores != nil {
		return s.Blocked.Scores(view)
	}
	fit, err := s.datafit(view, y)
	if err != nil {
		return nil, err
	}
	return model.OneScore(fit)
}

// blockLane is the lane of a penalty on blocks.
type blockLane struct {
	foldCriterion
	spec        *Blocked
	fit         model.Scores
	solver      *cd.Blocks
	descent     *cd.Descent // set if the penalty is not convex
	implicit    *implicit.Blocks
	lastPenalty model.Blocks
	last        *cd.BlockSolution
	maxSupport  float64 // the size of the largest support that rows and columns allow
}

func newBlockLane(spec Spec, fit model.Scores, j foldCriterion) (lane, error) {
	l := &blockLane{foldCriterion: j, spec: spec.Blocked, fit: fit, maxSupport: largestSupport(fit.View())}
	l.newSolver()
	if q := fit.Count(); q > 1 {
		l.slope, l.curvature = make([]float64, q*len(j.y)), make([]float64, q*len(j.y))
		l.criterion = criterion.Softmax{Classes: q, Weights: spec.Weights}
	}
	null, z := l.solver.Null()
	if err := l.evaluateNull(null.Prediction); err != nil {
		return nil, err
	}
	if spec.Blocked.Max != nil {
		l.Top = kernels.Log(spec.Blocked.Max(z))
	}
	l.newDescent()
	return l, nil
}

// newSolver makes the solver and the implicit system.
func (l *blockLane) newSolver() {
	l.solver = cd.NewBlocks(l.fit, l.spec.Partition)
	l.implicit = implicit.NewBlocks(l.fit, l.spec.Partition, l.solver.System())
}

// newDescent makes the path from αmax that solves under a penalty which is not convex follow.
func (l *blockLane) newDescent() {
	if l.spec.Descend {
		l.descent = cd.NewDescent(l.solver, func(lambda float64) (model.Blocks, error) { return l.spec.Penalty([]float64{lambda}) }, l.Top)
	}
}

func (l *blockLane) solve(ctx context.Context, r *LaneRequest, options cd.Options) error {
	logLambda := r.LogLambda
	g, err := l.spec.Penalty(logLambda)
	if err != nil {
		return err
	}
	start := time.Now()
	if r.Anew {
		l.renew()
	}
	var s *cd.BlockSolution
	if l.descent != nil {
		s, err = l.descent.Solve(ctx, logLambda[0], withPolish(options))
	} else {
		s, err = l.solver.Solve(ctx, g, withPolish(options))
	}
	if err != nil {
		return err
	}
	if s.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	l.lastPenalty, l.last = g, s
	if err := l.evaluate(s.Point.Prediction); err != nil {
		return err
	}
	l.Solved = Solved{
		Certificate: s.Certificate, Effort: s.Effort, Support: len(s.Support), Status: s.Status, Seconds: time.Since(start).Seconds(),
		Saturation: min(1, float64(len(s.Support))/l.maxSupport), Work: s.Work,
	}
	l.Solved.relate(s.Objective, l.fit.Null())
	return nil
}

func (l *blockLane) differentiate(ctx context.Context, request *LaneRequest, options cd.Options) error {
	start := time.Now()
	at := implicit.BlockPoint{
		Support: l.last.Support, Beta: l.last.Beta, Correlation: l.solver.Correlation(),
		Point: l.last.Point, KKT: l.last.KKT, Margin: l.last.Margin,
	}
	if l.fit.Count() == 1 {
		at.CurvatureWithin = l.outer().CurvatureWithin
	}
	g, err := l.implicit.Solve(ctx, l.lastPenalty, at, l.slope, l.curvature, implicit.Options{Tol: systemTol(options.Tol, request.Rough), Rough: request.Rough})
	if err != nil {
		return err
	}
	if g.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	if l.failure != nil { // in curvatureWithin
		return l.failure
	}
	r := len(request.LogLambda)
	l.Gradient, l.Shape = g.Gradient[:r:r], g.Gradient[r:]
	l.Derived = derivedFrom(g, time.Since(start))
	return nil
}

// renew replaces the solvers by new ones that begin at the current coefficients, see lanestate.go.
func (l *blockLane) renew() {
	from := l.solution()
	l.newSolver()
	l.newDescent()
	l.solver.Start(from.Support, from.Coef)
}

func (l *blockLane) innerView() *sparse.View { return l.fit.View() }

func (l *blockLane) currentState() *state { return &state{Solution: *l.solution()} }

func (l *blockLane) restoreState(at *state) error { return l.moveTo(&at.Solution) }

func (l *blockLane) indexLimit() int { return columnsOf(l) * l.fit.Count() }

func (l *blockLane) solution() *Solution {
	at, coef := l.solver.Coefficients()
	return &Solution{at, coef}
}

// moveTo has no effect if the penalty is not convex: the path from αmax determines the solution.
func (l *blockLane) moveTo(s *Solution) error {
	l.solver.Start(s.Support, s.Coef)
	return nil
}

// addShape adds share times the derivatives in further parameters of the penalty.
func (r *Report) addShape(shape []float64, share float64) {
	if r.Shape == nil && len(shape) > 0 {
		r.Shape = make([]float64, len(shape))
	}
	for i, v := range shape {
		r.Shape[i] = math.FMA(share, v, r.Shape[i])
	}
}
