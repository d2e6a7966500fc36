package inner

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// onVectors is the inner problem of support vector regression, also on the simplex, and of an SVM with an
// intercept.
type onVectors struct {
	statement *Statement
	fit       *model.Vectors
	solver    *cd.Vectors // nil before the first solve
	logMax    []float64
}

func newVectors(of *Statement) (Problem, error) {
	fit, err := model.NewVectors(of.Kernels, of.X, of.Y, model.VectorsOptions{
		Weights: of.trainingWeights(), Classes: !of.Tube, Simplex: of.Simplex, Intercept: of.Intercept, Standardise: of.Standardise,
	})
	if err != nil {
		return nil, err
	}
	m := &onVectors{statement: of, fit: fit}
	for range fit.Hyperparameters() {
		m.logMax = append(m.logMax, math.NaN())
	}
	return m, nil
}

// vectorsKind returns the kind of the support vector problem.
func (s *Statement) vectorsKind() bilevel.VectorsKind {
	switch {
	case s.Simplex:
		return bilevel.VectorsOnSimplex
	case s.Tube:
		return bilevel.VectorRegression
	default:
		return bilevel.VectorClasses
	}
}

// AppendMax implements [Problem]: there is no αmax, as no C makes w = 0.
func (m *onVectors) AppendMax(out []float64) []float64 { return append(out, m.logMax...) }

func (m *onVectors) Accepts(logLambda []float64) error {
	_, _, err := m.fit.Strengths(logLambda)
	return err
}

// Units returns the centres of a search for the strengths, as logarithms: for C the standard deviation σ of
// the target, or 1 for classes, over the mean squared norm of a row, and for ε σ/10.
func (m *onVectors) Units() []float64 {
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
	spread, c := 1.0, 1.0 // where all entries are 0 any C will do
	if length > 0 {
		c = 1 / max(length/total, math.SmallestNonzeroFloat64)
	}
	if len(m.logMax) == 1 {
		return []float64{kernels.Log(min(c, 1))}
	}
	if square > 0 {
		spread = math.Sqrt(square / total)
	}
	if m.fit.Simplex() { // the losses then have the size of ½‖w‖², which is 1 at most
		c = 1 / float64(total*spread*spread)
	}
	return []float64{kernels.Log(spread * c), kernels.Log(0.1 * spread)}
}

// Start implements [Problem]: 1 for several strengths, which are relative to Units, else C.
func (m *onVectors) Start() float64 {
	if len(m.logMax) > 1 {
		return 1
	}
	return kernels.Exp(m.Units()[0])
}

// Judged returns the criterion on held-out rows.
func (m *onVectors) Judged() criterion.Criterion { return m.statement.Judge(nil) }

// Restart implements [Problem].
func (m *onVectors) Restart() {
	if m.solver != nil {
		m.solver.Reset()
	}
}

func (m *onVectors) Solve(ctx context.Context, logLambda []float64) (*Solution, error) {
	if err := m.Accepts(logLambda); err != nil {
		return nil, err
	}
	defer m.statement.Turn(ctx)()
	if m.solver == nil {
		var err error
		if m.solver, err = cd.NewVectors(m.fit); err != nil {
			return nil, err
		}
	}
	s, err := m.solver.Solve(ctx, logLambda, m.statement.Solver())
	if err != nil {
		return nil, err
	}
	out := m.statement.newResult()
	out.Free, out.Bound, out.Objective, out.Intercept = len(s.Free), len(s.Bound), s.Primal, s.Intercept
	out.Certificate, out.Effort, out.Work, out.Status = s.Certificate, s.Effort, s.Work, s.Status
	if !m.fit.Centred() || len(s.Free) > 0 {
		out.Unique = m.statement.provedUnique() // ½‖w‖² is strictly convex, and a free row determines the intercept
	}
	for j, w := range s.W {
		if w != 0 {
			out.Support, out.Coef = append(out.Support, int32(j)), append(out.Coef, w*m.fit.Scale(j))
		}
	}
	return out, nil
}

// completeSpec adds to a spec what is particular to the model.
func (m *onVectors) completeSpec(spec bilevel.Spec) bilevel.Spec {
	spec.Certify = false // nothing is proved of these supports
	spec.Intercept = m.fit.Centred()
	if spec.Criterion == nil {
		spec.Criterion = m.statement.Judge(nil)
	}
	return spec
}

func (m *onVectors) Outer(spec bilevel.Spec) (Outer, error) {
	return bilevel.NewVectors(m.statement.Kernels, m.statement.X, m.statement.Y, m.statement.vectorsKind(), m.completeSpec(spec))
}

func (m *onVectors) Lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	return bilevel.NewVectorsLanes(m.statement.Kernels, x, m.statement.Y, m.statement.vectorsKind(), m.completeSpec(spec))
}

func (m *onVectors) Over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (Outer, error) {
	return bilevel.NewOver(ctx, runner, m.completeSpec(spec))
}
