package inner

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// onSamples is the inner problem of an SVM, on samples instead of columns.
type onSamples struct {
	statement *Statement
	samples   sparse.Matrix // p × n
	fit       *model.SVM
	solver    *cd.SVM // nil before the first solve
	logMax    [1]float64
}

// OnSamples makes the inner problem of support vectors.
func OnSamples(of *Statement) (Problem, error) {
	if of.Tube || of.Intercept {
		return newVectors(of)
	}
	if n, _ := of.X.Dims(); len(of.Y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(of.Y), n)
	}
	if _, p := of.X.Dims(); p == 0 {
		return nil, outcome.Errorf(outcome.Shape, "there are no columns, and %s has no intercept to fit alone", of.Name)
	}
	m := &onSamples{statement: of, samples: sparse.Transpose(of.X), logMax: [1]float64{math.NaN()}}
	var err error
	m.fit, err = model.NewSVM(of.Kernels, m.samples, of.Y, of.trainingWeights())
	return m, err
}

// Start returns 1 over the mean squared norm of a row, about where samples begin to leave their bound, but
// not more than 1. With long rows and C = 1 no sample is at its bound, and the solution does not depend on C.
func (m *onSamples) Start() float64 {
	_, n := m.samples.Dims()
	var mean float64
	for i := range n {
		_, values := m.samples.Column(i)
		norm := m.statement.Kernels.Nrm2(values)
		mean += float64(norm*norm) / float64(n)
	}
	return 1 / max(1, mean)
}

// AppendMax implements [Problem]: there is no αmax, as no C makes w = 0.
func (m *onSamples) AppendMax(out []float64) []float64 { return append(out, m.logMax[:]...) }

func (m *onSamples) Accepts(logLambda []float64) error {
	_, err := m.fit.Strength(logLambda[0])
	return err
}

// Restart implements [Problem].
func (m *onSamples) Restart() {
	if m.solver != nil {
		m.solver.Reset()
	}
}

func (m *onSamples) Solve(ctx context.Context, logLambda []float64) (*Solution, error) {
	if err := m.Accepts(logLambda); err != nil {
		return nil, err
	}
	defer m.statement.Turn(ctx)()
	if m.solver == nil {
		m.solver = cd.NewSVM(m.fit)
	}
	s, err := m.solver.Solve(ctx, logLambda[0], m.statement.Solver())
	if err != nil {
		return nil, err
	}
	out := m.statement.newResult()
	out.Free, out.Bound, out.Objective = len(s.Free), len(s.Bound), s.Primal
	out.Certificate, out.Effort, out.Work, out.Status = s.Certificate, s.Effort, s.Work, s.Status
	out.Unique = m.statement.provedUnique() // ½‖w‖² is strictly convex
	for j, w := range s.W {
		if w != 0 {
			out.Support, out.Coef = append(out.Support, int32(j)), append(out.Coef, w)
		}
	}
	return out, nil
}

func (m *onSamples) Outer(spec bilevel.Spec) (Outer, error) {
	return bilevel.NewSVM(m.statement.Kernels, m.samples, m.statement.Y, spec)
}

// Judged returns the criterion on held-out rows.
func (m *onSamples) Judged() criterion.Criterion { return m.statement.Judge(nil) }

// Lanes implements [Distributable].
func (m *onSamples) Lanes(_ sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	return bilevel.NewSVMLanes(m.statement.Kernels, m.samples, m.statement.Y, spec)
}

// Over implements [Distributable].
func (m *onSamples) Over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (Outer, error) {
	return bilevel.NewOver(ctx, runner, spec)
}
