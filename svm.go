package pare

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

// onSamples is the inner problem of [SVM], on samples instead of columns.
type onSamples struct {
	engine  *engine
	samples sparse.Matrix // p × n
	fit     *model.SVM
	solver  *cd.SVM // nil before the first solve
	top     [1]float64
}

func newSamples(e *engine) (problem, error) {
	if e.vectors() {
		return newVectors(e)
	}
	if n, _ := e.x.Dims(); len(e.y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(e.y), n)
	}
	if _, p := e.x.Dims(); p == 0 {
		return nil, outcome.Errorf(outcome.Shape, "there is no column, and %s has no intercept to fit alone", e.config.Model)
	}
	m := &onSamples{engine: e, samples: sparse.Transpose(e.x), top: [1]float64{math.NaN()}}
	var err error
	m.fit, err = model.NewSVM(e.k, m.samples, e.y, e.training())
	return m, err
}

// start returns one over the mean squared norm of a row, where about samples begin to
// leave their bound, but not more than 1. With long rows and C = 1 none is at it, and
// nothing moves with C.
func (m *onSamples) start() float64 {
	_, n := m.samples.Dims()
	var mean float64
	for i := range n {
		_, values := m.samples.Column(i)
		norm := m.engine.k.Nrm2(values)
		mean += float64(norm*norm) / float64(n)
	}
	return 1 / max(1, mean)
}

// max implements [problem]: w = 0 for no C.
func (m *onSamples) max() []float64 { return m.top[:] }

func (m *onSamples) accepts(logLambda []float64) error {
	_, err := m.fit.Strength(logLambda[0])
	return err
}

// restart implements [problem].
func (m *onSamples) restart() {
	if m.solver != nil {
		m.solver.Reset()
	}
}

func (m *onSamples) solve(ctx context.Context, logLambda []float64) (*Fitted, error) {
	defer m.engine.turn(ctx)()
	if m.solver == nil {
		m.solver = cd.NewSVM(m.fit)
	}
	s, err := m.solver.Solve(ctx, logLambda[0], m.engine.solver())
	if err != nil {
		return nil, err
	}
	out := m.engine.blank()
	out.Free, out.Bound, out.Objective = len(s.Free), len(s.Bound), s.Primal
	out.Certificate, out.Effort, out.Status = s.Certificate, s.Effort, s.Status
	out.Unique = m.engine.proved() // ½‖w‖² is strictly convex
	for j, w := range s.W {
		if w != 0 {
			out.Support, out.Coef = append(out.Support, int32(j)), append(out.Coef, w)
		}
	}
	return out, nil
}

func (m *onSamples) outer(spec bilevel.Spec) (outer, error) {
	return bilevel.NewSVM(m.engine.k, m.samples, m.engine.y, spec)
}

// judged returns the criterion on held-out rows.
func (m *onSamples) judged() criterion.Criterion { return m.engine.family.judge(nil) }
