package pare

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// onVectors is the inner problem of [SVR] and [SimplexSVR], and of [SVM] with an intercept.
type onVectors struct {
	engine *engine
	fit    *model.Vectors
	solver *cd.Vectors // nil before the first solve
	top    []float64
}

func newVectors(e *engine) (problem, error) {
	fit, err := model.NewVectors(e.k, e.x, e.y, model.VectorsOptions{
		Weights: e.training(), Classes: !e.family.tube, Simplex: e.family.simplex, Intercept: e.centred(), Standardise: e.config.Standardize,
	})
	if err != nil {
		return nil, err
	}
	m := &onVectors{engine: e, fit: fit}
	for range fit.Hyperparameters() {
		m.top = append(m.top, math.NaN())
	}
	return m, nil
}

// vectors reports that the problem of samples is one with an intercept or a tube.
func (e *engine) vectors() bool { return e.family.tube || e.family.samples && e.config.Intercept }

func (e *engine) kind() bilevel.VectorsKind {
	switch {
	case e.family.simplex:
		return bilevel.VectorsOnSimplex
	case e.family.tube:
		return bilevel.VectorRegression
	default:
		return bilevel.VectorClasses
	}
}

// centred reports that there is an intercept.
func (e *engine) centred() bool {
	if e.family.bare {
		return e.config.Intercept
	}
	return !e.config.NoIntercept
}

// max implements [problem]: w = 0 for no C.
func (m *onVectors) max() []float64 { return m.top }

func (m *onVectors) accepts(logLambda []float64) error {
	_, _, err := m.fit.Strengths(logLambda)
	return err
}

// units are where the strengths of a problem are looked for around: the logarithms of the
// standard deviation σ of the target, or 1 for classes, over the mean square of a row, for C,
// and of σ/10 for ε.
func (m *onVectors) units() []float64 {
	var total, mean, square, length float64
	squares := m.fit.Squares()
	for i, y := range m.fit.Target() {
		s := m.fit.Weight(i)
		total += s
		mean += float64(s * y)
		length += float64(s * squares[i])
	}
	mean /= total
	for i, y := range m.fit.Target() {
		square += float64(m.fit.Weight(i) * (y - mean) * (y - mean))
	}
	spread, c := 1.0, 1/max(length/total, math.SmallestNonzeroFloat64)
	if len(m.top) == 1 {
		return []float64{kernels.Log(min(c, 1))}
	}
	if square > 0 {
		spread = math.Sqrt(square / total)
	}
	if m.fit.Simplex() { // where the hinges are worth what ½‖w‖² is, which is 1 at most
		c = 1 / float64(total*spread*spread)
	}
	return []float64{kernels.Log(spread * c), kernels.Log(0.1 * spread)}
}

// start implements [problem]: in the units of several strengths.
func (m *onVectors) start() float64 {
	if len(m.top) > 1 {
		return 1
	}
	return kernels.Exp(m.units()[0])
}

// judged returns what judges held-out rows.
func (m *onVectors) judged() criterion.Criterion { return m.engine.family.judge(nil) }

// restart implements [problem].
func (m *onVectors) restart() {
	if m.solver != nil {
		m.solver.Reset()
	}
}

func (m *onVectors) solve(ctx context.Context, logLambda []float64) (*Fitted, error) {
	if m.solver == nil {
		var err error
		if m.solver, err = cd.NewVectors(m.fit); err != nil {
			return nil, err
		}
	}
	s, err := m.solver.Solve(ctx, logLambda, m.engine.solver())
	if err != nil {
		return nil, err
	}
	out := m.engine.blank()
	out.Free, out.Bound, out.Objective, out.Intercept = len(s.Free), len(s.Bound), s.Primal, s.Intercept
	out.Certificate, out.Effort, out.Status = s.Certificate, s.Effort, s.Status
	if !m.fit.Centred() || len(s.Free) > 0 {
		out.Unique = m.engine.proved() // ½‖w‖² is strictly convex, and a free row tells the intercept
	}
	for j, w := range s.W {
		if w != 0 {
			out.Support, out.Coef = append(out.Support, int32(j)), append(out.Coef, w*m.fit.Scale(j))
		}
	}
	return out, nil
}

// complete adds to a spec what it is of.
func (m *onVectors) complete(spec bilevel.Spec) bilevel.Spec {
	spec.Certify = false // nothing is proved of these supports
	spec.Intercept = m.fit.Centred()
	if spec.Criterion == nil {
		spec.Criterion = m.engine.family.judge(nil)
	}
	return spec
}

func (m *onVectors) outer(spec bilevel.Spec) (outer, error) {
	return bilevel.NewVectors(m.engine.k, m.engine.x, m.engine.y, m.engine.kind(), m.complete(spec))
}

func (m *onVectors) lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	return bilevel.NewVectorsLanes(m.engine.k, x, m.engine.y, m.engine.kind(), m.complete(spec))
}

func (m *onVectors) over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (outer, error) {
	return bilevel.NewOver(ctx, runner, m.complete(spec))
}

// checkVectors refuses what the machines of support vectors do not have.
func (e *engine) checkVectors() error {
	switch c := e.config; {
	case c.Intercept && e.family.simplex:
		return outcome.At(outcome.Usage, "intercept", "%s has none: its coefficients have the sum 1", c.Model)
	case c.Standardize && e.family.simplex:
		return outcome.At(outcome.Usage, "standardize", "the coefficients of %s have the sum 1 as they are; scale the columns before", c.Model)
	case c.Intercept && !e.family.bare:
		return outcome.At(outcome.Usage, "intercept", "%s has an intercept unless NoIntercept says otherwise", c.Model)
	case c.Intercept && c.NoIntercept:
		return outcome.At(outcome.Usage, "intercept", "both asked for and left out")
	case c.Standardize && e.family.samples && !e.vectors():
		return outcome.At(outcome.Usage, "standardize", "%s without an intercept works on rows as they are; scale the columns before, or ask for an intercept", c.Model)
	case c.Method.iterate() != nil && e.vectors():
		return outcome.At(outcome.Usage, "method", "%s with an intercept or a tube has %s alone", c.Model, Implicit)
	default:
		return nil
	}
}
