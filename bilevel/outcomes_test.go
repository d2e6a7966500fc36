package bilevel_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// orthogonal is a problem with known solutions: on the training rows column j has the values cⱼ and −cⱼ in rows 2j
// and 2j + 1 and is 0 elsewhere. Validation rows are random.
type orthogonal struct {
	columns [][]float64
	y       []float64
	folds   bilevel.Folds
}

const (
	orthogonalTrain = 8
	orthogonalRows  = 14
)

func newOrthogonal(y []float64, scale ...float64) *orthogonal {
	rng := rand.New(rand.NewPCG(1, 2))
	o := &orthogonal{y: y, folds: make(bilevel.Folds, orthogonalRows)}
	for i := range orthogonalTrain {
		o.folds[i] = bilevel.AlwaysTrain
	}
	for j, c := range scale {
		column := make([]float64, orthogonalRows)
		column[2*j], column[2*j+1] = c, -c
		for i := orthogonalTrain; i < orthogonalRows; i++ {
			column[i] = rng.NormFloat64()
		}
		o.columns = append(o.columns, column)
	}
	return o
}

// with adds a column that is the combination of the other columns with these factors on the training rows, but not
// on the validation rows.
func (o *orthogonal) with(factors ...float64) *orthogonal {
	column := make([]float64, orthogonalRows)
	for j, f := range factors {
		for i := range column {
			column[i] += f * o.columns[j][i]
		}
	}
	column[orthogonalTrain] += 5
	return &orthogonal{append(append([][]float64(nil), o.columns...), column), o.y, o.folds}
}

