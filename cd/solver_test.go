package cd_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// The flag long is read by oracle.Cases.
var _ = flag.Bool("long", false, "ten times as many random problems, and larger ones")

func solve(t *testing.T, s *cd.Solver, g model.Penalty, o cd.Options) *cd.Solution {
	t.Helper()
	sol, err := s.Solve(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return sol
}

// scatter returns β of a solution, for p columns.
func scatter(sol *cd.Solution, p int) []float64 {
	beta := make([]float64, p)
	for k, j := range sol.Support {
		beta[j] = sol.Coef[k]
	}
	return beta
}

// certified checks all that a solution reports, its certificate, support, intercept and
// residual, against arithmetic that shares nothing with the solver.
func certified(t *testing.T, name string, q *oracle.Problem, sol *cd.Solution, tol float64) {
	t.Helper()
	_, p := q.Dims()
	beta := scatter(sol, p)
	null := q.Null()
	// If y is constant, P₀ is only the rounding error of the mean.
	size := math.Max(math.Max(null, sol.Objective), 0x1p-53*q.Mean(-1)*q.Mean(-1))
	for j, b := range beta {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			t.Fatalf("%s: β_%d = %g", name, j, b)
		}
		if b != 0 && math.IsInf(q.Alpha[j], 1) {
			t.Errorf("%s: excluded column %d has coefficient %g", name, j, b)
		}
	}
	zeros := slices.ContainsFunc(sol.Support, func(j int32) bool { return beta[j] == 0 && q.Alpha[j] != 0 })
	if !slices.IsSorted(sol.Support) || zeros {
		t.Errorf("%s: the support is not ascending or holds zeros: %v, %v", name, sol.Support, sol.Coef)
	}
	want := q.BestIntercept(beta)
	if math.Abs(sol.Intercept-want) > 1e-11*(math.Sqrt(2*null)+math.Abs(want)+math.Abs(q.Mean(-1))) {
		t.Errorf("%s: intercept %.16g, the best is %.16g", name, sol.Intercept, want)
	}
	gap := q.Gap(beta, want)
	// Rounding of zⱼ enters the gap as |βⱼ|·δzⱼ, which matters at small strengths:
	// δzⱼ comes from the products with r, and from the rounding of r in y − Xβ.
	rounding := 1e-12 * size
	for i, r := range sol.Residual {
		var terms float64
		for _, j := range sol.Support {
			terms += math.Abs(q.X[i][j] * beta[j])
		}
		rounding += 8 * 0x1p-53 * q.Weight(i) * terms * (math.Abs(r) + terms) / q.Total()
	}
	if math.Abs(gap-sol.Gap) > rounding {
		t.Errorf("%s: gap %.6g reported, %.6g recomputed, P₀ %g", name, sol.Gap, gap, null)
	}
	if x := q.Objective(beta, want); math.Abs(x-sol.Objective) > 1e-12*size {
		t.Errorf("%s: objective %.16g reported, %.16g recomputed", name, sol.Objective, x)
	}
	if sol.Status == outcome.Converged && (!(sol.RelativeGap <= tol) || gap > tol*null*(1+1e-6)+1e3*0x1p-53*null+rounding) {
		t.Errorf("%s: converged with a relative gap of %.3g (recomputed %.3g), tolerance %.0e", name, sol.RelativeGap, gap/null, tol)
	}
	rho, lipschitz := q.KKT(beta, want)
	worst := 0.0
	for j := range rho {
		worst = math.Max(worst, rho[j])
		if limit := math.Sqrt(2 * lipschitz[j] * (math.Max(gap, 0) + 1e3*0x1p-53*size)); rho[j] > limit {
			t.Errorf("%s: ρ_%d = %.3g > √(2L·gap) = %.3g", name, j, rho[j], limit)
		}
	}
	top := 0.0
	for j := range lipschitz {
		top = math.Max(top, math.Sqrt(lipschitz[j]*null))
	}
	if math.Abs(worst-sol.KKT) > 1e-11*top {
		t.Errorf("%s: KKT residual %.6g reported, %.6g recomputed", name, sol.KKT, worst)
	}
	for i, r := range q.Residual(beta, want) {
		if math.Abs(r-sol.Residual[i]) > 1e-10*(math.Sqrt(size)+math.Abs(q.Y[i])+math.Abs(want)) {
			t.Errorf("%s: residual of row %d is %.16g, want %.16g", name, i, sol.Residual[i], r)
		}
	}
}

// draw returns a random problem and its description: penalties of every kind over four
// decades of strengths, and X of many shapes, densities and correlations.
func draw(r *oracle.Random, largest int) (q *oracle.Problem, name string) {
	shape := oracle.Shape{
		N: 2 + r.Intn(largest-1), P: 1 + r.Intn(largest),
		Density: r.Pick(0.01, 0.1, 0.5, 1), Correlation: r.Pick(0, 0.5, 0.9, 0.99),
		Mean: r.Pick(0, 0, 1, 10), Weights: r.Intn(3) == 0,
	}
	q = r.Problem(shape)
	q.Intercept = r.Intn(2) == 0
	top := q.AlphaMax()
	if top == 0 {
		top = 1
	}
	ratio := r.Pick(0.9, 0.5, 0.1, 1e-2, 1e-3, 1e-4)
	q.Uniform(ratio * top)
	kind := []string{"lasso", "enet", "wlasso"}[r.Intn(3)]
	if r.Intn(4) == 0 {
		q.Positive, kind = true, kind+", positive,"
	}
	if r.Intn(6) == 0 {
		q.Positive, kind = false, "ridge"
	}
	switch kind[:4] {
	case "ridg":
		q.Uniform(0)
		q.Ridge = ratio * top * r.Pick(1, 10, 1000)
	case "enet":
		q.Ridge = top * r.Pick(1e-4, 1e-2, 1)
	case "wlas":
		for j := range q.Alpha {
			q.Alpha[j] *= 0.2 + 2*r.Float64()
			switch {
			case r.Intn(10) == 0:
				q.Alpha[j] = math.Inf(1)
			case r.Intn(10) == 0 && !q.Positive && j%2 == 0:
				q.Alpha[j] = 0
			}
		}
	}
	return q, fmt.Sprintf("%s n %d, p %d, density %g, correlation %g, ratio %g, intercept %v, weights %v",
		kind, shape.N, shape.P, shape.Density, shape.Correlation, ratio, q.Intercept, shape.Weights)
}

