package pare

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// oneVersusRest is the inner problem of [Multiclass]: for every class a logistic
// regression that tells it from the others.
type oneVersusRest struct {
	engine  *engine
	view    *sparse.View
	classes []float64
	label   []int32 // n: class of each row
	top     []float64
	box     *model.Box
	last    []point // where the next solve starts, by class; nil before the first
}

// point is a solution in the coordinates of its view.
type point struct {
	support []int32
	coef    []float64
}

func newOneVersusRest(e *engine) (problem, error) {
	m := &oneVersusRest{engine: e}
	var err error
	if m.view, err = e.view(); err != nil {
		return nil, err
	}
	if n, _ := e.x.Dims(); len(e.y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(e.y), n)
	}
	if m.classes, m.label, err = bilevel.Classes(e.y); err != nil {
		return nil, err
	}
	m.box = e.box.In(m.view)
	m.top = make([]float64, len(m.classes))
	return m, m.each(func(k int) error {
		fit, err := m.class(k)
		if err == nil {
			m.top[k] = kernels.Log(m.engine.family.max(model.NewNull(fit).Within(m.box)))
		}
		return err
	})
}

// each runs a task for every class, as many at once as there are threads.
func (m *oneVersusRest) each(task func(k int) error) error {
	var group errgroup.Group
	group.SetLimit(m.engine.config.threads())
	for k := range m.classes {
		group.Go(func() error { return task(k) })
	}
	return group.Wait()
}

// class states the problem of class k.
func (m *oneVersusRest) class(k int) (*model.Rowwise, error) {
	y := slices.Repeat([]float64{-1}, len(m.label))
	for i, c := range m.label {
		if int(c) == k {
			y[i] = 1
		}
	}
	return model.NewLogistic(m.view, y)
}

func (m *oneVersusRest) max() []float64 { return m.top }

// start implements [problem].
func (m *oneVersusRest) start() float64 { return m.engine.shareOfMax() }

// penalties makes the penalties of the classes.
func (m *oneVersusRest) penalties(logLambda []float64) (all []model.Penalty, err error) {
	all = make([]model.Penalty, len(logLambda))
	for k, l := range logLambda {
		if all[k], err = m.engine.family.penalty([]float64{l}); err != nil {
			return nil, err
		}
		if all[k], err = all[k].Within(m.box); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (m *oneVersusRest) accepts(logLambda []float64) error {
	_, err := m.penalties(logLambda)
	return err
}

// restart implements [problem].
func (m *oneVersusRest) restart() { m.last = nil }

func (m *oneVersusRest) solve(ctx context.Context, logLambda []float64) (*Fitted, error) {
	penalties, err := m.penalties(logLambda)
	if err != nil {
		return nil, err
	}
	start := m.last
	if start == nil {
		start = make([]point, len(m.classes))
		if few, leader := bilevel.RareClasses(m.label, m.engine.config.Weights, len(m.classes)); few != nil {
			_, at, err := m.one(ctx, leader, penalties[leader], point{})
			if err != nil {
				return nil, err
			}
			for _, k := range few {
				start[k] = at
			}
		}
	}
	fitted, last := make([]*Fitted, len(m.classes)), make([]point, len(m.classes))
	err = m.each(func(k int) (err error) {
		fitted[k], last[k], err = m.one(ctx, k, penalties[k], start[k])
		return err
	})
	if err != nil {
		return nil, err
	}
	m.last = last
	return m.join(logLambda, fitted), nil
}

// one solves for class k.
func (m *oneVersusRest) one(ctx context.Context, k int, g model.Penalty, start point) (*Fitted, point, error) {
	defer m.engine.turn(ctx)()
	fit, err := m.class(k)
	if err != nil {
		return nil, point{}, err
	}
	solver := cd.New(fit)
	if start.support != nil {
		solver.Start(start.support, start.coef)
	}
	solution, err := solver.Solve(ctx, g, m.engine.solver())
	if err != nil {
		return nil, point{}, err
	}
	at := point{slices.Clone(solution.Support), slices.Clone(solution.Coef)}
	fitted, err := m.engine.newFitted(ctx, fit, solver, g, solution)
	return fitted, at, err
}

// join puts the solutions of the classes together.
func (m *oneVersusRest) join(logLambda []float64, fitted []*Fitted) *Fitted {
	certify := m.engine.config.Certify
	out := &Fitted{Classes: slices.Clone(m.classes), Status: outcome.Converged, SupportCertified: certify}
	if unique := true; certify {
		out.DualMargin, out.Unique = 1, &unique
	}
	for k, f := range fitted {
		f.LogLambda, f.LogLambdaMax, f.Kernels = []float64{logLambda[k]}, []float64{m.top[k]}, m.engine.k.Name
		out.PerClass = append(out.PerClass, f)
		out.Support = append(out.Support, f.Support...)
		out.Objective += f.Objective
		out.Bound += f.Bound
		out.Worst(f.Certificate)
		out.SupportCertified = out.SupportCertified && f.SupportCertified
		out.DualMargin = min(out.DualMargin, f.DualMargin)
		if f.Unique == nil && (out.Unique == nil || *out.Unique) || f.Unique != nil && !*f.Unique {
			out.Unique = f.Unique // no, else unknown, else yes
		}
		out.SecondsCertify += f.SecondsCertify / float64(min(m.engine.config.threads(), len(fitted)))
		out.Add(f.Effort)
		if out.Status != outcome.Cancelled && f.Status != outcome.Converged {
			out.Status = f.Status
		}
	}
	slices.Sort(out.Support)
	out.Support = slices.Compact(out.Support)
	return out
}

func (m *oneVersusRest) outer(spec bilevel.Spec) (outer, error) {
	spec.Penalty = m.engine.family.penalty
	return bilevel.NewMulticlass(m.engine.k, m.engine.x, m.engine.y, spec)
}