func (o *orthogonal) matrix(t *testing.T) sparse.Matrix {
	t.Helper()
	var values []float64
	for _, c := range o.columns {
		values = append(values, c...)
	}
	x, err := sparse.NewDense(orthogonalRows, len(o.columns), values)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestDocumentedOutcomes checks for every model the outcomes that package implicit documents where the conditions
// of the theorem fail: copied columns, dependent columns on the edge of the support, a kink, and λ ≥ λmax. A
// certificate is asked for.
func TestDocumentedOutcomes(t *testing.T) {
	k := fixture.Kernels(t)
	numbers := newOrthogonal([]float64{3, -3, 2, -2, 1, -1, 0.5, -0.5, 1, 0, -1, 2, 0.3, -0.4}, 1, 1, 1, 1)
	// z at 0 is cⱼ/8: the columns enter at 1/2, 3/8, 1/4 and 1/8.
	signs := newOrthogonal([]float64{1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, 1, -1, -1}, 4, 3, 2, 1)
	three := newOrthogonal([]float64{0, 1, 1, 2, 2, 0, 0, 1, 0, 1, 2, 0, 1, 2}, 4, 3, 2, 1)
	logistic := func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(view, y) }
	enet := penalties["enet"]
	for _, m := range []struct {
		name   string
		o      *orthogonal
		spec   bilevel.Spec
		open   string
		lambda func(alpha float64, p int) []float64
		// Strengths at which two columns are in the support, at which the third enters, and beyond αmax.
		inside, kink, beyond float64
		copied, dependent    outcome.Status
	}{
		{name: "lasso", o: numbers, spec: bilevel.Spec{Penalty: lasso}, inside: 0.3, kink: 0.25, beyond: 2, copied: outcome.Converged, dependent: outcome.NotUnique},
		{name: "enet", o: numbers, spec: bilevel.Spec{Penalty: enet}, inside: 0.3, kink: 0.25, beyond: 2, copied: outcome.Converged, dependent: outcome.Converged},
		{name: "wlasso", o: numbers, spec: bilevel.Spec{Penalty: model.WeightedLasso}, inside: 0.3, kink: 0.25, beyond: 2, copied: outcome.NotUnique, dependent: outcome.NotUnique},
		{name: "sure", o: numbers, spec: bilevel.Spec{Penalty: lasso}, open: "sure", inside: 0.3, kink: 0.25, beyond: 40, copied: outcome.Converged, dependent: outcome.NotUnique},
		{name: "logreg", o: signs, spec: bilevel.Spec{Penalty: lasso, Datafit: logistic}, inside: 0.3, kink: 0.25, beyond: 2, copied: outcome.Converged, dependent: outcome.NotUnique},
		{name: "logreg enet", o: signs, spec: bilevel.Spec{Penalty: enet, Datafit: logistic}, inside: 0.3, kink: 0.25, beyond: 2, copied: outcome.Converged, dependent: outcome.Converged},
		{name: "logreg wlasso", o: signs, spec: bilevel.Spec{Penalty: model.WeightedLasso, Datafit: logistic}, inside: 0.3, kink: 0.25, beyond: 2, copied: outcome.NotUnique, dependent: outcome.NotUnique},
		{name: "multiclass", o: three, spec: bilevel.Spec{Penalty: lasso}, open: "multiclass", inside: 0.3, kink: 0.25, beyond: 2, copied: outcome.Converged, dependent: outcome.NotUnique},
	} {
		evaluate := func(o *orthogonal, alpha float64) bilevel.Report {
			spec := m.spec
			spec.Folds, spec.Solver, spec.Certify = o.folds, cd.Options{Tol: 1e-13}, true
			x, lambda := o.matrix(t), []float64{kernels.Log(alpha)}
			var problem interface {
				Evaluate(context.Context, search.Request) (bilevel.Report, error)
			}
			var err error
			switch m.open {
			case "sure":
				// All rows train here, so the validation rows are emptied.
				rows := make([]float64, 0, orthogonalTrain*len(o.columns))
				for _, c := range o.columns {
					rows = append(rows, c[:orthogonalTrain]...)
				}
				if x, err = sparse.NewDense(orthogonalTrain, len(o.columns), rows); err != nil {
					t.Fatal(err)
				}
				spec.Risk = &bilevel.Risk{Information: bilevel.SURE(orthogonalTrain, 1), Sigma: 0.1, Seed: 7}
				problem, err = bilevel.New(k, x, o.y[:orthogonalTrain], spec)
			case "multiclass":
				lambda = []float64{lambda[0], lambda[0], lambda[0]}
				problem, err = bilevel.NewMulticlass(k, x, o.y, spec)
			default:
				if g, err := spec.Penalty([]float64{lambda[0], -2}); err == nil && g.Columns() < 0 && g.Hyperparameters() == 2 {
					lambda = []float64{lambda[0], -2}
				} else if g.Columns() >= 0 {
					lambda = steps(lambda[0], 1)
					for len(lambda) < len(o.columns) {
						lambda = append(lambda, lambda[0])
					}
				}
				problem, err = bilevel.New(k, x, o.y, spec)
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := problem.Evaluate(t.Context(), search.Request{LogLambda: lambda})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range r.Gradient {
				if math.IsNaN(g) || math.IsInf(g, 0) {
					t.Errorf("%s: gradient %v", m.name, r.Gradient)
				}
			}
			return r
		}
		// The mean of two columns of the support, with the signs they have there.
		mean := m.o.with(0.5, 0.5)
		if m.open == "multiclass" {
			mean = m.o.with(0.5, -0.5)
		}
		many := m.o // more columns in the support than rows
		for range orthogonalTrain {
			many = many.with(1)
		}
		for _, c := range []struct {
			name  string
			o     *orthogonal
			alpha float64
			want  outcome.Status
		}{
			{"a regular point", m.o, m.inside, outcome.Converged},
			{"a kink", m.o, m.kink, outcome.NotDifferentiable},
			{"a copied column", m.o.with(1), m.inside, m.copied},
			{"a negated copy", m.o.with(0, -1), m.inside, m.copied},
			{"dependent columns", mean, m.inside, m.dependent},
			{"nine copies", many, m.inside, m.copied},
			{"above λmax", m.o, m.beyond, outcome.Flat},
		} {
			r := evaluate(c.o, c.alpha)
			if r.Status != c.want || r.Trusted != (c.want == outcome.Converged || c.want == outcome.Flat) || r.SupportCertified != (c.want == outcome.Converged) {
				t.Errorf("%s, %s: %s, want %s; certified %v, trusted %v", m.name, c.name, r.Status, c.want, r.SupportCertified, r.Trusted)
			}
		}
	}
}

// TestDocumentedOutcomesOfAnSVM checks the outcomes for orthogonal samples, for which βᵢ is the smaller of C and
// 1/‖xᵢ‖².
func TestDocumentedOutcomesOfAnSVM(t *testing.T) {
	k := fixture.Kernels(t)
	one, two, held := []float64{2, 0}, []float64{0, -1}, []float64{0.5, -0.25}
	for _, c := range []struct {
		name      string
		samples   [][]float64 // the last is held out
		y         []float64
		c         float64
		want      outcome.Status
		certified bool
		gradient  float64
	}{
		// w = (½, v) with v the sum of C over the copies of sample two, so that m = (1 − v)/4 and ∂L/∂λ = (1 − m)·v/4.
		{"a regular point", [][]float64{one, two, held}, []float64{1, -1, 1}, 0.5, outcome.Converged, true, 0.875 * 0.125},
		{"on the margin at its bound", [][]float64{one, two, held}, []float64{1, -1, 1}, 1, outcome.NotDifferentiable, false, math.NaN()},
		{"a copy of a free sample", [][]float64{one, one, two, held}, []float64{1, 1, -1, 1}, 0.5, outcome.Converged, false, 0.875 * 0.125},
		{"a copy of a sample at its bound", [][]float64{one, two, two, held}, []float64{1, -1, -1, 1}, 0.375, outcome.Converged, true, 0.9375 * 0.1875},
		{"more free samples than features", [][]float64{one, one, one, two, held}, []float64{1, 1, 1, -1, 1}, 0.5, outcome.Converged, false, 0.875 * 0.125},
		{"nothing at its bound", [][]float64{one, two, held}, []float64{1, -1, 1}, 2, outcome.Flat, false, 0},
	} {
		n := len(c.y)
		values, folds := make([]float64, 2*n), make(bilevel.Folds, n)
		for i, row := range c.samples {
			values[i], values[n+i] = row[0], row[1]
			folds[i] = bilevel.AlwaysTrain
		}
		folds[n-1] = 0
		x, err := sparse.NewDense(n, 2, values)
		if err != nil {
			t.Fatal(err)
		}
		problem, err := bilevel.NewSVM(k, sparse.Transpose(x), c.y, bilevel.Spec{Folds: folds, Solver: cd.Options{Tol: 1e-13}, Certify: true})
		if err != nil {
			t.Fatal(err)
		}
		r := evaluate(t, problem, search.Request{LogLambda: []float64{kernels.Log(c.c)}})
		if r.Status != c.want || r.SupportCertified != c.certified || math.Abs(r.Gradient[0]-c.gradient) > 1e-12 {
			t.Errorf("%s: %s, certified %v, gradient %.15g; want %s, %v, %.15g", c.name, r.Status, r.SupportCertified, r.Gradient[0], c.want, c.certified, c.gradient)
		}
	}
}

// TestIteratesOfTooFewEpochs checks that the value at an iterate far from the solution is not trusted, with or
// without its gradient.
func TestIteratesOfTooFewEpochs(t *testing.T) {
	numbers := newOrthogonal([]float64{3, -3, 2, -2, 1, -1, 0.5, -0.5, 1, 0, -1, 2, 0.3, -0.4}, 4, 3, 2, 1)
	for _, m := range []iterdiff.Method{iterdiff.ForwardPGD, iterdiff.BackwardPGD} {
		problem, err := bilevel.New(fixture.Kernels(t), numbers.matrix(t), numbers.y, bilevel.Spec{
			Folds: numbers.folds, Penalty: penalties["lasso"], Iterate: &m, Solver: cd.Options{Tol: 1e-12, MaxEpochs: 2},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, alone := range []bool{false, true} {
			r, err := problem.Evaluate(t.Context(), search.Request{LogLambda: []float64{-4}, ValueOnly: alone})
			if err != nil || r.Trusted || r.Status != outcome.Budget {
				t.Errorf("%v, value alone %t: %s, trusted %t, gap %g, %v", m, alone, r.Status, r.Trusted, r.RelativeGap, err)
			}
		}
	}
}
