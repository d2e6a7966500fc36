package cd_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestBadParameters checks that invalid options and penalties are refused before work
// starts.
func TestBadParameters(t *testing.T) {
	r := oracle.NewRandom(2)
	q := r.Problem(oracle.Shape{N: 10, P: 4})
	s := cd.New(fixture.Squared(t, q, true))
	g, err := model.Lasso(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []cd.Options{{Tol: -1}, {Tol: 1e-16}, {Tol: math.NaN()}, {Tol: 1}, {Tol: math.Inf(1)}, {MaxEpochs: -1}} {
		sol, err := s.Solve(context.Background(), g, o)
		if outcome.KindOf(err) != outcome.BadParameter || sol != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	w, err := model.WeightedLasso([]float64{0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Solve(context.Background(), w, cd.Options{}); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("3 strengths for 4 columns: %v", err)
	}
}

// TestNotConvergedIsAnHonestPoint checks that a solve that has few epochs or an
// ill-conditioned X returns a certified point, and that more epochs never make the
// objective worse.
func TestNotConvergedIsAnHonestPoint(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 30, Density: r.Pick(0.5, 1), Correlation: 0.9, Mean: r.Pick(0, 1)})
		q.Intercept = seed%2 == 0
		if seed%4 == 0 { // a condition number of about 1e12
			for i := range q.X {
				q.X[i][1] = q.X[i][0] + 1e-6*q.X[i][1]
			}
		}
		q.Uniform(1e-4 * q.AlphaMax())
		g := fixture.Penalty(t, q)
		last := math.Inf(1)
		for epochs := 1; epochs <= 40; epochs += 1 + epochs/8 {
			sol := solve(t, cd.New(fixture.Squared(t, q, true)), g, cd.Options{Tol: 1e-14, MaxEpochs: epochs})
			name := fmt.Sprintf("seed %d, %d epochs", seed, epochs)
			certified(t, name, q, sol, 1e-14)
			if sol.Epochs > epochs {
				t.Errorf("%s: took %d", name, sol.Epochs)
			}
			if sol.Status != outcome.Converged && sol.Status != outcome.NotConverged {
				t.Errorf("%s: %s", name, sol.Status)
			}
			if sol.Objective > last+1e-12*q.Null() {
				t.Errorf("%s: objective rose from %.16g to %.16g", name, last, sol.Objective)
			}
			last = sol.Objective
		}
	}
}

// hard returns a problem that takes many sweeps.
func hard(t *testing.T) (*model.Squared, model.Penalty, *oracle.Problem) {
	t.Helper()
	r := oracle.NewRandom(77)
	q := r.Problem(oracle.Shape{N: 120, P: 240, Correlation: 0.97, Active: 100})
	q.Intercept = true
	q.Uniform(1e-4 * q.AlphaMax())
	g := fixture.Penalty(t, q)
	return fixture.Squared(t, q, true), g, q
}

// TestCancelledIsACertifiedPoint checks that a solve whose context ends, before it or
// during it, soon returns a certified point, and that the solver can be used again.
func TestCancelledIsACertifiedPoint(t *testing.T) {
	fit, g, q := hard(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := cd.New(fit)
	sol, err := s.Solve(ctx, g, cd.Options{Tol: 1e-14})
	if err != nil || sol.Status != outcome.Cancelled || len(sol.Support) != 0 {
		t.Errorf("cancelled before: %v, %+v", err, sol)
	}
	certified(t, "cancelled before", q, sol, 1)
	for after, done := 1, false; !done; after += 1 + after { // throughout the solve
		looks := oracle.LooksOf(t.Context(), after)
		s.Reset()
		sol, err := s.Solve(looks, g, cd.Options{Tol: 1e-14})
		done = looks.Left() >= 0
		if err != nil || sol.Status != outcome.Cancelled && (!done && sol.RelativeGap > 1e-14 || sol.Status != outcome.Converged) {
			t.Fatalf("after %d looks: %v, %+v", after, err, sol)
		}
		certified(t, fmt.Sprint("cancelled after looks: ", after), q, sol, 1)
		if looks.Left() < -5 { // each function on the way out may check the context once
			t.Errorf("after %d looks it looked %d times more", after, -looks.Left())
		}
	}
	// The solver continues from there.
	c := solve(t, s, g, cd.Options{Tol: 1e-3})
	certified(t, "continued", q, c, 1e-3)
	if c.Status != outcome.Converged {
		t.Errorf("continued: %s at %g", c.Status, c.RelativeGap)
	}
}

// TestSolveAllocatesNothingWhenWarm checks that a path that was solved before is solved
// again without an allocation.
func TestSolveAllocatesNothingWhenWarm(t *testing.T) {
	for _, dense := range []bool{true, false} {
		r := oracle.NewRandom(8)
		q := r.Problem(oracle.Shape{N: 60, P: 100, Density: 0.4, Weights: true, Mean: 1})
		q.Intercept = true
		top := q.AlphaMax()
		s := cd.New(fixture.Squared(t, q, dense))
		var path []model.Penalty
		for k := range 8 {
			c := q.Clone().Uniform(top * math.Exp(-float64(k)))
			switch k % 4 {
			case 1:
				c.Positive = true
			case 2:
				c.Alpha[3], c.Alpha[5] = 0, 0
			case 3:
				c.Uniform(0).Ridge = top
			}
			path = append(path, fixture.Penalty(t, q.Clone().Uniform(top*math.Exp(-float64(k)))), fixture.Penalty(t, c))
		}
		walk := func() {
			s.Reset()
			for _, g := range path {
				if _, err := s.Solve(context.Background(), g, cd.Options{Tol: 1e-8}); err != nil {
					t.Fatal(err)
				}
			}
		}
		walk()
		if n := testing.AllocsPerRun(5, walk); n != 0 {
			t.Errorf("dense %v: %g allocations a path", dense, n)
		}
	}
}

// TestScalesThatCannotBeAreRefused checks that data whose squares leave the range of
// float64 give an error, not a wrong answer.
func TestScalesThatCannotBeAreRefused(t *testing.T) {
	k := fixture.Kernels(t)
	r := oracle.NewRandom(6)
	q := r.Problem(oracle.Shape{N: 20, P: 5})
	for _, c := range []struct{ x, y int }{{600, 0}, {520, -520}, {600, -600}, {0, 520}, {-600, 600}, {0, -520}, {0, -1000}} {
		values, y := q.ColumnMajor(), make([]float64, 20)
		for i := range values {
			values[i] = math.Ldexp(values[i], c.x)
		}
		for i := range y {
			y[i] = math.Ldexp(q.Y[i], c.y)
		}
		x, err := sparse.NewDense(20, 5, values)
		if err != nil {
			t.Fatal(err)
		}
		view, err := sparse.NewView(k, x, nil, true)
		if err == nil {
			_, err = model.NewSquared(view, y)
		}
		if outcome.KindOf(err) != outcome.NonFinite && outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("X·2^%d, y·2^%d: %v", c.x, c.y, err)
		}
	}
}
