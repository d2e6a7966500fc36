package bilevel

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// classLane is what is kept of one class in one fold.
type classLane struct {
	support  []int32
	coef     []float64
	tangent  tangent
	known    []kept
	gradient float64
	solved   solved
	derived  derived

	clearance     float64 // of the solution
	steep, wander float64 // as [implicit.Hypergradient] has them
}

// worker solves one class at a time.
type worker struct {
	y                []float64
	solver           *cd.Solver
	slope, curvature []float64
	motion, bent     []float64 // n
}

// bend is [implicit.Outer].Bend. A share P of the classes at scores that are off by reach has
// a P(1 − P) that is e^2reach times as large at most, and not above a quarter.
func (w *worker) bend(reach float64) []float64 {
	w.bent = slices.Grow(w.bent[:0], len(w.slope))[:len(w.slope)]
	growth := kernels.Exp(2 * min(reach, 300))
	for i, c := range w.curvature {
		w.bent[i] = c * growth
	}
	return w.bent
}

// others returns the probability of all classes but k of a validation row, which 1 − P
// would cancel for.
func (f *multiclassFold) others(k, at int) (sum float64) {
	for l, scores := range f.scores {
		if l != k {
			sum += scores[at]
		}
	}
	return sum
}

// take makes the solver one of a class, without a memory of others.
func (w *worker) take(fit model.Datafit) {
	if w.solver == nil {
		w.solver = cd.New(fit)
	} else {
		w.solver.Use(fit)
	}
}

// datafit returns the one-versus-rest problem of class k.
func (m *Multiclass) datafit(f *multiclassFold, w *worker, k int) (*model.Rowwise, error) {
	for i, c := range m.label {
		w.y[i] = -1
		if int(c) == k {
			w.y[i] = 1
		}
	}
	fit, err := model.NewLogistic(f.view, w.y)
	if err != nil {
		return nil, outcome.In(fmt.Sprintf("class %g", m.classes[k]), err)
	}
	return fit, nil
}

func (m *Multiclass) solve(ctx context.Context, f *multiclassFold, w *worker, k int, lambda float64, penalty model.Penalty, options cd.Options) error {
	start := time.Now()
	fit, err := m.datafit(f, w, k)
	if err != nil {
		return err
	}
	w.take(fit)
	lane := &f.lanes[k]
	w.solver.Start(lane.support, lane.coef)
	lane.tangent.follow(w.solver, lambda)
	solution, err := w.solver.Solve(ctx, penalty, options)
	if err != nil {
		return err
	}
	if solution.Status == outcome.Cancelled {
		return ctx.Err()
	}
	lane.support = append(lane.support[:0], solution.Support...)
	lane.coef = append(lane.coef[:0], solution.Coef...)
	for at, i := range f.rows {
		f.scores[k][at] = solution.Prediction[i]
	}
	for at, i := range f.test {
		f.tested[k][at] = solution.Prediction[i]
	}
	lane.clearance = w.solver.Clearance()
	lane.solved = summarise(solution, time.Since(start))
	return nil
}

func (m *Multiclass) differentiate(ctx context.Context, f *multiclassFold, w *worker, k int, lambda float64, penalty model.Penalty, options cd.Options) error {
	start := time.Now()
	fit, err := m.datafit(f, w, k)
	if err != nil {
		return err
	}
	total := f.criterion().Total(len(f.rows))
	clear(w.slope)
	clear(w.curvature)
	for at, i := range f.rows {
		share := f.scores[k][at]
		w.curvature[i] = f.weight(at) * share * (1 - share) / total
		if int(f.class[at]) == k {
			share = -f.others(k, at)
		}
		w.slope[i] = f.weight(at) * share / total
	}
	lane := &f.lanes[k]
	w.take(fit)
	cache := w.solver.Cache()
	cache.Limit(options.MaxGram)
	solver := implicit.NewSharing(fit, cache)
	at := implicit.Point{Support: lane.support, Coef: lane.coef, KKT: lane.solved.KKT, Clearance: lane.clearance}
	o := implicit.Options{Tol: systemTol(options.Tol), Prove: m.spec.Certify}
	if m.Curvature {
		if w.motion == nil {
			w.motion = make([]float64, len(w.slope))
		}
		clear(w.motion)
		o.Motion = [][]float64{w.motion}
	}
	g, err := solver.Solve(ctx, penalty, at, implicit.Outer{Slope: w.slope, Curvature: w.curvature, Bend: w.bend}, o)
	if err != nil {
		return err
	}
	if g.Status == outcome.Cancelled {
		return ctx.Err()
	}
	lane.gradient, lane.steep, lane.wander = g.Gradient[0], g.Steep, g.Wander
	lane.tangent.note(lambda, g)
	if m.Curvature {
		for at, i := range f.rows {
			f.motion[k][at] = w.motion[i]
		}
		f.weigh(k)
	}
	lane.derived = differentiated(g, time.Since(start))
	if m.spec.Certify {
		return lane.derived.prove(func() (implicit.Certificate, error) { return solver.Certify(ctx, penalty, at) })
	}
	return nil
}
