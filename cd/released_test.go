package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestCertifiedPointsAreEliminated checks that certified points have the unpenalised coefficients that are optimal
// given the other coefficients, however loose the tolerance, under a loss that is not quadratic too, and where the
// null model is known: the residual is orthogonal to the unpenalised columns.
func TestCertifiedPointsAreEliminated(t *testing.T) {
	for seed := range uint64(10) {
		r := oracle.NewRandom(800 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: 8, Mean: 1}).Classes(r)
		q.Intercept = seed%2 == 0
		q.Uniform(0.1 * q.LogisticAlphaMax())
		free := []int{1, 4}[:1+seed%3%2] // one or two unpenalised columns
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

// TestGapKnowsColumnsWithoutCurvature checks rows far beyond Huber's δ, where an unpenalised column has a slope but
// no curvature for Newton steps: the gap must still be at least the distance to the optimum.
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
			if sol.Gap < sol.Objective*(1-1e-12) { // the minimum is 0
				t.Errorf("%d columns, %d sweeps: a gap of %g, the objective is %g", count, epochs, sol.Gap, sol.Objective)
			}
		}
	}
}

// TestUnpenalisedStepsThatFailAreDamped checks counts so large that even the shortest of the Newton steps from 0
// overshoot: with damping no sweep is needed.
func TestUnpenalisedStepsThatFailAreDamped(t *testing.T) {
	for _, size := range []float64{1e6, 1e8} {
		q := &oracle.Problem{Alpha: []float64{0}}
		for i := range 12 {
			q.X, q.Y = append(q.X, []float64{1}), append(q.Y, size*float64(1+i%3)/2)
		}
		fit, err := model.NewDatafit(fixture.View(t, q, true), q.Y, loss.Poisson{})
		if err != nil {
			t.Fatal(err)
		}
		sol := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{Tol: 1e-9})
		if sol.Epochs != 0 || sol.Status != outcome.Converged || math.Abs(sol.Coef[0]-math.Log(size)) > 1e-6 {
			t.Errorf("counts around %g: %s at %v after %d sweeps, want %g", size, sol.Status, sol.Coef, sol.Epochs, math.Log(size))
		}
	}
}

// TestUnpenalisedStepsKeepTheWayBack checks a loss that is nearly |r| and has no curvature far from its kink. A
// Newton step there may lead to a point from which neither the coefficient nor the intercept returns by itself, so
// both must be restored.
func TestUnpenalisedStepsKeepTheWayBack(t *testing.T) {
	const rows = 41
	for _, width := range []float64{1e-2, 1e-3} {
		q := &oracle.Problem{Alpha: []float64{0}}
		random := oracle.NewRandom(7)
		for range rows {
			x := random.Normal()
			q.X, q.Y = append(q.X, []float64{1e-3 * x}), append(q.Y, 2*x+random.Normal())
		}
		fit, err := model.NewDatafit(fixture.View(t, q, true), q.Y, logCosh{width})
		if err != nil {
			t.Fatal(err)
		}
		sol := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{Tol: 1e-9})
		if sol.Status != outcome.Converged || !(sol.Objective <= fit.Null()) {
			t.Errorf("width %g: %s, an objective of %g, %g of the null model", width, sol.Status, sol.Objective, fit.Null())
		}
	}
}

// logCosh is the loss w²·log cosh(r/w), r = y − m: nearly |r|·w where |r| is more than a few w.
type logCosh struct{ width float64 }

func (logCosh) Name() string        { return "log_cosh" }
func (logCosh) Link() loss.Link     { return loss.Identity }
func (logCosh) Check(float64) error { return nil }

func (l logCosh) Value(_ *kernels.Set, y, m, out []float64) {
	for i := range m {
		u := math.Abs(y[i]-m[i]) / l.width
		out[i] = l.width * l.width * (u + math.Log1p(math.Exp(-2*u)) - math.Ln2)
	}
}

func (l logCosh) Slope(_ *kernels.Set, y, m, out []float64) {
	for i := range m {
		out[i] = l.width * math.Tanh((y[i]-m[i])/l.width)
	}
}

func (l logCosh) Curvature(_ *kernels.Set, y, m, out []float64) {
	for i := range m {
		cosh := math.Cosh((y[i] - m[i]) / l.width)
		out[i] = 1 / (cosh * cosh)
	}
}

func (l logCosh) Third(_ *kernels.Set, y, m, out []float64) {
	l.Curvature(nil, y, m, out)
	for i := range m {
		out[i] *= 2 * math.Tanh((y[i]-m[i])/l.width) / l.width
	}
}

// Divergence is w² times that of two classes: their probabilities at the dual point, relative to the probabilities (1
// ± tanh u)/2 at m, u = (y − m)/w.
func (l logCosh) Divergence(_ *kernels.Set, y, m []float64, at loss.Dual, out []float64) {
	for i := range m {
		t := math.Tanh((y[i] - m[i]) / l.width)
		out[i] = 0
		for _, sign := range []float64{-1, 1} {
			if p, q := (1+sign*t*(1-at.Rest(i)))/2, (1+sign*t)/2; p > 0 {
				out[i] += l.width * l.width * p * math.Log(p/q)
			}
		}
	}
}

func (logCosh) Smoothness() (float64, bool)    { return 1, true }
func (l logCosh) Concordance() (float64, bool) { return 2 / l.width, true }
