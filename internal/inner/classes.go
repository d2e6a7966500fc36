package inner

import (
	"cmp"
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

// oneVersusRest is the inner problem of one-versus-rest classification: for every class a logistic regression
// of that class against the others.
type oneVersusRest struct {
	of      *Statement
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

// OnClasses makes the inner problems of each class against the rest.
func OnClasses(of *Statement) (Problem, error) {
	m := &oneVersusRest{of: of}
	var err error
	if m.view, err = of.View(); err != nil {
		return nil, err
	}
	if n, _ := of.X.Dims(); len(of.Y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(of.Y), n)
	}
	if m.classes, m.label, err = bilevel.Classes(of.Kernels, of.Y); err != nil {
		return nil, err
	}
	m.box = of.Box.In(m.view)
	m.top = make([]float64, len(m.classes))
	null := &nullModels{m, make([]error, len(m.classes))}
	threads := of.Team()
	defer threads.Rest()
	threads.Do(len(m.classes), null)
	return m, cmp.Or(null.err...)
}

// nullModels computes αmax of each class. It implements [team.Task].
type nullModels struct {
	*oneVersusRest
	err []error // by class
}

// Part implements [team.Task].
func (m *nullModels) Part(k, _ int) {
	fit, err := m.class(k)
	if m.err[k] = err; err == nil {
		m.top[k] = kernels.Log(m.of.Form.Max(model.NewNull(fit).Within(m.box)))
	}
}

// each runs a task for every class, with at most as many at once as there are threads. A task waits for its
// turn.
func (m *oneVersusRest) each(task func(k int) error) error {
	var group errgroup.Group
	group.SetLimit(m.of.Threads)
	for k := range m.classes {
		group.Go(func() (err error) {
			defer outcome.Caught(&err)
			return task(k)
		})
	}
	return group.Wait()
}

// class returns the datafit of class k against the rest.
func (m *oneVersusRest) class(k int) (*model.Rowwise, error) {
	y := kernels.Undefined[float64](len(m.label))
	for i, c := range m.label {
		if y[i] = -1; int(c) == k {
			y[i] = 1
		}
	}
	return model.NewLogistic(m.view, y)
}

func (m *oneVersusRest) AppendMax(out []float64) []float64 { return append(out, m.top...) }

// Start implements [Problem].
func (m *oneVersusRest) Start() float64 { return m.of.shareOfMax() }

// penalties returns the penalties of the classes.
func (m *oneVersusRest) penalties(logLambda []float64) (all []model.Penalty, err error) {
	all = make([]model.Penalty, len(logLambda))
	for k, l := range logLambda {
		if all[k], err = m.of.penalty([]float64{l}); err != nil {
			return nil, err
		}
		if all[k], err = all[k].Within(m.box); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (m *oneVersusRest) Accepts(logLambda []float64) error {
	_, err := m.penalties(logLambda)
	return err
}

// Restart implements [Problem].
func (m *oneVersusRest) Restart() { m.last = nil }

func (m *oneVersusRest) Solve(ctx context.Context, logLambda []float64) (*Solution, error) {
	penalties, err := m.penalties(logLambda)
	if err != nil {
		return nil, err
	}
	start, lead := m.last, 0.0
	if start == nil {
		start = make([]point, len(m.classes))
		if few, leader := bilevel.RareClasses(m.label, m.of.Weights, len(m.classes)); few != nil {
			first, at, err := m.one(ctx, leader, penalties[leader], point{})
			if err != nil {
				return nil, err
			}
			lead = first.Work
			for _, k := range few {
				start[k] = at
			}
		}
	}
	fitted, last := make([]*Solution, len(m.classes)), make([]point, len(m.classes))
	err = m.each(func(k int) (err error) {
		fitted[k], last[k], err = m.one(ctx, k, penalties[k], start[k])
		return err
	})
	if err != nil {
		return nil, err
	}
	m.last = last
	out := m.join(logLambda, fitted)
	out.Work += lead
	return out, nil
}

// one solves for class k.
func (m *oneVersusRest) one(ctx context.Context, k int, g model.Penalty, start point) (*Solution, point, error) {
	defer m.of.Turn(ctx)()
	fit, err := m.class(k)
	if err != nil {
		return nil, point{}, err
	}
	solver := cd.New(fit)
	if start.support != nil {
		solver.Start(start.support, start.coef)
	}
	solution, err := solver.Solve(ctx, g, m.of.Solver())
	if err != nil {
		return nil, point{}, err
	}
	at := point{slices.Clone(solution.Support), slices.Clone(solution.Coef)}
	fitted, err := m.of.solution(ctx, fit, solver, g, solution)
	return fitted, at, err
}

// join combines the solutions of the classes.
func (m *oneVersusRest) join(logLambda []float64, fitted []*Solution) *Solution {
	certify := m.of.Certify
	out := &Solution{Classes: slices.Clone(m.classes), Status: outcome.Converged, SupportCertified: certify}
	if unique := true; certify {
		out.DualMargin, out.Unique = 1, &unique
	}
	for k, f := range fitted {
		f.LogLambda, f.LogLambdaMax = []float64{logLambda[k]}, []float64{m.top[k]}
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
		out.SecondsCertify += f.SecondsCertify / float64(min(m.of.Threads, len(fitted)))
		out.Add(f.Effort)
		out.Work += f.Work
		if out.Status != outcome.Cancelled && f.Status != outcome.Converged {
			out.Status = f.Status
		}
	}
	slices.Sort(out.Support)
	out.Support = slices.Compact(out.Support)
	return out
}

func (m *oneVersusRest) Outer(spec bilevel.Spec) (Outer, error) {
	spec.Penalty, spec.AlphaMax = m.of.penalty, m.of.Form.Max
	return bilevel.NewMulticlass(m.of.Kernels, m.of.X, m.of.Y, spec)
}

// Lanes implements [Distributable].
func (m *oneVersusRest) Lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	spec.Penalty, spec.AlphaMax = m.of.penalty, m.of.Form.Max
	return bilevel.NewMulticlassLanes(m.of.Kernels, x, m.of.Y, spec)
}

// Over implements [Distributable].
func (m *oneVersusRest) Over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (Outer, error) {
	return bilevel.NewMulticlassOver(ctx, m.of.Kernels, runner, m.of.Y, spec)
}