// TestHonestCertificates recomputes the certificates of hundreds of random problems and
// compares their objectives with the optimum.
func TestHonestCertificates(t *testing.T) {
	count, largest := oracle.Cases(200), 60
	if oracle.Long() {
		largest = 120
	}
	missed := 0
	for seed := range count {
		r := oracle.NewRandom(seed)
		q, name := draw(r, largest)
		name = fmt.Sprintf("seed %d: %s", seed, name)
		tol := r.Pick(1e-4, 1e-6, 1e-8, 1e-10)
		g := fixture.Penalty(t, q)
		sol := solve(t, cd.New(fixture.Squared(t, q, seed%2 == 0)), g, cd.Options{Tol: tol, Polish: seed%3 == 0})
		certified(t, name, q, sol, tol)
		if sol.Status != outcome.Converged {
			missed++
			t.Logf("%s: %s at %.1e after %d epochs, tolerance %.0e", name, sol.Status, sol.RelativeGap, sol.Epochs, tol)
		}
		best := q.Solve()
		null := q.Null()
		if best.Gap > tol*null+1e-13*null {
			continue // the oracle is not accurate enough for a comparison
		}
		if d := sol.Objective - best.Objective; d > 2*tol*null+1e-13*null && sol.Status == outcome.Converged || d < -2*tol*null-1e-13*null {
			t.Errorf("%s: objective %.16g, the optimum is %.16g, P₀ %g", name, sol.Objective, best.Objective, null)
		}
	}
	if missed > 0 {
		t.Errorf("%d of %d problems missed their tolerance", missed, count)
	}
}

// TestPolishGivesTheDigitsOfThePredictions checks that a solve with a loose gap and a
// polish gives predictions as accurate as those of a gap of the size of their squared
// error.
func TestPolishGivesTheDigitsOfThePredictions(t *testing.T) {
	for seed := range oracle.Cases(30) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 60, P: 40, Density: r.Pick(0.3, 1), Correlation: 0.5, Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		q.Uniform(r.Pick(0.3, 0.05) * q.AlphaMax())
		g := fixture.Penalty(t, q)
		best := q.Solve()
		if out, in := q.Margins(best); !best.Exact || out < 1e-2 || in < 1e-2 {
			continue // the support at the tolerance may not be the one at the optimum
		}
		sol := solve(t, cd.New(fixture.Squared(t, q, seed%2 == 0)), g, cd.Options{Tol: 1e-8, Polish: true})
		certified(t, fmt.Sprint("seed ", seed), q, sol, 1e-8)
		var distance, size float64
		for i, m := range q.Predictions(best) {
			d := q.Y[i] - sol.Residual[i] - m
			distance, size = distance+d*d, size+m*m
		}
		if sol.Status != outcome.Converged || math.Sqrt(distance/size) > 1e-9 {
			t.Errorf("seed %d: %s, predictions off by %.1e", seed, sol.Status, math.Sqrt(distance/size))
		}
	}
}

// TestWarmStartsAreCertifiedTheSame checks one solver along a path of penalties of every
// kind in any order: every certificate is recomputed, and every objective is that of a
// cold solve.
func TestWarmStartsAreCertifiedTheSame(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 60, Density: r.Pick(0.2, 1), Correlation: r.Pick(0, 0.8), Mean: r.Pick(0, 2), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		top := q.AlphaMax()
		s := cd.New(fixture.Squared(t, q, seed%4 == 0))
		for step := range 12 {
			c := q.Clone().Uniform(top * math.Exp(-6*r.Float64()))
			switch r.Intn(3) {
			case 0:
				c.Ridge = top * math.Exp(-4*r.Float64())
			case 1:
				for j := range c.Alpha {
					c.Alpha[j] *= 0.5 + r.Float64()
					if r.Intn(5) == 0 {
						c.Alpha[j] = math.Inf(1)
					}
				}
			}
			tol := r.Pick(1e-3, 1e-6, 1e-9)
			g := fixture.Penalty(t, c)
			warm := solve(t, s, g, cd.Options{Tol: tol})
			name := fmt.Sprintf("seed %d, step %d", seed, step)
			certified(t, name, c, warm, tol)
			if warm.Status != outcome.Converged {
				t.Errorf("%s: %s at %.1e, tolerance %.0e", name, warm.Status, warm.RelativeGap, tol)
			}
			cold := solve(t, cd.New(fixture.Squared(t, c, seed%4 == 0)), g, cd.Options{Tol: tol})
			if d := math.Abs(warm.Objective - cold.Objective); d > tol*q.Null()+1e-13*q.Null() {
				t.Errorf("%s: objectives differ by %.2e·P₀", name, d/q.Null())
			}
			if step == 8 {
				s.Reset()
			}
		}
	}
}
