package cd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestThinnedModelsEndWithTheSameCertificate checks that models of a sample of the rows change nothing in what a
// solve returns: it reaches the gap asked for, which is that of all rows, in few passes, and gives the same bits
// after Reset.
func TestThinnedModelsEndWithTheSameCertificate(t *testing.T) {
	r := oracle.NewRandom(79)
	for k, c := range []struct {
		name                                     string
		dense, weights, intercept, positive, few bool
		ridge                                    float64
	}{
		{name: "sparse"},
		{name: "dense", dense: true, intercept: true},
		{name: "intercept, weights and held-out rows", weights: true, intercept: true},
		{name: "β ≥ 0 and a ridge", positive: true, ridge: 1e-3},
		{name: "columns with few entries", few: true, intercept: true},
	} {
		if !oracle.Turn(k, 1) {
			continue
		}
		q := r.Problem(oracle.Shape{N: 6000, P: 12, Density: 0.4, Weights: c.weights}).Classes(r)
		q.Intercept, q.Positive = c.intercept, c.positive
		if c.few {
			for i := range q.X {
				for j := range 6 {
					if i%1500 != 200*j {
						q.X[i][j] = 0
					}
				}
			}
		}
		q.Uniform(0.001 * q.LogisticAlphaMax())
		q.Ridge = c.ridge
		g, fit := fixture.Penalty(t, q), fixture.Logistic(t, q, c.dense)
		for _, tol := range []float64{1e-6, 1e-12} {
			solver := cd.New(fit)
			sol := solve(t, solver, g, cd.Options{Tol: tol})
			if !cd.Thinned(solver) {
				t.Errorf("%s: all models are of all rows", c.name)
			}
			if sol.Status != outcome.Converged || sol.Passes > 20 {
				t.Errorf("%s, %g: %s at %.1e after %d passes", c.name, tol, sol.Status, sol.RelativeGap, sol.Passes)
			}
			beta := scatter(sol, 12)
			if gap := q.LogisticGap(beta, q.LogisticIntercept(beta)); math.Abs(gap-sol.Gap) > 1e-11 {
				t.Errorf("%s, %g: gap %.6g reported, %.6g recomputed", c.name, tol, sol.Gap, gap)
			}
			coef, gap := slices.Clone(sol.Coef), sol.Gap
			solver.Reset()
			if again := solve(t, solver, g, cd.Options{Tol: tol}); again.Gap != gap || !slices.Equal(again.Coef, coef) {
				t.Errorf("%s, %g: gap %g after Reset, %g before", c.name, tol, again.Gap, gap)
			}
		}
	}
}

// TestRowsDrawnStandForAll checks that the weights of the rows drawn add up to the curvature of all rows, except for
// the stretch that one draw represents. After a model that misled more rows must be drawn, and finally all.
func TestRowsDrawnStandForAll(t *testing.T) {
	r := oracle.NewRandom(80)
	q := r.Problem(oracle.Shape{N: 16000, P: 20, Density: 0.2}).Classes(r)
	q.Weights = slices.Repeat([]float64{1}, 16000)
	for i := range 9 {
		q.Weights[i*i] = 100 // rows of so much curvature are always drawn
	}
	q.Uniform(0.001 * q.LogisticAlphaMax())
	solver := cd.New(fixture.Logistic(t, q, false))
	solve(t, solver, fixture.Penalty(t, q), cd.Options{})
	for _, rows := range []float64{2000, 4000, 5333} { // an eighth of all rows; 4·50 for each column; a third of all rows
		weights, curvature := cd.Draw(solver)
		if weights == nil {
			t.Fatalf("all rows are taken instead of %g", rows)
		}
		var drawn, stand, all float64
		for i, d := range curvature {
			all += d
			if stand += weights[i]; weights[i] > 0 {
				drawn++
			}
		}
		if math.Abs(stand-all) > 2*all/rows || drawn > rows || drawn < 0.8*rows {
			t.Errorf("%g rows of %g wanted stand for %g of %g", drawn, rows, stand, all)
		}
		cd.Mislead(solver)
	}
	if weights, _ := cd.Draw(solver); weights != nil {
		t.Error("rows are drawn where three models of them have misled")
	}
}

// TestShortStepsLeaveModelsSmall checks that later models draw more rows if a model had too little curvature along
// the step taken, however short that was, and not just because a full step failed. With a rare class a full step may
// fail although its model was accurate, since there is no curvature far away.
func TestShortStepsLeaveModelsSmall(t *testing.T) {
	r := oracle.NewRandom(81)
	q := r.Problem(oracle.Shape{N: 16000, P: 20, Density: 0.2}).Classes(r)
	q.Uniform(0.001 * q.LogisticAlphaMax())
	solver := cd.New(fixture.Logistic(t, q, false))
	solve(t, solver, fixture.Penalty(t, q), cd.Options{})
	_, d := cd.Draw(solver)
	change, curvature := make([]float64, len(d)), 0.0
	for i := range change {
		change[i] = r.Normal()
		curvature += d[i] * change[i] * change[i]
	}
	few := cd.PerColumn(solver)
	for _, length := range []float64{1, 0.25} {
		if cd.Step(solver, change, curvature, length); cd.PerColumn(solver) != few {
			t.Errorf("after %g of a step with an honest model there are %d rows for a column instead of %d", length, cd.PerColumn(solver), few)
		}
		if cd.Step(solver, change, 0.5*curvature, length); cd.PerColumn(solver) <= few {
			t.Errorf("after %g of a step of twice the curvature of its model there still are %d rows for a column", length, few)
		}
		few = cd.PerColumn(solver)
	}
}

// TestUndoneStepsLeaveTheIntercept checks that undoing a step restores the intercept: far away there may be no
// curvature, and then later steps do not lead back.
func TestUndoneStepsLeaveTheIntercept(t *testing.T) {
	r := oracle.NewRandom(82)
	q := r.Problem(oracle.Shape{N: 200, P: 10, Density: 1}).Classes(r)
	q.Intercept = true
	q.Uniform(0.1 * q.LogisticAlphaMax())
	solver := cd.New(fixture.Logistic(t, q, false))
	solve(t, solver, fixture.Penalty(t, q), cd.Options{})
	before := solver.Intercept()
	if after := cd.UndoStep(solver, -1e60); !(math.Abs(after-before) < 0.1) {
		t.Errorf("the intercept is %g after a step that was undone, %g before", after, before)
	}
}
