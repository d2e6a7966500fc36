package cd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// TestGapKnowsColumnsThatNearlyDepend checks two unpenalised columns that differ by little: either the part of y that
// only one of them can fit is fitted, or the gap accounts for it.
func TestGapKnowsColumnsThatNearlyDepend(t *testing.T) {
	for _, differ := range []float64{1e-3, 1e-6, 1e-9, 1e-11, 1e-12} {
		q := &oracle.Problem{X: [][]float64{{1, 1, 0}, {0, differ, 0}, {0, 0, 1}}, Y: []float64{2, 3, 0.1}, Alpha: []float64{0, 0, 1}}
		sol := solve(t, cd.New(fixture.Squared(t, q, true)), fixture.Penalty(t, q), cd.Options{Tol: 1e-6})
		best := 0.1 * 0.1 / 6 // both rows of the unpenalised columns are fitted
		if lacks := sol.Objective - best; sol.Gap < lacks-1e-15 {
			t.Errorf("%g: a gap of %g, the objective lacks %g", differ, sol.Gap, lacks)
		} else if differ >= 1e-9 && sol.Status != outcome.Converged {
			t.Errorf("%g: %s, the objective lacks %g", differ, sol.Status, lacks)
		}
	}
}

// TestNearCopiesAreFittedAsWhatTheyDifferBy checks unpenalised columns x, x + δz, …, or 1 + δz beside an intercept:
// they must reach the objective of the columns x, z, …, up to the gap, in about as many sweeps, whatever the loss.
func TestNearCopiesAreFittedAsWhatTheyDifferBy(t *testing.T) {
	const n, p, free = 40, 12, 4
	for seed := range uint64(12) {
		const differ = 0x1p-22
		r := oracle.NewRandom(seed)
		apart := r.Problem(oracle.Shape{N: n, P: p, Density: 1, Noise: 1})
		apart.Intercept = true
		near := *apart
		near.X = nil
		for _, row := range apart.X {
			for j := range free {
				row[j] = math.Round(0x1p10*row[j]) / 0x1p10 // so that what the columns differ by is exact
			}
			copied := slices.Clone(row)
			for j := 1; j < free; j++ {
				switch seed % 3 {
				case 0:
					copied[j] = row[0] + differ*row[j]
				case 1:
					copied[j] = 1 + differ*row[j]
				case 2:
					copied[j] = 2*row[0] + 1 + differ*row[j]
				}
			}
			near.X = append(near.X, copied)
		}
		losses := []loss.Loss{loss.Squared{}, loss.Logistic{}, loss.Huber{Delta: 0.5}, loss.Poisson{}}
		kind := losses[seed%4]
		for i, y := range apart.Y {
			switch kind.(type) {
			case loss.Logistic:
				apart.Y[i] = math.Copysign(1, y)
			case loss.Poisson:
				apart.Y[i] = math.Floor(math.Abs(y))
			}
		}
		fit := func(q *oracle.Problem, tol float64) *cd.Solution {
			f, err := model.NewDatafit(fixture.View(t, q, true), q.Y, kind)
			if err != nil {
				t.Fatal(err)
			}
			q.Uniform(0.02)
			for j := range free {
				q.Alpha[j] = 0
			}
			return solve(t, cd.New(f), fixture.Penalty(t, q), cd.Options{Tol: tol})
		}
		want, got := fit(apart, 1e-11), fit(&near, 1e-6)
		if want.Status != outcome.Converged || got.Status != outcome.Converged || got.Epochs > 10*want.Epochs+50 {
			t.Errorf("seed %d: %s and %s, %d and %d sweeps, gaps %g and %g", seed, want.Status, got.Status, want.Epochs, got.Epochs, want.RelativeGap, got.RelativeGap)
		}
		if lacks := got.Objective - want.Objective; lacks > got.Gap || lacks < -want.Gap-8*0x1p-52/differ*want.Objective {
			t.Errorf("seed %d: the objective lacks %g, gap %g", seed, lacks, got.Gap)
		}
	}
}

// TestDependentUnpenalisedColumnsAtAnyScale checks an unpenalised column that depends on the others. When the
// residual is orthogonal to these, it counts as orthogonal to that column as well, relative to the size of the
// column, so that a solve takes the same number of passes in any units.
func TestDependentUnpenalisedColumnsAtAnyScale(t *testing.T) {
	passes := 0
	for _, scale := range []float64{1, 0x1p-60, 0x1p60} {
		for _, size := range []float64{0x1p-40, 1, 0x1p40} { // of the columns
			r := oracle.NewRandom(3)
			q := r.Problem(oracle.Shape{N: 20, P: 6, Density: 1})
			for i, row := range q.X {
				row[2] = -2 * row[0]
				for j := range row {
					row[j] *= size
				}
				q.Y[i] *= scale
			}
			q.Uniform(0.05 * q.AlphaMax())
			for j := range 3 {
				q.Alpha[j] = 0
			}
			sol := solve(t, cd.New(fixture.Squared(t, q, true)), fixture.Penalty(t, q), cd.Options{Tol: 1e-10})
			if passes == 0 {
				passes = sol.Passes
			}
			if sol.Status != outcome.Converged || sol.RelativeGap > 1e-10 || sol.Passes != passes {
				t.Errorf("y times %g, X times %g: %s at %g after %d passes, %d at first", scale, size, sol.Status, sol.RelativeGap, sol.Passes, passes)
			}
		}
	}
}

