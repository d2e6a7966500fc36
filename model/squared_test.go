package model_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestAlphaMaxSeparatesZeroFromNotZero checks that the solution is 0 at αmax, and not 0 just below it.
func TestAlphaMaxSeparatesZeroFromNotZero(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 20, P: 15, Density: r.Pick(0.3, 1), Mean: r.Pick(0, 2), Weights: seed%2 == 0})
		q.Intercept = seed%4 < 2
		fit := fixture.Squared(t, q, seed%3 == 0)
		top := model.AlphaMax(fit)
		if want := q.AlphaMax(); math.Abs(top-want) > 1e-13*want {
			t.Errorf("seed %d: αmax %.16g, want %.16g", seed, top, want)
		}
		if columns, _ := q.Uniform(top * (1 + 1e-12)).Solve().Support(); len(columns) != 0 {
			t.Errorf("seed %d: a support of %d above αmax", seed, len(columns))
		}
		if columns, _ := q.Uniform(top * (1 - 1e-6)).Solve().Support(); len(columns) == 0 {
			t.Errorf("seed %d: an empty support below αmax", seed)
		}
	}
}

// TestResidualEliminatesTheIntercept checks that the best intercept is returned, and that the residual is y − Xβ −
// b, on held-out rows too.
func TestResidualEliminatesTheIntercept(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 1 + r.Intn(30), P: 1 + r.Intn(20), Density: r.Pick(0.2, 1), Mean: r.Pick(0, 100), Weights: seed%2 == 0})
		q.Intercept = seed%3 != 0
		fit := fixture.Squared(t, q, seed%5 == 0)
		beta := make([]float64, len(q.Alpha))
		var cols []int32
		var coef []float64
		for j := range beta {
			if r.Float64() < 0.5 {
				beta[j] = r.Normal()
				cols, coef = append(cols, int32(j)), append(coef, beta[j])
			}
		}
		kept := append([]float64(nil), coef...)
		s := model.NewState(fit)
		fit.Fit(cols, coef, s)
		got, b := s.Residual, s.UncentredIntercept(fit.View(), cols, coef)
		size := 1.0
		for _, v := range q.Residual(beta, 0) {
			size = math.Max(size, math.Abs(v))
		}
		if want := q.BestIntercept(beta); math.Abs(b-want) > 1e-13*size {
			t.Errorf("seed %d: intercept %.16g, want %.16g", seed, b, want)
		}
		for i, want := range q.Residual(beta, q.BestIntercept(beta)) {
			if math.Abs(got[i]-want) > 1e-13*size*float64(1+len(beta)) {
				t.Errorf("seed %d, row %d: residual %.16g, want %.16g", seed, i, got[i], want)
			}
		}
		for k := range coef {
			if coef[k] != kept[k] {
				t.Fatalf("seed %d: coefficient %d was changed", seed, k)
			}
		}
	}
}

// TestWeightIsRepetition checks that a row of weight k counts as k copies of the row in P₀, αmax, gap and KKT
// residual, and a row of weight 0 as no row.
func TestWeightIsRepetition(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 15, P: 8, Mean: 1})
		q.Intercept = seed%2 == 0
		q.Weights = make([]float64, len(q.Y))
		repeated := &oracle.Problem{Alpha: q.Alpha, Intercept: q.Intercept}
		for i := range q.Y {
			q.Weights[i] = float64(r.Intn(4))
			for range int(q.Weights[i]) {
				repeated.X, repeated.Y = append(repeated.X, q.X[i]), append(repeated.Y, q.Y[i])
			}
		}
		a, b := fixture.Squared(t, q, true), fixture.Squared(t, repeated, true)
		q.Uniform(0.2 * model.AlphaMax(a))
		g := fixture.Penalty(t, q)
		beta := make([]float64, len(q.Alpha))
		for j := range beta {
			beta[j] = r.Pick(0, r.Normal())
		}
		da, sa, ia := dual(a, g, beta)
		db, sb, ib := dual(b, g, beta)
		for name, pair := range map[string][2]float64{
			"N": {a.View().Total(), b.View().Total()}, "P₀": {a.Null(), b.Null()}, "αmax": {model.AlphaMax(a), model.AlphaMax(b)},
			"loss": {sa.Loss, sb.Loss}, "intercept": {ia, ib}, "gap": {a.Gap(da, sa), b.Gap(db, sb)},
			"penalty": {da.Value(), db.Value()}, "KKT": {da.KKT(), db.KKT()},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-13*math.Max(math.Abs(pair[1]), a.Null()) {
				t.Errorf("seed %d: %s is %.16g with weights, %.16g with repeated rows", seed, name, pair[0], pair[1])
			}
		}
	}
}

// TestNothingToExplain checks that P₀, the gap and αmax are 0 rather than noise for y = 0, and for a constant y
// with an intercept.
func TestNothingToExplain(t *testing.T) {
	for _, constant := range []float64{0, 3, 0.1} {
		r := oracle.NewRandom(5)
		q := r.Problem(oracle.Shape{N: 32, P: 6})
		for i := range q.Y {
			q.Y[i] = constant
		}
		q.Intercept = constant != 0
		fit := fixture.Squared(t, q, true)
		g := fixture.Penalty(t, q.Uniform(1))
		d, s, b := dual(fit, g, make([]float64, 6))
		// The mean of 32 equal numbers may be rounded, but by no more than this.
		if noise := 1e-30; fit.Null() > noise || fit.Gap(d, s) > noise || math.Abs(b-constant) > 1e-16 {
			t.Errorf("y = %g: P₀ %g, gap %g, intercept %g", constant, fit.Null(), fit.Gap(d, s), b)
		}
		if model.AlphaMax(fit) > 1e-15 {
			t.Errorf("y = %g: αmax %g", constant, model.AlphaMax(fit))
		}
	}
}

func TestTargetsAreChecked(t *testing.T) {
	r := oracle.NewRandom(2)
	q := r.Problem(oracle.Shape{N: 4, P: 2})
	view := fixture.Squared(t, q, true).View()
	for _, c := range []struct {
		y    []float64
		want outcome.Kind
		row  int
	}{
		{[]float64{1, 2, 3}, outcome.Shape, -1},
		{nil, outcome.Shape, -1},
		{[]float64{1, 2, math.NaN(), 4}, outcome.NonFinite, 2},
		{[]float64{1, math.Inf(-1), 3, 4}, outcome.NonFinite, 1},
		{[]float64{1e300, 2, 3, 4}, outcome.NonFinite, -1},
	} {
		_, err := model.NewSquared(view, c.y)
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != c.want || (c.row >= 0) != e.HasRow || (c.row >= 0 && e.Row != c.row) {
			t.Errorf("y = %v: %v", c.y, err)
		}
	}
}
