package cd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// drawClasses returns a random classification problem with its strengths, and a
// description.
func drawClasses(r *oracle.Random) (q *oracle.Problem, name string) {
	shape := oracle.Shape{
		N: 10 + r.Intn(40), P: 1 + r.Intn(30), Density: r.Pick(0.1, 0.5, 1),
		Correlation: r.Pick(0, 0.5, 0.9), Mean: r.Pick(0, 0, 1), Weights: r.Intn(3) == 0,
	}
	q = r.Problem(shape).Classes(r)
	q.Intercept = r.Intn(2) == 0
	top := q.LogisticAlphaMax()
	if top == 0 {
		top = 1
	}
	ratio := r.Pick(0.9, 0.5, 0.1, 0.02)
	q.Uniform(ratio * top)
	switch r.Intn(3) {
	case 0:
		q.Ridge = top * r.Pick(1e-3, 0.1, 1)
	case 1:
		for j := range q.Alpha {
			q.Alpha[j] *= 0.3 + r.Float64()
		}
	}
	q.Positive = r.Intn(3) == 0
	return q, fmt.Sprintf("n %d, p %d, density %g, correlation %g, ratio %g, ridge %.2g, intercept %v, weights %v, β ≥ 0 %v",
		shape.N, shape.P, shape.Density, shape.Correlation, ratio, q.Ridge, q.Intercept, shape.Weights, q.Positive)
}

// TestLogisticCertificates recomputes the certificates of random sparse logistic
// regressions with independent arithmetic, and compares their objectives with the
// optimum.
func TestLogisticCertificates(t *testing.T) {
	for seed := range oracle.Cases(120) {
		r := oracle.NewRandom(9000 + seed)
		q, name := drawClasses(r)
		name = fmt.Sprintf("seed %d: %s", seed, name)
		tol := r.Pick(1e-4, 1e-6, 1e-9)
		g := fixture.Penalty(t, q)
		fit := fixture.Logistic(t, q, seed%2 == 0)
		null := q.LogisticNull()
		if math.Abs(fit.Null()-null) > 1e-14 {
			t.Errorf("%s: P₀ = %.17g, want %.17g", name, fit.Null(), null)
		}
		alphaMax := model.AlphaMax
		if q.Positive {
			alphaMax = func(f model.Datafit) float64 { return model.NewNull(f).AlphaMaxNonNegative() }
		}
		if top, want := alphaMax(fit), q.LogisticAlphaMax(); math.Abs(top-want) > 1e-13*(1+want) {
			t.Errorf("%s: αmax = %.17g, want %.17g", name, top, want)
		}
		sol := solve(t, cd.New(fit), g, cd.Options{Tol: tol, Polish: seed%3 == 0})
		if sol.Status != outcome.Converged {
			t.Errorf("%s: %s at %.1e after %d epochs, tolerance %.0e", name, sol.Status, sol.RelativeGap, sol.Epochs, tol)
		}
		beta := scatter(sol, len(q.Alpha))
		b := q.LogisticIntercept(beta)
		if math.Abs(b-sol.Intercept) > 1e-9*(1+math.Abs(b)) {
			t.Errorf("%s: intercept %.15g, the best is %.15g", name, sol.Intercept, b)
		}
		gap := q.LogisticGap(beta, b)
		if math.Abs(gap-sol.Gap) > 1e-11*null {
			t.Errorf("%s: gap %.6g reported, %.6g recomputed", name, sol.Gap, gap)
		}
		if f := q.LogisticObjective(beta, b); math.Abs(f-sol.Objective) > 1e-13 {
			t.Errorf("%s: objective %.16g, want %.16g", name, sol.Objective, f)
		}
		best := q.SolveLogistic()
		if d := sol.Objective - best.Objective; d > sol.Gap+1e-13 || best.Gap < 1e-10 && d < -1e-10 {
			t.Errorf("%s: objective %.16g, the optimum %.16g (gap %.1e), gap %.3g", name, sol.Objective, best.Objective, best.Gap, sol.Gap)
		}
		z := q.Correlations(q.LogisticResidual(beta, b))
		for j := range z {
			l := q.Norm2(j) / (4 * q.Total())
			if l == 0 {
				continue
			}
			u := beta[j] + z[j]/l
			pull := math.Abs(u)
			if q.Positive {
				pull = u
			}
			moved := beta[j] - math.Copysign(math.Max(pull-q.Alpha[j]/l, 0), u)/(1+q.Ridge/l)
			if rho, limit := l*math.Abs(moved), math.Sqrt(2*l*(sol.Gap+1e3*0x1p-53)); rho > limit {
				t.Errorf("%s: ρ_%d = %.3g > √(2L·gap) = %.3g", name, j, rho, limit)
			}
		}
	}
}

// TestFullStepsThatFailAreTakenBack checks starts where the loss has next to no
// curvature. A full step from there goes much too far: it must be undone, and the solve
// must end where one from β = 0 ends.
func TestFullStepsThatFailAreTakenBack(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(300 + seed)
		q := r.Problem(oracle.Shape{N: 200, P: 5, Density: 1}).Classes(r)
		q.Intercept = seed%2 == 0
		q.Uniform(0.05 * q.LogisticAlphaMax())
		fit, g := fixture.Logistic(t, q, true), fixture.Penalty(t, q)
		want := solve(t, cd.New(fit), g, cd.Options{Tol: 1e-9})
		solver := cd.New(fit)
		solver.Start([]int32{0, 1, 2}, []float64{8, -8, 8})
		got := solve(t, solver, g, cd.Options{Tol: 1e-9})
		if got.Status != outcome.Converged || math.Abs(got.Objective-want.Objective) > got.Gap+want.Gap+1e-15 {
			t.Errorf("seed %d: %s, objective %.15g, want %.15g", seed, got.Status, got.Objective, want.Objective)
		}
	}
}
