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

// TestUnpenalisedOnesAreTheIntercept checks that an unpenalised column of ones acts as an
// intercept.
func TestUnpenalisedOnesAreTheIntercept(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 20, Density: r.Pick(0.3, 1), Mean: r.Pick(0, 5), Weights: seed%3 == 0})
		q.Intercept = true
		q.Uniform(r.Pick(0.5, 0.1, 0.01) * q.AlphaMax())
		for j := range q.Alpha { // different strengths: a plain Lasso merges copies
			q.Alpha[j] *= 0.9 + 0.2*r.Float64()
		}
		want := solve(t, cd.New(fixture.Squared(t, q, seed%2 == 0)), fixture.Penalty(t, q), cd.Options{Tol: 1e-13, Polish: true})
		ones := q.Clone()
		ones.Intercept = false
		ones.Alpha = append([]float64{0}, q.Alpha...)
		ones.X = make([][]float64, len(q.X))
		for i, row := range q.X {
			ones.X[i] = append([]float64{1}, row...)
		}
		got := solve(t, cd.New(fixture.Squared(t, ones, seed%2 == 0)), fixture.Penalty(t, ones), cd.Options{Tol: 1e-13, Polish: true})
		certified(t, fmt.Sprint("seed ", seed), ones, got, 1e-13)
		if got.Support[0] != 0 || len(got.Support) != len(want.Support)+1 {
			t.Errorf("seed %d: support %v with ones, %v with an intercept", seed, got.Support, want.Support)
			continue
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-10*(1+math.Abs(b)) }
		if !near(got.Coef[0], want.Intercept) || got.Intercept != 0 {
			t.Errorf("seed %d: ones have %.15g, the intercept is %.15g", seed, got.Coef[0], want.Intercept)
		}
		for k, j := range want.Support {
			if got.Support[k+1] != j+1 || !near(got.Coef[k+1], want.Coef[k]) {
				t.Errorf("seed %d: column %d has %g with ones, %g with an intercept", seed, j, got.Coef[k+1], want.Coef[k])
			}
		}
	}
}

// TestLeastSquares checks fits without any penalty, also where columns depend on one
// another or outnumber the rows.
func TestLeastSquares(t *testing.T) {
	for seed := range oracle.Cases(30) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 2 + r.Intn(20), P: 1 + r.Intn(30), Density: r.Pick(0.3, 1), Weights: seed%2 == 0})
		q.Intercept = seed%3 == 0
		q.Uniform(0)
		if _, p := q.Dims(); p > 1 && seed%4 == 0 {
			for _, row := range q.X {
				row[1] = -2 * row[0]
			}
		}
		sol := solve(t, cd.New(fixture.Squared(t, q, true)), fixture.Penalty(t, q), cd.Options{Tol: 1e-12})
		if sol.Status != outcome.Converged {
			t.Errorf("seed %d: %s at %g", seed, sol.Status, sol.RelativeGap)
		}
		_, p := q.Dims()
		beta := scatter(sol, p)
		for j, z := range q.Correlations(q.Residual(beta, sol.Intercept)) {
			if math.Abs(z) > 1e-11*math.Sqrt(2*q.Null()*q.Norm2(j)/q.Total()) {
				t.Errorf("seed %d: column %d has a correlation of %g left", seed, j, z)
			}
		}
	}
}

// TestRidgeWaysAgree checks that a ridge is solved by columns, by rows and by iteration
// alike, in either storage.
func TestRidgeWaysAgree(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 5 + r.Intn(40), P: 1 + r.Intn(60), Density: r.Pick(0.1, 1), Mean: r.Pick(0, 3), Correlation: r.Pick(0, 0.9), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		top := q.AlphaMax()
		if top == 0 {
			continue
		}
		q.Uniform(0)
		q.Ridge = top * r.Pick(1e-6, 1e-2, 1, 100)
		g := fixture.Penalty(t, q)
		for way := range cd.RidgeWays {
			for _, dense := range []bool{false, true} {
				s := cd.New(fixture.Squared(t, q, dense))
				cd.ForceRidge(s, way)
				name := fmt.Sprintf("seed %d, way %d, dense %v", seed, way, dense)
				certified(t, name, q, solve(t, s, g, cd.Options{Tol: 1e-10}), 1e-10)
				if again := solve(t, s, g, cd.Options{Tol: 1e-10}); again.Steps != 0 || again.Status != outcome.Converged {
					t.Errorf("%s: %d steps from the solution, %s", name, again.Steps, again.Status)
				}
			}
		}
	}
}

// TestPenaltiesFollowEachOther checks that a solver can go from one kind of penalty to
// another: every solution is certified, as that of a new solver would be.
func TestPenaltiesFollowEachOther(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 30, Density: 0.3, Weights: seed%2 == 0})
		q.Intercept = seed%3 == 0
		top := q.AlphaMax()
		s := cd.New(fixture.Squared(t, q, seed%2 == 0))
		for at := range 12 {
			p := q.Clone()
			p.Uniform(0.1 * top)
			switch r.Intn(5) {
			case 0:
				p.Ridge = 0.1 * top
			case 1:
				p.Alpha[3], p.Alpha[7], p.Alpha[8] = 0, math.Inf(1), 0
			case 2:
				p.Positive = true
			case 3:
				p.Uniform(0).Ridge = 0.1 * top
			}
			certified(t, fmt.Sprintf("seed %d, problem %d", seed, at), p, solve(t, s, fixture.Penalty(t, p), cd.Options{Tol: 1e-8}), 1e-8)
			if r.Intn(4) == 0 {
				s.Reset()
			}
		}
	}
}

// TestPositiveTellsNegativesApart checks that under β ≥ 0 equal columns share a
// coefficient, and the negative of a column does not count as its copy.
func TestPositiveTellsNegativesApart(t *testing.T) {
	r := oracle.NewRandom(5)
	q := r.Problem(oracle.Shape{N: 30, P: 6})
	q.Positive = true
	for i, row := range q.X {
		row[3], row[4] = row[0], -row[0]
		q.Y[i] = 2*row[0] + 0.1*r.Normal()
	}
	q.Uniform(0.05 * q.AlphaMax())
	sol := solve(t, cd.New(fixture.Squared(t, q, true)), fixture.Penalty(t, q), cd.Options{Tol: 1e-12})
	certified(t, "copies", q, sol, 1e-12)
	beta := scatter(sol, 6)
	if beta[0] == 0 || beta[0] != beta[3] || beta[4] != 0 {
		t.Errorf("equal columns have %g and %g, the negative %g", beta[0], beta[3], beta[4])
	}
	// With −y, all correlations change their sign.
	for i := range q.Y {
		q.Y[i] = -q.Y[i]
	}
	sol = solve(t, cd.New(fixture.Squared(t, q, true)), fixture.Penalty(t, q), cd.Options{Tol: 1e-12})
	certified(t, "negated", q, sol, 1e-12)
	if beta = scatter(sol, 6); beta[0] != 0 || beta[3] != 0 || !(beta[4] > 0) {
		t.Errorf("negated: equal columns have %g and %g, the negative %g", beta[0], beta[3], beta[4])
	}
}

// TestPenaltiesThatDoNotGoTogether checks that β ≥ 0 is refused together with unpenalised
// columns and together with a ridge alone.
func TestPenaltiesThatDoNotGoTogether(t *testing.T) {
	free, err := model.WeightedLasso([]float64{0, math.Inf(-1), math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	ridge, err := model.Ridge(0)
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]model.Penalty{"unpenalised": free, "ridge": ridge} {
		if _, err := g.NonNegative(); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("%s, β ≥ 0: %v", name, err)
		}
	}
}
