package cd_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestResetIsACleanStart checks that after Reset a solver repeats its first solve bit for
// bit, whatever it has done since.
func TestResetIsACleanStart(t *testing.T) {
	for _, dense := range []bool{true, false} {
		r := oracle.NewRandom(4)
		q := r.Problem(oracle.Shape{N: 50, P: 80, Density: 0.5})
		top := q.AlphaMax()
		s := cd.New(fixture.Squared(t, q, dense))
		a := fixture.Penalty(t, q.Clone().Uniform(0.05*top))
		b := fixture.Penalty(t, q.Clone().Uniform(0.01*top))
		first := scatter(solve(t, s, a, cd.Options{}), 80)
		solve(t, s, b, cd.Options{})
		s.Reset()
		if again := scatter(solve(t, s, a, cd.Options{}), 80); !slices.Equal(again, first) {
			t.Errorf("dense %v: %v, first %v", dense, again, first)
		}
	}
}

// TestRestartIsANewSolver checks that after Restart a solver gives the same bits, at the
// same counted work, as a new solver with the same null model.
func TestRestartIsANewSolver(t *testing.T) {
	for seed := range oracle.Cases(12) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 50, P: 80, Density: r.Pick(0.3, 1), Mean: 1, Weights: seed%2 == 0})
		q.Intercept = seed%3 == 0
		top := q.AlphaMax()
		logistic := seed%4 < 2
		if logistic {
			q.Classes(r)
			top = q.LogisticAlphaMax()
		}
		fit := fitOn(t, fixture.Kernels(t), q, seed%5 < 2, logistic)
		null := model.NewNull(fit)
		s := cd.NewFrom(null.Clone())
		for _, share := range []float64{0.05, 0.3, 0.01, 0.05} {
			g := fixture.Penalty(t, q.Clone().Uniform(share*top))
			want := solve(t, cd.NewFrom(null.Clone()), g, cd.Options{})
			s.Restart(null)
			got := solve(t, s, g, cd.Options{})
			if !slices.Equal(got.Support, want.Support) || !slices.Equal(got.Coef, want.Coef) || got.Effort != want.Effort || got.Work != want.Work || got.Certificate != want.Certificate {
				t.Errorf("seed %d at %g αmax: %+v, want %+v", seed, share, got, want)
			}
		}
	}
}

// TestStoragesAgree checks that sparse and dense storage of the same matrix give the same
// solution, up to their gaps.
func TestStoragesAgree(t *testing.T) {
	for seed := range oracle.Cases(30) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 30, Density: r.Pick(0.2, 0.9), Mean: r.Pick(0, 5), Weights: seed%2 == 0})
		q.Intercept = seed%4 < 2
		q.Uniform(0.05 * q.AlphaMax())
		g := fixture.Penalty(t, q)
		a := scatter(solve(t, cd.New(fixture.Squared(t, q, true)), g, cd.Options{Tol: 1e-14}), 30)
		b := scatter(solve(t, cd.New(fixture.Squared(t, q, false)), g, cd.Options{Tol: 1e-14}), 30)
		best := q.Solve()
		for j := range a {
			if math.Abs(a[j]-best.Beta[j]) > 1e-6 || math.Abs(b[j]-best.Beta[j]) > 1e-6 {
				t.Errorf("seed %d: β_%d is %.12g dense, %.12g sparse, want %.12g", seed, j, a[j], b[j], best.Beta[j])
			}
		}
	}
}

// TestWeightIsRepetition checks that integer weights and repeated rows have the same
// solution.
func TestWeightIsRepetition(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 25, P: 15, Density: r.Pick(0.5, 1), Mean: 1})
		q.Intercept = seed%2 == 0
		q.Weights = make([]float64, len(q.Y))
		for i := range q.Weights {
			q.Weights[i] = float64(r.Intn(4))
		}
		q.Uniform(0.05 * q.AlphaMax())
		g := fixture.Penalty(t, q)
		repeated := q.Clone()
		repeated.X, repeated.Y, repeated.Weights = nil, nil, nil
		for i, s := range q.Weights {
			for range int(s) {
				repeated.X, repeated.Y = append(repeated.X, q.X[i]), append(repeated.Y, q.Y[i])
			}
		}
		a := solve(t, cd.New(fixture.Squared(t, q, seed%3 == 0)), g, cd.Options{Tol: 1e-14})
		b := solve(t, cd.New(fixture.Squared(t, repeated, seed%3 == 0)), g, cd.Options{Tol: 1e-14})
		if d := math.Abs(a.Objective - b.Objective); d > 1e-13*q.Null() {
			t.Errorf("seed %d: objectives %.16g and %.16g", seed, a.Objective, b.Objective)
		}
		x, y := scatter(a, 15), scatter(b, 15)
		for j := range x {
			if math.Abs(x[j]-y[j]) > 1e-6 {
				t.Errorf("seed %d: β_%d is %.12g weighted, %.12g repeated", seed, j, x[j], y[j])
			}
		}
	}
}