// TestUnpenalisedColumnsAreFittedAtOnce checks problems in which all penalised columns are excluded: elimination
// gives the solution without a sweep, and correlations are at the level of rounding.
func TestUnpenalisedColumnsAreFittedAtOnce(t *testing.T) {
	for _, count := range []int{1, 2, 5} {
		r := oracle.NewRandom(uint64(count))
		q := r.Problem(oracle.Shape{N: 30, P: 8, Density: 1, Correlation: 0.5})
		q.Intercept = count == 2
		weights := make([]float64, 8)
		for j := range weights {
			if j >= count {
				weights[j] = 1
			}
		}
		null := model.NewNull(fixture.Squared(t, q, true))
		s, released, err := cd.NewReleased(t.Context(), null, weights, cd.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		for k, j := range null.Fit.View().Matrix().Order() {
			if limit := 1e-13 * math.Sqrt(2*q.Null()*q.Norm2(int(j))*q.Total()); weights[j] == 0 && math.Abs(released.Correlation[k]) > limit {
				t.Errorf("%d columns: %d has a correlation of %g", count, j, released.Correlation[k])
			}
		}
		logs := make([]float64, 8)
		for j := range logs {
			if logs[j] = math.Inf(-1); j >= count {
				logs[j] = math.Inf(1)
			}
		}
		g, err := model.WeightedLasso(logs)
		if err != nil {
			t.Fatal(err)
		}
		if again := solve(t, s, g, cd.Options{Tol: 1e-12}); again.Epochs != 0 {
			t.Errorf("%d columns: %d sweeps from their null model", count, again.Epochs)
		}
	}
}

// TestUnpenalisedColumnsAreNeverCloseToEntering checks that an unpenalised column whose coefficient is 0 because it
// depends on others is ignored by the clearance, since it has no kink at 0. The clearance must be that of the
// penalised column.
func TestUnpenalisedColumnsAreNeverCloseToEntering(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1, 2, 1}, {1, 2, -1}, {1, 2, 1}, {-1, -2, 0}}, Y: []float64{1, 3, 2, 0}, Alpha: []float64{0, 0, 5}}
	s := cd.New(fixture.Squared(t, q, true))
	sol := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-12})
	// The mean 1.5 of (1, 3, 2, −0) is fitted; the residual (−½, 1½, ½, 1½) has a correlation of −1½ with the last column.
	if want := (4*5 - 1.5) / math.Sqrt(3); sol.Status != outcome.Converged || math.Abs(s.Clearance()-want) > 1e-12*want {
		t.Errorf("%s, clearance %g, want %g", sol.Status, s.Clearance(), want)
	}
}

// TestClearanceOfOneColumnWithAStrengthOfItsOwn checks that the clearance is measured by the strength of the column,
// whatever the strength of the last solve.
func TestClearanceOfOneColumnWithAStrengthOfItsOwn(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1}, {1}}, Y: []float64{2, 4}, Alpha: []float64{100}}
	s := cd.New(fixture.Squared(t, q, true))
	solve(t, s, fixture.Penalty(t, q), cd.Options{})
	g, err := model.WeightedLasso([]float64{math.Log(7)})
	if err != nil {
		t.Fatal(err)
	}
	solve(t, s, g, cd.Options{})
	if want := (2*7 - 6) / math.Sqrt2; math.Abs(s.Clearance()-want) > 1e-12*want {
		t.Errorf("clearance %g, want %g", s.Clearance(), want)
	}
	if g, err = model.WeightedLasso([]float64{0}); err != nil { // less than 3, the correlation at the null model
		t.Fatal(err)
	}
	if sol := solve(t, s, g, cd.Options{Tol: 1e-12}); len(sol.Coef) != 1 || math.Abs(sol.Coef[0]-2) > 1e-12 {
		t.Errorf("coefficients %v, want 2", sol.Coef)
	}
}

