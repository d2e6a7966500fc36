package studies

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// inner is an inner problem with one λ for the studies of derivatives: its exact solution, and descents that
// can be differentiated along the way.
type inner interface {
	// exact returns β and ∂β/∂λ to working precision. For the SVM they are the primal w and ∂w/∂λ, which are
	// unique even if the dual variables are not.
	exact(ctx context.Context) (beta, jacobian []float64, err error)
	// primal converts the coordinates of a descent to the same space.
	primal(coordinates []float64) []float64
	descend(ctx context.Context, outer iterdiff.Outer, o iterdiff.Options) (*iterdiff.Result, error)
	rate(ctx context.Context, o iterdiff.Options) (float64, error)
	// gradient solves to a relative gap and differentiates the solution implicitly.
	gradient(ctx context.Context, tol float64, outer implicit.Outer, judge iterdiff.Outer) (float64, error)
	// plainly does the same after some epochs of a plain descent, and times it.
	plainly(ctx context.Context, epochs int, outer implicit.Outer, judge iterdiff.Outer) (seconds, gradient float64, err error)
}

// newInner states the problem of a model on weighted rows, at a fraction of αmax; for the SVM at C.
func newInner(m pare.Model, x sparse.Matrix, y, weights []float64, share float64) (inner, error) {
	k, err := kernels.Active()
	if err != nil {
		return nil, err
	}
	traits := m.Traits()
	switch {
	case traits.Strengths == pare.Cost:
		fit, err := model.NewSVM(k, sparse.Transpose(x), Signs(y), weights)
		if err != nil {
			return nil, err
		}
		return &svmProblem{fit, iterdiff.NewSVM(fit), cd.NewSVM(fit), implicit.NewSVM(fit), kernels.Log(share)}, nil
	case traits.Strengths != pare.OneStrength || traits.Dense:
		return nil, fmt.Errorf("no study of derivatives covers %s", m)
	}
	view, err := sparse.NewView(k, x, weights, false)
	if err != nil {
		return nil, err
	}
	var fit model.Datafit
	if traits.Link.Classes() {
		fit, err = model.NewLogistic(view, Signs(y))
	} else {
		fit, err = model.NewSquared(view, y)
	}
	if err != nil {
		return nil, err
	}
	penalty, err := model.Lasso(kernels.Log(share * model.AlphaMax(fit)))
	if err != nil {
		return nil, err
	}
	descent, err := iterdiff.New(fit)
	if err != nil {
		return nil, err
	}
	return &linear{fit, penalty, descent, cd.New(fit), implicit.New(fit)}, nil
}

// linear is the inner problem of the Lasso and of sparse logistic regression.
type linear struct {
	fit        model.Datafit
	penalty    model.Penalty
	descent    *iterdiff.Solver
	solver     *cd.Solver
	derivative *implicit.Solver
}

// finest are options for working precision.
var finest = cd.Options{Tol: 1e-15, Polish: true}

func (q *linear) exact(ctx context.Context) (beta, jacobian []float64, err error) {
	q.solver.Reset()
	s, err := q.solver.Solve(ctx, q.penalty, finest)
	if err != nil {
		return nil, nil, err
	}
	at := implicit.Point{Support: s.Support, Coef: s.Coef, KKT: s.KKT}
	slope, _, err := q.derivative.JVP(ctx, q.penalty, at, []float64{1}, implicit.Options{Tol: 1e-14})
	if err != nil {
		return nil, nil, err
	}
	_, p := q.fit.View().Dims()
	beta, jacobian = make([]float64, p), make([]float64, p)
	for k, j := range s.Support {
		beta[j], jacobian[j] = s.Coef[k], slope[k]
	}
	return beta, jacobian, nil
}

func (q *linear) primal(coordinates []float64) []float64 { return coordinates }

func (q *linear) descend(ctx context.Context, outer iterdiff.Outer, o iterdiff.Options) (*iterdiff.Result, error) {
	return q.descent.Solve(ctx, q.penalty, outer, o)
}

func (q *linear) rate(ctx context.Context, o iterdiff.Options) (float64, error) {
	return q.descent.Rate(ctx, q.penalty, o)
}

func (q *linear) gradient(ctx context.Context, tol float64, outer implicit.Outer, judge iterdiff.Outer) (float64, error) {
	q.solver.Reset()
	s, err := q.solver.Solve(ctx, q.penalty, cd.Options{Tol: tol, Polish: tol == finest.Tol})
	if err != nil {
		return 0, err
	}
	clear(outer.Slope)
	judge(s.Prediction, outer.Slope)
	return q.at(ctx, implicit.Point{Support: s.Support, Coef: s.Coef, KKT: s.KKT}, outer, tol)
}

// at differentiates implicitly at a given β.
func (q *linear) at(ctx context.Context, at implicit.Point, outer implicit.Outer, tol float64) (float64, error) {
	h, err := q.derivative.Solve(ctx, q.penalty, at, outer, implicit.Options{Tol: min(1e-5, tol)})
	if err != nil {
		return 0, err
	}
	return h.Gradient[0], nil
}

// svmProblem is the inner problem of the SVM.
type svmProblem struct {
	fit        *model.SVM
	descent    *iterdiff.SVM
	solver     *cd.SVM
	derivative *implicit.SVM
	logC       float64
}

func (q *svmProblem) exact(ctx context.Context) (beta, jacobian []float64, err error) {
	q.solver.Reset()
	s, err := q.solver.Solve(ctx, q.logC, finest)
	if err != nil {
		return nil, nil, err
	}
	n, _ := q.fit.Dims()
	none := implicit.Outer{Slope: make([]float64, n), Curvature: make([]float64, n)}
	h, err := q.derivative.Solve(ctx, q.logC, point(s), none, implicit.Options{Tol: 1e-14})
	if err != nil {
		return nil, nil, err
	}
	return slices.Clone(s.W), slices.Clone(h.Derivative), nil
}

func point(s *cd.SVMSolution) implicit.SVMPoint {
	return implicit.SVMPoint{Free: s.Free, Dual: s.Dual, Bound: s.Bound, W: s.W, Predictions: s.Predictions}
}

func (q *svmProblem) primal(coordinates []float64) []float64 {
	_, p := q.fit.Dims()
	w := make([]float64, p)
	for i, b := range coordinates {
		if b != 0 {
			q.fit.Add(i, b, w)
		}
	}
	return w
}

func (q *svmProblem) descend(ctx context.Context, outer iterdiff.Outer, o iterdiff.Options) (*iterdiff.Result, error) {
	return q.descent.Solve(ctx, q.logC, outer, o)
}

func (q *svmProblem) rate(ctx context.Context, o iterdiff.Options) (float64, error) {
	return q.descent.Rate(ctx, q.logC, o)
}

func (q *svmProblem) gradient(ctx context.Context, tol float64, outer implicit.Outer, judge iterdiff.Outer) (float64, error) {
	q.solver.Reset()
	s, err := q.solver.Solve(ctx, q.logC, cd.Options{Tol: tol, Polish: tol == finest.Tol})
	if err != nil {
		return 0, err
	}
	clear(outer.Slope)
	judge(s.Predictions, outer.Slope)
	h, err := q.derivative.Solve(ctx, q.logC, point(s), outer, implicit.Options{Tol: min(1e-5, tol)})
	if err != nil {
		return 0, err
	}
	return h.Gradient[0], nil
}