// TestZeroFromAlphaMaxOn checks that at and above the computed αmax β is exactly 0 and no
// epoch is needed. Just below αmax a column must enter, or the gap must be at the level of
// rounding.
func TestZeroFromAlphaMaxOn(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 20, Density: r.Pick(0.1, 1), Mean: r.Pick(0, 3), Weights: seed%2 == 0})
		q.Intercept = seed%4 < 2
		fit := fixture.Squared(t, q, seed%3 == 0)
		top := model.AlphaMax(fit)
		for _, times := range []float64{1, 1 + 0x1p-52, 2, 1e6} {
			g, err := model.Lasso(kernels.Log(top * times))
			if err != nil {
				t.Fatal(err)
			}
			sol := solve(t, cd.New(fit), g, cd.Options{Tol: 1e-15})
			if len(sol.Support) != 0 || sol.Epochs != 0 || sol.Status != outcome.Converged || sol.RelativeGap > 1e-15 {
				t.Errorf("seed %d at %g·αmax: support %d, %d epochs, gap %g, %s", seed, times, len(sol.Support), sol.Epochs, sol.RelativeGap, sol.Status)
			}
			if want := q.BestIntercept(make([]float64, 20)); math.Abs(sol.Intercept-want) > 1e-14*(1+math.Abs(want)) {
				t.Errorf("seed %d: intercept %g of the null model, want %g", seed, sol.Intercept, want)
			}
		}
		g, err := model.Lasso(kernels.Log(top) - 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		if sol := solve(t, cd.New(fit), g, cd.Options{Tol: 1e-15}); len(sol.Support) == 0 && sol.RelativeGap > 1e-15 {
			t.Errorf("seed %d just below αmax: empty with a gap of %g", seed, sol.RelativeGap)
		}
		// From a nonempty support back to zero.
		s := cd.New(fit)
		low, err := model.Lasso(kernels.Log(top) - 3)
		if err != nil {
			t.Fatal(err)
		}
		high, err := model.Lasso(kernels.Log(top) + 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		solve(t, s, low, cd.Options{})
		if sol := solve(t, s, high, cd.Options{Tol: 1e-12}); len(sol.Support) != 0 {
			t.Errorf("seed %d: a warm start leaves %d columns above αmax, relative gap %g", seed, len(sol.Support), sol.RelativeGap)
		}
	}
}

// TestExcludedColumnsAreAbsent checks that a strength of +Inf gives the solution of the
// problem without the column, even if the solve begins with the column in the support.
func TestExcludedColumnsAreAbsent(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 12, Density: r.Pick(0.5, 1), Mean: 1})
		q.Intercept = seed%2 == 0
		q.Uniform(0.02 * q.AlphaMax())
		s := cd.New(fixture.Squared(t, q, seed%3 == 0))
		solve(t, s, fixture.Penalty(t, q), cd.Options{}) // the next solve begins with the columns in use
		less := &oracle.Problem{Y: q.Y, Intercept: q.Intercept, X: make([][]float64, len(q.Y))}
		var kept []int
		for j := range q.Alpha {
			if r.Intn(3) == 0 {
				q.Alpha[j] = math.Inf(1)
				continue
			}
			kept = append(kept, j)
			less.Alpha = append(less.Alpha, q.Alpha[j])
			for i := range q.X {
				less.X[i] = append(less.X[i], q.X[i][j])
			}
		}
		sol := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-13})
		certified(t, fmt.Sprint("seed ", seed), q, sol, 1e-13)
		got, want := scatter(sol, 12), less.Solve().Beta
		for k, j := range kept {
			if math.Abs(got[j]-want[k]) > 1e-6 {
				t.Errorf("seed %d: β_%d = %.12g, without the excluded columns %.12g", seed, j, got[j], want[k])
			}
		}
	}
	// All columns are excluded.
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 10, P: 3, Mean: 1})
	q.Intercept = true
	q.Uniform(math.Inf(1))
	if sol := solve(t, cd.New(fixture.Squared(t, q, true)), fixture.Penalty(t, q), cd.Options{}); len(sol.Support) != 0 || sol.Status != outcome.Converged || sol.RelativeGap != 0 {
		t.Errorf("all excluded: %+v", sol)
	}
}
