package cd_test

import (
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

// TestUseIsAsGoodAsNew checks that a solver that has worked on another target, and at other
// penalties, gives the bits of a new solver on its next target.
func TestUseIsAsGoodAsNew(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 50, Density: r.Pick(0.3, 1), Correlation: 0.6, Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		q.Uniform(0.02 * q.AlphaMax())
		if seed%4 == 1 {
			q.Ridge = 0.1
		}
		g := fixture.Penalty(t, q)
		fit := fixture.Squared(t, q, seed%3 == 1)
		other := q.Clone()
		other.Y = make([]float64, len(q.Y))
		for i := range other.Y {
			other.Y[i] = r.Normal()
		}
		second, err := model.NewSquared(fit.View(), other.Y)
		if err != nil {
			t.Fatal(err)
		}
		s := cd.New(fit)
		solve(t, s, g, cd.Options{Tol: 1e-3})
		solve(t, s, g, cd.Options{Tol: 1e-9})
		for _, c := range []struct {
			name string
			fit  *model.Squared
			q    *oracle.Problem
		}{{"another target", second, other}, {"the first target again", fit, q}} {
			s.Use(c.fit)
			sol := solve(t, s, g, cd.Options{Tol: 1e-8})
			name := fmt.Sprintf("seed %d, %s", seed, c.name)
			certified(t, name, c.q, sol, 1e-8)
			fresh := solve(t, cd.New(c.fit), g, cd.Options{Tol: 1e-8})
			if sol.Status != outcome.Converged || !slices.Equal(sol.Support, fresh.Support) || !slices.Equal(sol.Coef, fresh.Coef) ||
				sol.Gap != fresh.Gap || sol.Epochs != fresh.Epochs || sol.Intercept != fresh.Intercept {
				t.Errorf("%s: %s, %d columns, gap %g after %d epochs; new %d, %g, %d", name,
					sol.Status, len(sol.Support), sol.Gap, sol.Epochs, len(fresh.Support), fresh.Gap, fresh.Epochs)
			}
		}
	}
}

// TestStartIsOnlyAStart checks that a start at the solution needs no sweep, and that a solve
// from arbitrary coefficients ends with a valid certificate.
func TestStartIsOnlyAStart(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 30, Density: r.Pick(0.3, 1), Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		q.Uniform(0.05 * q.AlphaMax())
		g := fixture.Penalty(t, q)
		best := q.Solve()
		s := cd.New(fixture.Squared(t, q, seed%3 == 1))
		cols, coef := best.Support()
		s.Start(cols, coef)
		sol := solve(t, s, g, cd.Options{Tol: 1e-10})
		certified(t, fmt.Sprintf("seed %d from the solution", seed), q, sol, 1e-10)
		if sol.Epochs != 0 || sol.Status != outcome.Converged || !slices.Equal(sol.Coef, coef) {
			t.Errorf("seed %d: %d epochs from the solution, %s", seed, sol.Epochs, sol.Status)
		}
		cols, coef = nil, nil
		for j := range q.Alpha {
			if r.Intn(2) == 0 {
				cols, coef = append(cols, int32(j)), append(coef, 10*r.Normal())
			}
		}
		kept := slices.Clone(coef)
		s.Start(cols, coef)
		sol = solve(t, s, g, cd.Options{Tol: 1e-10})
		certified(t, fmt.Sprintf("seed %d from anywhere", seed), q, sol, 1e-10)
		if sol.Status != outcome.Converged || !slices.Equal(coef, kept) {
			t.Errorf("seed %d from anywhere: %s", seed, sol.Status)
		}
	}
}

// TestCopiesOfAColumn checks that copies of a column, negated ones among them, do not keep a
// solve from being certified, from cold and warm starts.
func TestCopiesOfAColumn(t *testing.T) {
	for seed := range oracle.Cases(30) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 24, Density: r.Pick(0.3, 1), Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		for j := 12; j < 24; j++ { // the second half repeats columns of the first
			from, sign := r.Intn(12), r.Pick(1, -1)
			for i := range q.X {
				q.X[i][j] = sign * q.X[i][from]
			}
		}
		top := q.AlphaMax()
		s := cd.New(fixture.Squared(t, q, seed%4 == 1))
		for step, ratio := range []float64{0.3, 0.01, 0.1, 0.001} {
			c := q.Clone().Uniform(ratio * top)
			if step == 2 && seed%5 == 0 {
				c.Ridge = 0.01
			}
			g := fixture.Penalty(t, c)
			sol := solve(t, s, g, cd.Options{Tol: 1e-10, Polish: seed%2 == 1})
			name := fmt.Sprintf("seed %d, ratio %g", seed, ratio)
			certified(t, name, c, sol, 1e-10)
			if sol.Status != outcome.Converged {
				t.Errorf("%s: %s at %g after %d epochs", name, sol.Status, sol.RelativeGap, sol.Epochs)
			}
		}
	}
}

// TestAdvance checks that Advance moves the point where the next solve begins. After a step
// and its reverse one pass certifies the last solution; after a step that would change all
// signs, which leads to β = 0, more passes are needed.
func TestAdvance(t *testing.T) {
	r := oracle.NewRandom(92)
	q := r.Problem(oracle.Shape{N: 60, P: 20, Density: 0.6}).Classes(r)
	q.Uniform(0.1 * q.LogisticAlphaMax())
	g, solver := fixture.Penalty(t, q), cd.New(fixture.Logistic(t, q, false))
	first := solve(t, solver, g, cd.Options{Tol: 1e-9})
	objective, size := first.Objective, len(first.Support)
	d := make([]float64, size)
	for k, b := range first.Coef {
		d[k] = b / 2
	}
	solver.Advance(1, d)
	solver.Advance(-1, d)
	if again := solve(t, solver, g, cd.Options{Tol: 1e-8}); again.Passes != 1 || math.Abs(again.Objective-objective) > 1e-12 {
		t.Errorf("there and back: %d passes, objective %.17g, %.17g before", again.Passes, again.Objective, objective)
	}
	solver.Advance(-3, d)
	if again := solve(t, solver, g, cd.Options{Tol: 1e-8, MaxEpochs: 1}); again.Passes < 2 {
		t.Errorf("from β = 0 %d passes", again.Passes)
	}
}
