package cd_test

import (
	"context"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestPathIsSolveInTurn checks that Path gives the bits of successive calls of Solve, and that it ends at the first
// error and when ctx ends.
func TestPathIsSolveInTurn(t *testing.T) {
	r := oracle.NewRandom(31)
	q := r.Problem(oracle.Shape{N: 60, P: 90, Density: 0.5, Active: 10})
	q.Intercept = true
	fit := fixture.Squared(t, q, false)
	var grid []model.Penalty
	for i := range 12 {
		g, err := model.Lasso(kernels.Log(model.AlphaMax(fit)) - 0.5*float64(i))
		if err != nil {
			t.Fatal(err)
		}
		grid = append(grid, g)
	}
	one, i := cd.New(fit), 0
	for sol, err := range cd.New(fit).Path(t.Context(), slices.Values(grid), cd.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if want := solve(t, one, grid[i], cd.Options{}); sol.Gap != want.Gap || sol.Epochs != want.Epochs || !slices.Equal(sol.Coef, want.Coef) {
			t.Errorf("point %d: gap %g after %d epochs, in turn %g after %d", i, sol.Gap, sol.Epochs, want.Gap, want.Epochs)
		}
		i++
	}
	if i != len(grid) {
		t.Errorf("%d points of %d", i, len(grid))
	}
	points, failed := 0, false
	for _, err := range cd.New(fit).Path(t.Context(), slices.Values(grid), cd.Options{MaxSupport: 5}) {
		if failed {
			t.Error("a point after the error")
		}
		points++
		failed = err != nil
	}
	if !failed || points < 2 {
		t.Errorf("a limit on the support: %d points, failed %t", points, failed)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	points = 0
	for sol, err := range cd.New(fit).Path(ctx, slices.Values(grid), cd.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if points++; points == 3 && sol.Status != outcome.Cancelled {
			t.Errorf("%s after ctx ended", sol.Status)
		} else if points == 2 {
			cancel()
		}
	}
	if points != 3 {
		t.Errorf("%d points, ctx ended after 2", points)
	}
}

// TestNarrowPathTakesTwoPassesAStep checks a path of a narrow problem, where the set has all columns. After the first
// solves a step takes two passes: one shows that the last solution is no longer optimal, and one certifies the next.
// Copies must still share their coefficient, and gaps are recomputed.
func TestNarrowPathTakesTwoPassesAStep(t *testing.T) {
	r := oracle.NewRandom(7)
	q := r.Problem(oracle.Shape{N: 500, P: 120, Density: 0.2, Active: 50})
	q.Intercept = true
	for _, row := range q.X {
		row[119], row[3] = row[40], -row[90]
	}
	fit := fixture.Squared(t, q, false)
	warm, o := cd.New(fit), cd.Options{Tol: 1e-6}
	top := kernels.Log(model.AlphaMax(fit))
	for step := range 6 {
		g, err := model.Lasso(top - 1.2*float64(step+1))
		if err != nil {
			t.Fatal(err)
		}
		sol := solve(t, warm, g, o)
		if step > 1 && sol.Passes > 2 { // the first steps may begin without a Gram matrix
			t.Errorf("step %d: %d passes", step, sol.Passes)
		}
		beta := make([]float64, 120)
		for k, j := range sol.Support {
			beta[j] = sol.Coef[k]
		}
		if beta[119] != beta[40] || beta[3] != -beta[90] {
			t.Errorf("step %d: copies have %g and %g, %g and %g", step, beta[119], beta[40], beta[3], beta[90])
		}
		q.Uniform(g.Alpha(0))
		if gap := q.Gap(beta, q.BestIntercept(beta)) / q.Null(); !(gap <= 1e-6) {
			t.Errorf("step %d: a gap of %g", step, gap)
		}
	}
}
