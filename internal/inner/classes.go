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
	statement *Statement
	view      *sparse.View
	classes   []float64
	classOf   []int32 // n: class of each row
	logMax    []float64
	box       *model.Box
	starts    []point // where the next solve starts, by class; nil before the first
}

// point is a solution in the coordinates of its view.
type point struct {
	support []int32
	coef    []float64
}

// OnClasses makes the inner problems of each class against the rest.
func OnClasses(of *Statement) (Problem, error) {
	m := &oneVersusRest{statement: of}
	var err error
	if m.view, err = of.View(); err != nil {
		return nil, err
	}
	if n, _ := of.X.Dims(); len(of.Y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(of.Y), n)
	}
	if m.classes, m.classOf, err = bilevel.Classes(of.Kernels, of.Y); err != nil {
		return nil, err
	}
	m.box = of.Box.In(m.view)
	m.logMax = make([]float64, len(m.classes))
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
	fit, err := m.classFit(k)
	if m.err[k] = err; err == nil {
		m.logMax[k] = kernels.Log(m.statement.Form.Max(model.NewNull(fit).Within(m.box)))
	}
}

// forEachClass runs a task for every class, with at most as many at once as there are threads. A task waits for its
// turn.
func (m *oneVersusRest) forEachClass(task func(k int) error) error {
	var group errgroup.Group
	group.SetLimit(m.statement.Threads)
	for k := range m.classes {
		group.Go(func() (err error) {
			defer outcome.Caught(&err)
			return task(k)
		})
	}
	return group.Wait()
}

// classFit returns the datafit of class k against the rest.
func (m *oneVersusRest) classFit(k int) (*model.Rowwise, error) {
	y := kernels.Undefined[float64](len(m.classOf))
	for i, c := range m.classOf {
		if y[i] = -1; int(c) == k {
			y[i] = 1
		}
	}
	return model.NewLogistic(m.view, y)
}

func (m *oneVersusRest) AppendMax(out []float64) []float64 { return append(out, m.logMax...) }

// Start implements [Problem].
func (m *oneVersusRest) Start() float64 { return m.statement.shareOfMax() }

// penalties returns the penalties of the classes.
func (m *oneVersusRest) penalties(logLambda []float64) (all []model.Penalty, err error) {
	all = make([]model.Penalty, len(logLambda))
	for k, l := range logLambda {
		if all[k], err = m.statement.penalty([]float64{l}); err != nil {
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
func (m *oneVersusRest) Restart() { m.starts = nil }

func (m *oneVersusRest) Solve(ctx context.Context, logLambda []float64) (*Solution, error) {
	penalties, err := m.penalties(logLambda)
	if err != nil {
		return nil, err
	}
	start, lead := m.starts, 0.0
	if start == nil {
		start = make([]point, len(m.classes))
		if few, leader := bilevel.RareClasses(m.classOf, m.statement.Weights, len(m.classes)); few != nil {
			first, at, err := m.solveClass(ctx, leader, penalties[leader], point{})
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
	err = m.forEachClass(func(k int) (err error) {
		fitted[k], last[k], err = m.solveClass(ctx, k, penalties[k], start[k])
		return err
	})
	if err != nil {
		return nil, err
	}
	m.starts = last
	out := m.combine(logLambda, fitted)
	out.Work += lead
	return out, nil
}

// solveClass solves for class k.
func (m *oneVersusRest) solveClass(ctx context.Context, k int, g model.Penalty, start point) (*Solution, point, error) {
	defer m.statement.Turn(ctx)()
	fit, err := m.classFit(k)
	if err != nil {
		return nil, point{}, err
	}
	solver := cd.New(fit)
	if start.support != nil {
		solver.Start(start.support, start.coef)
	}
	solution, err := solver.Solve(ctx, g, m.statement.Solver())
	if err != nil {
		return nil, point{}, err
	}
	at := point{slices.Clone(solution.Support), slices.Clone(solution.Coef)}
	fitted, err := m.statement.solution(ctx, fit, solver, g, solution)
	return fitted, at, err
}

// combine combines the solutions of the classes.
func (m *oneVersusRest) combine(logLambda []float64, fitted []*Solution) *Solution {
	certify := m.statement.Certify
	out := &Solution{Classes: slices.Clone(m.classes), Status: outcome.Converged, SupportCertified: certify}
	if unique := true; certify {
		out.DualMargin, out.Unique = 1, &unique
	}
	for k, f := range fitted {
		f.LogLambda, f.LogLambdaMax = []float64{logLambda[k]}, []float64{m.logMax[k]}
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
		out.SecondsCertify += f.SecondsCertify / float64(min(m.statement.Threads, len(fitted)))
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
	spec.Penalty, spec.AlphaMax = m.statement.penalty, m.statement.Form.Max
	return bilevel.NewMulticlass(m.statement.Kernels, m.statement.X, m.statement.Y, spec)
}

// Lanes implements [Distributable].
func (m *oneVersusRest) Lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	spec.Penalty, spec.AlphaMax = m.statement.penalty, m.statement.Form.Max
	return bilevel.NewMulticlassLanes(m.statement.Kernels, x, m.statement.Y, spec)
}

// Over implements [Distributable].
func (m *oneVersusRest) Over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (Outer, error) {
	return bilevel.NewMulticlassOver(ctx, m.statement.Kernels, runner, m.statement.Y, spec)
}
