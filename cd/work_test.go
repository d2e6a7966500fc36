package cd_test

import (
	"context"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestWorkIsCounted checks that the work counted for a solve is the same to the last bit on every
// kernel set, watched or not, in a new solver or after Reset. More accuracy must cost more, and a
// solve from its own solution far less.
func TestWorkIsCounted(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 60, P: 90, Density: r.Pick(0.2, 1), Mean: r.Pick(0, 2)})
		q.Intercept = seed%2 == 0
		logistic, dense := seed%3 == 0, seed%4 < 2
		top := q.AlphaMax()
		if logistic {
			q.Classes(r)
			top = q.LogisticAlphaMax()
		}
		g := fixture.Penalty(t, q.Uniform(0.02*top))
		var first float64
		for _, k := range kernels.Available() {
			fit := fitOn(t, k, q, dense, logistic)
			s := cd.New(fit)
			whole := solve(t, s, g, cd.Options{Tol: 1e-9}).Work
			again := solve(t, s, g, cd.Options{Tol: 1e-9}).Work
			s.Reset()
			reset := solve(t, s, g, cd.Options{Tol: 1e-9, Watch: func(cd.Progress) {}}).Work
			s.Reset()
			rough := solve(t, s, g, cd.Options{Tol: 1e-6}).Work
			if first == 0 {
				first = whole
			}
			if whole != first || reset != whole {
				t.Errorf("seed %d, %s: work %g, %g after a reset, %g on the first set", seed, k.Name, whole, reset, first)
			}
			if !(again > 0 && again < 0.5*whole && rough <= whole) {
				t.Errorf("seed %d, %s: work %g, %g to 1e-6, %g from the solution", seed, k.Name, whole, rough, again)
			}
		}
	}
}

func fitOn(t *testing.T, k *kernels.Set, q *oracle.Problem, dense, logistic bool) (fit model.Datafit) {
	t.Helper()
	view, err := sparse.NewView(k, fixture.Matrix(t, q, dense), q.Weights, q.Intercept)
	if err != nil {
		t.Fatal(err)
	}
	if logistic {
		fit, err = model.NewLogistic(view, q.Y)
	} else {
		fit, err = model.NewSquared(view, q.Y)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// TestOnePassCostsItsEntries checks that a solve above αmax is charged for one pass over the
// entries.
func TestOnePassCostsItsEntries(t *testing.T) {
	const n, p = 200, 300
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: n, P: p, Density: 1})
	g := fixture.Penalty(t, q.Uniform(1.01*q.AlphaMax()))
	for _, dense := range []bool{false, true} {
		work := solve(t, cd.New(fixture.Squared(t, q, dense)), g, cd.Options{}).Work
		least, most := 0.4*n*p, 0.6*n*p
		if dense {
			least, most = 0.1*n*p, 0.3*n*p
		}
		if work < least || work > most {
			t.Errorf("dense %v: a pass over %d entries costs %g ns", dense, n*p, work)
		}
	}
}

// TestWorkOfAnSVMIsCounted checks that the same solve of an SVM costs the same, and that more
// accuracy costs more.
func TestWorkOfAnSVMIsCounted(t *testing.T) {
	for _, dense := range []bool{true, false} {
		fit := svmShape(oracle.NewRandom(3), oracle.Shape{N: 60, P: 20, Density: 0.5}).fit(t, kernels.Available()[0], dense)
		work := func(tol float64) float64 {
			sol, err := cd.NewSVM(fit).Solve(context.Background(), 0, cd.Options{Tol: tol})
			if err != nil {
				t.Fatal(err)
			}
			return sol.Work
		}
		if rough, fine := work(1e-1), work(1e-9); !(rough > 0 && fine > rough && fine == work(1e-9)) {
			t.Errorf("dense %v: work %g to 0.1, %g to 1e-9, and again %g", dense, rough, fine, work(1e-9))
		}
	}
}
