package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestCertifiedPointsAreEliminated: however loose the tolerance, what is certified has the unpenalised coefficients that
// the others call for, under a loss that is not quadratic, too, and where the null model is known: the residual is orthogonal to
// their columns.
func TestCertifiedPointsAreEliminated(t *testing.T) {
	for seed := range uint64(10) {
		r := oracle.NewRandom(800 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: 8, Mean: 1}).Classes(r)
		q.Intercept = seed%2 == 0
		q.Uniform(0.1 * q.LogisticAlphaMax())
		free := []int{1, 4}[:1+seed%3%2] // one or two
		for _, j := range free {
			q.Alpha[j] = 0
		}
		view := fixture.View(t, q, seed%3 == 0)
		logistic, err := model.NewLogistic(view, q.Y)
		if err != nil {
			t.Fatal(err)
		}
		squared, err := model.NewSquared(view, q.Y)
		if err != nil {
			t.Fatal(err)
		}
		for _, fit := range []model.Datafit{logistic, squared} {
			for _, tol := range []float64{0.999, 0.3, 1e-2} {
				for _, solver := range []*cd.Solver{cd.New(fit), cd.NewFrom(model.NewNull(fit))} {
					sol := solve(t, solver, fixture.Penalty(t, q), cd.Options{Tol: tol})
					s := model.NewState(fit)
					fit.Fit(sol.Support, sol.Coef, s)
					for _, j := range free {
						if c := view.Dot(j, s.Weighted) / view.Norm(j); math.Abs(c) > 1e-11 || sol.Status != outcome.Converged {
							t.Errorf("seed %d, %T, tolerance %g, column %d: %s, the residual's correlation is %g", seed, fit, tol, j, sol.Status, c)
						}
					}
				}
			}
		}
	}
}

// TestGapKnowsColumnsWithoutCurvature: rows far beyond Huber's δ pull on an unpenalised column without a curvature for Newton's steps, and the gap is
// no less than what the objective lacks.
func TestGapKnowsColumnsWithoutCurvature(t *testing.T) {
	const far = 1e3
	for count := 1; count <= 2; count++ {
		q := &oracle.Problem{Alpha: make([]float64, count)}
		for i := range 12 {
			q.X, q.Y = append(q.X, []float64{1, float64(i % 2)}[:count]), append(q.Y, far)
		}
		fit, err := model.NewDatafit(fixture.View(t, q, true), q.Y, loss.Huber{Delta: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, epochs := range []int{1, 3, 1000} {
			sol := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{Tol: 1e-2, MaxEpochs: epochs})
			if sol.Gap < sol.Objective*(1-1e-12) { // the least is 0
				t.Errorf("%d columns, %d sweeps: a gap of %g, the objective is %g", count, epochs, sol.Gap, sol.Objective)
			}
		}
	}
}

// TestUnpenalisedStepsThatFailAreTakenBack: counts so large that even the shortest of Newton's steps from 0 overshoots are fitted by sweeps from there.
func TestUnpenalisedStepsThatFailAreTakenBack(t *testing.T) {
	for _, size := range []float64{1e6, 1e8} {
		q := &oracle.Problem{Alpha: []float64{0}}
		for i := range 12 {
			q.X, q.Y = append(q.X, []float64{1}), append(q.Y, size*float64(1+i%3)/2)
		}
		fit, err := model.NewDatafit(fixture.View(t, q, true), q.Y, loss.Poisson{})
		if err != nil {
			t.Fatal(err)
		}
		first := math.NaN()
		sol := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{Tol: 1e-9, Watch: func(p cd.Progress) {
			if math.IsNaN(first) {
				first = p.RelativeGap
			}
		}})
		if math.Abs(first-1) > 1e-12 || sol.Status != outcome.Converged || math.Abs(sol.Coef[0]-math.Log(size)) > 1e-6 {
			t.Errorf("counts around %g: a gap of %g at 0; %s at %v, want %g", size, first, sol.Status, sol.Coef, math.Log(size))
		}
	}
}