// TestUnpenalisedColumnsOfALogisticFit checks that the unpenalised columns of a logistic fit are fitted by Newton's
// method alone, without a sweep: the slopes of the loss are at the level of rounding.
func TestUnpenalisedColumnsOfALogisticFit(t *testing.T) {
	for _, count := range []int{1, 3} {
		r := oracle.NewRandom(uint64(20 + count))
		q := r.Problem(oracle.Shape{N: 40, P: 6, Density: 1, Correlation: 0.5, Noise: 2}).Classes(r)
		q.Intercept = count == 3
		weights, logs := make([]float64, 6), make([]float64, 6)
		for j := range weights {
			if logs[j] = math.Inf(-1); j >= count {
				weights[j], logs[j] = 1, math.Inf(1)
			}
		}
		s, released, err := cd.NewReleased(t.Context(), model.NewNull(fixture.Logistic(t, q, true)), weights, cd.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		g, err := model.WeightedLasso(logs)
		if err != nil {
			t.Fatal(err)
		}
		again := solve(t, s, g, cd.Options{Tol: 1e-12})
		if again.Epochs != 0 || again.Status != outcome.Converged || len(again.Coef) != count {
			t.Errorf("%d columns: %s after %d sweeps, %v", count, again.Status, again.Epochs, again.Coef)
		}
		beta := scatter(again, 6)
		for j, z := range q.Correlations(q.LogisticResidual(beta, again.Intercept)) {
			if weights[j] == 0 && math.Abs(z) > 1e-10 {
				t.Errorf("%d columns: %d has a slope of %g", count, j, z)
			}
		}
		if released.Fit == nil || again.Passes > 3 {
			t.Errorf("%d columns: %d passes", count, again.Passes)
		}
	}
}

// TestUnpenalisedColumnsHaveALimit checks that more than 2000 unpenalised columns are refused, since the size of
// their system is the square of their number.
func TestUnpenalisedColumnsHaveALimit(t *testing.T) {
	for _, p := range []int{2000, 2001} {
		q := &oracle.Problem{X: [][]float64{make([]float64, p), make([]float64, p)}, Y: []float64{1, 2}, Alpha: make([]float64, p)}
		for j := range q.Alpha {
			q.X[j%2][j] = 1
		}
		sol, err := cd.New(fixture.Squared(t, q, false)).Solve(t.Context(), fixture.Penalty(t, q), cd.Options{})
		if refused := outcome.KindOf(err) == outcome.Limit && sol == nil; refused != (p > 2000) {
			t.Errorf("%d columns: %v", p, err)
		}
	}
}

// TestEliminationIsPaidFor checks the work of a solve of one unpenalised column from its solution. The state is
// computed three times, at first and after each of two projections, and there is a product with the column for each
// projection and one to check the residual. The pass computes nothing, since the residual has not changed.
func TestEliminationIsPaidFor(t *testing.T) {
	const entries = 300
	q := &oracle.Problem{Alpha: []float64{0}}
	for i := range entries {
		q.X, q.Y = append(q.X, []float64{1 + float64(i%5)}), append(q.Y, float64(i%7))
	}
	s, g := cd.New(fixture.Squared(t, q, false)), fixture.Penalty(t, q)
	solve(t, s, g, cd.Options{})
	const met = support.SparseValue * entries
	want := 3*cd.UpdateValue*entries + 3*met + cd.VisitColumn
	if work := solve(t, s, g, cd.Options{}).Work; math.Abs(work-want) > 1e-9*want {
		t.Errorf("work %g, want %g", work, want)
	}
}

// TestUnpenalisedColumnsAtSmallStrengths checks residuals so small beside y that rounding leaves a cosine between the
// residual and the eliminated columns: the gap must be finite all the same.
func TestUnpenalisedColumnsAtSmallStrengths(t *testing.T) {
	for _, share := range []float64{1e-4, 1e-7, 1e-9} {
		q := oracle.NewRandom(4).Problem(oracle.Shape{N: 6, P: 6, Density: 1})
		for i := range q.Y {
			q.Y[i] += 1e3 * q.X[i][0]
		}
		q.Uniform(share * q.AlphaMax())
		q.Alpha[0], q.Alpha[1] = 0, 0
		sol := solve(t, cd.New(fixture.Squared(t, q, true)), fixture.Penalty(t, q), cd.Options{Tol: 1e-12, Polish: true})
		if sol.Status != outcome.Converged {
			t.Errorf("α/αmax = %g: %s at %g", share, sol.Status, sol.RelativeGap)
		}
	}
}

// TestUnpenalisedColumnsBesideLargeCounts checks large counts with small residuals, where rounding leaves a cosine
// between the residual and the eliminated columns: the gap must be finite all the same. The problem is constructed
// for a known solution.
func TestUnpenalisedColumnsBesideLargeCounts(t *testing.T) {
	const n, p, free, active, alpha = 60, 80, 12, 20, 1e-6
	r := oracle.NewRandom(41)
	q := &oracle.Problem{X: make([][]float64, n), Y: make([]float64, n), Alpha: make([]float64, p)}
	residual, size := make([]float64, n), 0.0
	for i := range q.X {
		residual[i] = 3 * alpha * r.Normal()
		size += residual[i] * residual[i]
		q.X[i] = make([]float64, p)
		for j := range q.X[i] {
			q.X[i][j] = r.Normal()
		}
	}
	m, want := make([]float64, n), 0.0
	for j := range p {
		b, z := 0.0, alpha*(2*r.Float64()-1)
		switch {
		case j < free:
			b, z = r.Normal(), 0
		case j < free+active:
			b = 0.3 * r.Normal()
			z = math.Copysign(alpha, b)
		}
		if j >= free {
			q.Alpha[j] = alpha
			want += alpha * math.Abs(b)
		}
		for i := range q.X {
			z -= q.X[i][j] * residual[i] / n
		}
		for i := range q.X { // give the column the correlation with the residual that the solution requires
			q.X[i][j] += z * n / size * residual[i]
			m[i] += q.X[i][j] * b
		}
	}
	for i := range q.Y {
		mean := math.Exp(m[i])
		q.Y[i] = mean + residual[i]
		share := residual[i] / mean // the loss is mean·((1 + share)·ln(1 + share) − share)
		want += mean * share * share * (1./2 - share*(1./6-share*(1./12-share/20))) / n
	}
	fit, err := model.NewRowwise(fixture.View(t, q, true), q.Y, loss.Poisson{})
	if err != nil {
		t.Fatal(err)
	}
	solver, _, err := cd.NewReleased(t.Context(), model.NewNull(fit), q.Alpha, cd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sol := solve(t, solver, fixture.Penalty(t, q), cd.Options{Tol: 1e-10})
	if off := sol.Objective - want; sol.Status != outcome.Converged || !(off >= -1e-9*want && off <= sol.Gap+1e-9*want) {
		t.Errorf("%s at %g, objective %.12g with a gap of %g, want %.12g", sol.Status, sol.RelativeGap, sol.Objective, sol.Gap, want)
	}
}

// TestColumnsThatDependOnUnpenalisedOnesHaveNoStrength checks that a penalised column that depends on unpenalised
// ones has a correlation of exactly 0 at the null model, not what rounding leaves: there is no strength at which it
// leaves 0.
func TestColumnsThatDependOnUnpenalisedOnesHaveNoStrength(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1, 2}, {1, 2}, {-1, 1}, {0.3, -0.7}}, Y: []float64{1, 2, 5, 0.1}, Alpha: []float64{0, 0, 1, 1}}
	for i, x := range q.X {
		q.X[i] = append(x, 0.3*x[0]+0.7*x[1], 0.1*x[0]-1.3*x[1])
	}
	for name, l := range map[string]loss.Loss{"squared": nil, "huber": loss.Huber{Delta: 0.5}} {
		var fit model.Datafit = fixture.Squared(t, q, true)
		if l != nil {
			rows, err := model.NewRowwise(fixture.View(t, q, true), q.Y, l)
			if err != nil {
				t.Fatal(err)
			}
			fit = rows
		}
		_, released, err := cd.NewReleased(t.Context(), model.NewNull(fit), q.Alpha, cd.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		for k, j := range fit.View().Matrix().Order() {
			if c := released.Correlation[k]; q.Alpha[j] > 0 && c != 0 {
				t.Errorf("%s: column %d has a correlation of %g", name, j, c)
			}
		}
	}
}

// TestUnpenalisedColumnsOfRowsWithoutCurvature checks unpenalised columns that have entries only in rows without
// curvature. Such a column has no curvature either, except for rounding from centring it twice, by all rows and by
// those with curvature. Steps divided by so small a curvature would lead to coefficients with which predictions lose
// all digits.
func TestUnpenalisedColumnsOfRowsWithoutCurvature(t *testing.T) {
	for seed := range uint64(100) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 45, P: 30, Density: 0.15, Noise: 1}).Classes(r)
		q.Intercept = true
		for _, row := range q.X {
			for j := range row {
				row[j] *= 1e5
			}
		}
		fit, err := model.NewDatafit(fixture.View(t, q, seed%2 == 0), q.Y, loss.SmoothedHinge{})
		if err != nil {
			t.Fatal(err)
		}
		q.Uniform(0.2 * model.AlphaMax(fit))
		for j := range 6 {
			q.Alpha[j] = 0
		}
		if sol := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{Tol: 1e-6}); sol.Status != outcome.Converged {
			t.Errorf("seed %d: %s, gap %g after %d sweeps", seed, sol.Status, sol.RelativeGap, sol.Epochs)
		}
	}
}
