package bilevel_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// twoClasses returns a random problem of the oracle whose target is replaced by its signs.
func twoClasses(seed uint64, n, p int) *oracle.Problem {
	q := oracle.NewRandom(seed).Problem(oracle.Shape{N: n, P: p, Density: 0.5, Active: 3})
	for i, v := range q.Y {
		q.Y[i] = math.Copysign(1, v)
	}
	return q
}

// TestSVMGradientAgainstDifferences checks that the slope of the SVM's criterion agrees with differences of its
// values, that it is flat where no sample is at C, and that the null value is that of w = 0.
func TestSVMGradientAgainstDifferences(t *testing.T) {
	k := fixture.Kernels(t)
	for seed := range oracle.Cases(8) {
		q := twoClasses(seed, 40, 6)
		folds, err := bilevel.KFold(nil, 40, 3, true, seed)
		if err != nil {
			t.Fatal(err)
		}
		problem, err := bilevel.NewSVM(k, sparse.Transpose(fixture.Matrix(t, q, seed%2 == 0)), q.Y, bilevel.Spec{Folds: folds, Solver: cd.Options{Tol: 1e-13}})
		if err != nil {
			t.Fatal(err)
		}
		if problem.NullValue() != 0.5 {
			t.Errorf("null value %g", problem.NullValue())
		}
		at := func(l float64) bilevel.Report { return evaluate(t, problem, search.Request{LogLambda: []float64{l}}) }
		for _, l := range []float64{-4, -1} {
			const h = 1e-6
			r, want := at(l), (at(l+h).Value-at(l-h).Value)/(2*h)
			if r.Status != outcome.Converged || !(math.Abs(r.Gradient[0]-want) <= 1e-5*(math.Abs(want)+0.1*r.Value)) {
				t.Errorf("seed %d, ln C = %g: slope %g, differences %g, %s", seed, l, r.Gradient[0], want, r.Status)
			}
		}
	}
}

// TestIteratedGradientsAgreeWithImplicitOnes checks that derivatives of iterates that are run to convergence agree
// with those of the solution.
func TestIteratedGradientsAgreeWithImplicitOnes(t *testing.T) {
	k := fixture.Kernels(t)
	q := oracle.NewRandom(3).Problem(oracle.Shape{N: 50, P: 12, Density: 0.6, Active: 4})
	labelled := twoClasses(5, 50, 12)
	folds, err := bilevel.KFold(nil, 50, 3, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	top := math.Log(q.AlphaMax())
	logistic := func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(view, y) }
	for name, c := range map[string]struct {
		q      *oracle.Problem
		spec   bilevel.Spec
		lambda []float64
	}{
		"lasso":  {q, bilevel.Spec{Penalty: lasso, Intercept: true}, []float64{top - 1.5}},
		"enet":   {q, bilevel.Spec{Penalty: penalties["enet"]}, []float64{top - 1.5, top - 3}},
		"wlasso": {q, bilevel.Spec{Penalty: model.WeightedLasso, Intercept: true}, steps(top-2, 12)},
		"logreg": {labelled, bilevel.Spec{Penalty: lasso, Datafit: logistic, Intercept: true}, []float64{-3}},
		"svm":    {labelled, bilevel.Spec{}, []float64{-3}},
	} {
		c.spec.Folds, c.spec.Solver = folds, cd.Options{Tol: 1e-10}
		open := func(method *iterdiff.Method) bilevel.Report {
			spec := c.spec
			spec.Iterate = method
			var problem *bilevel.Problem
			if name == "svm" {
				problem, err = bilevel.NewSVM(k, sparse.Transpose(fixture.Matrix(t, c.q, true)), c.q.Y, spec)
			} else {
				problem, err = bilevel.New(k, fixture.Matrix(t, c.q, true), c.q.Y, spec)
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := problem.Evaluate(context.Background(), search.Request{LogLambda: c.lambda})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		want := open(nil)
		for _, method := range []iterdiff.Method{iterdiff.ForwardPCD, iterdiff.BackwardPCD, iterdiff.ForwardPGD, iterdiff.BackwardPGD} {
			got := open(&method)
			if got.Status != outcome.Converged || !(math.Abs(got.Value-want.Value) <= 1e-5*want.Value) {
				t.Errorf("%s, %s: value %g, implicit %g, %s", name, method, got.Value, want.Value, got.Status)
			}
			largest := 0.0
			for _, g := range want.Gradient {
				largest = max(largest, math.Abs(g))
			}
			for i, g := range want.Gradient {
				if !(math.Abs(got.Gradient[i]-g) <= 1e-5*largest) {
					t.Errorf("%s, %s: slope %d is %g, implicit %g", name, method, i, got.Gradient[i], g)
				}
			}
		}
	}
}

// steps returns strengths that differ by column.
func steps(from float64, p int) []float64 {
	out := make([]float64, p)
	for j := range out {
		out[j] = from + 0.05*float64(j%5)
	}
	return out
}
