package model_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestWhatAPenaltySaysOfItself checks the number of λ's and of columns, whether λ's belong to columns, whether the
// penalty is a ridge alone, and which columns it leaves unpenalised.
func TestWhatAPenaltySaysOfItself(t *testing.T) {
	must := func(g model.Penalty, err error) model.Penalty {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	none := math.Inf(-1)
	for name, c := range map[string]struct {
		of                                   model.Penalty
		lambdas, columns                     int
		quadratic, own, unpenalised, ofRidge bool // ofRidge: whether the last λ is that of the ridge
	}{
		"lasso":          {must(model.Lasso(0)), 1, -1, false, false, false, false},
		"ridge":          {must(model.Ridge(0)), 1, -1, true, false, false, true},
		"elastic net":    {must(model.ElasticNet(0, 0)), 2, -1, false, false, false, true},
		"net, ridge":     {must(model.ElasticNet(none, 0)), 2, -1, true, false, false, true},
		"net, lasso":     {must(model.ElasticNet(0, none)), 2, -1, false, false, false, true},
		"weighted":       {must(model.WeightedLasso([]float64{0, 1, 2})), 3, 3, false, true, false, false},
		"one unweighted": {must(model.WeightedLasso([]float64{0, none, 2})), 3, 3, false, true, true, false},
		"factors":        {must(model.Lasso(0)).Weighted([]float64{1, 2}), 1, 2, false, false, false, false},
		"a factor of 0":  {must(model.Lasso(0)).Weighted([]float64{1, 0}), 1, 2, false, false, true, false},
		"ridge, factors": {must(model.Ridge(0)).Weighted([]float64{1, 0}), 1, -1, true, false, false, true},
	} {
		g := c.of
		if g.Hyperparameters() != c.lambdas || g.Columns() != c.columns || g.Quadratic() != c.quadratic || g.PerColumn() != c.own || g.Unpenalised() != c.unpenalised || g.OfRidge(c.lambdas-1) != c.ofRidge {
			t.Errorf("%s: %d λ's, %d columns, quadratic %t, own %t, unpenalised %t, of the ridge %t", name,
				g.Hyperparameters(), g.Columns(), g.Quadratic(), g.PerColumn(), g.Unpenalised(), g.OfRidge(c.lambdas-1))
		}
	}
	g := must(model.ElasticNet(math.Log(3), math.Log(5))).Weighted([]float64{2, 0.5, 0})
	for j, want := range []float64{6, 1.5, 0} {
		if math.Abs(g.Alpha(j)-want) > 1e-14 || g.Smooth(j) != (want == 0) {
			t.Errorf("column %d: strength %g, want %g", j, g.Alpha(j), want)
		}
	}
	if math.Abs(g.Ridge()-5) > 1e-14 {
		t.Errorf("ridge %g", g.Ridge())
	}
	h := g.Scaled(10, 100)
	for j, want := range []float64{60, 15, 0} {
		if math.Abs(h.Alpha(j)-want) > 1e-13 || math.Abs(h.Ridge()-500) > 1e-12 {
			t.Errorf("scaled, column %d: strength %g, want %g, ridge %g", j, h.Alpha(j), want, h.Ridge())
		}
	}
}

// TestRidgeGapIsPrimalLessDual checks that the gap under a ridge is Σ(z − α₂β)²/2α₂, primal minus dual at the
// residual itself, which a ridge makes dual feasible, or the objective, the gap at the dual point 0, if that is
// smaller.
func TestRidgeGapIsPrimalLessDual(t *testing.T) {
	for seed := range uint64(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 12, P: 5, Density: 1})
		ridge := math.Exp(r.Normal())
		g, err := model.Ridge(math.Log(ridge))
		if err != nil {
			t.Fatal(err)
		}
		beta := make([]float64, 5)
		for j := range beta {
			beta[j] = r.Pick(0, 1, 0.1) * r.Normal()
		}
		fit := fixture.Squared(t, q, true)
		d, s, intercept := dual(fit, g, beta)
		if s.Intercept != 0 || intercept != 0 {
			t.Errorf("seed %d: an intercept of %g", seed, s.Intercept)
		}
		want, objective := 0.0, s.Loss
		for j, z := range q.Correlations(q.Residual(beta, 0)) {
			want += (z - ridge*beta[j]) * (z - ridge*beta[j]) / (2 * ridge)
			objective += ridge * beta[j] * beta[j] / 2
		}
		want = math.Min(want, objective)
		if got := fit.Gap(d, s); math.Abs(got-want) > 1e-12*(1+want) {
			t.Errorf("seed %d: gap %.15g, want %.15g", seed, got, want)
		}
	}
}

// TestStatesAreAssignedWhole checks that an assigned state is equal and shares no memory.
func TestStatesAreAssignedWhole(t *testing.T) {
	for name, curved := range map[string]bool{"squared": false, "logistic": true} {
		q := oracle.NewRandom(8).Problem(oracle.Shape{N: 10, P: 3, Density: 1, Weights: true})
		q.Intercept = true
		var fit model.Datafit = fixture.Squared(t, q, true)
		if curved {
			for i := range q.Y {
				q.Y[i] = float64(2*(i%2) - 1)
			}
			fit = fixture.Logistic(t, q, true)
		}
		s, to := model.NewState(fit), model.NewState(fit)
		fit.Fit([]int32{0, 2}, []float64{0.5, -1}, s)
		lost, intercept := s.Loss, s.Intercept
		want := [][]float64{slices.Clone(s.Linear), slices.Clone(s.Prediction), slices.Clone(s.Residual), slices.Clone(s.Weighted)}
		to.Assign(s)
		lasso, _ := model.Lasso(-3)
		gap := func(s *model.State) float64 {
			d := model.NewDual(fit, lasso, s)
			for j := range 3 {
				d.Add(j, fit.View().Dot(j, s.Weighted)/fit.View().Total(), []float64{0.5, 0, -1}[j], fit.View().Norm(j))
			}
			return fit.Gap(&d, s)
		}
		before := gap(s)
		fit.Fit(nil, nil, s)
		for k, got := range [][]float64{to.Linear, to.Prediction, to.Residual, to.Weighted} {
			if !slices.Equal(got, want[k]) {
				t.Errorf("%s: slice %d is %v, was %v", name, k, got, want[k])
			}
		}
		if after := gap(to); after != before || to.Loss != lost || to.Intercept != intercept {
			t.Errorf("%s: gap %g, was %g; loss %g, intercept %g", name, after, before, to.Loss, to.Intercept)
		}
	}
}

// TestSharesOfTheSparseGroupAreFromNoneToAll checks that shares from 0 to 1, ends included, are accepted and no
// others.
func TestSharesOfTheSparseGroupAreFromNoneToAll(t *testing.T) {
	for tau, ok := range map[float64]bool{0: true, 1: true, 0.5: true, -1e-9: false, 1 + 1e-9: false, math.NaN(): false} {
		g, err := model.SparseGroup(nil, tau, 0)
		if (err == nil) != ok {
			t.Errorf("τ = %g: %v", tau, err)
		}
		if want := 2*tau + (1-tau)*math.Sqrt2; ok && math.Abs(g.Value(0, []float64{1, -1})-want) > 1e-15 {
			t.Errorf("τ = %g: %g, want %g", tau, g.Value(0, []float64{1, -1}), want)
		}
	}
}

// TestExcessIsTheConjugate checks the conjugate by Young's equality g*(s) = s·b − g(b) for a slope s in ∂g(b).
func TestExcessIsTheConjugate(t *testing.T) {
	const step = 0.7
	r := oracle.NewRandom(13)
	for name, of := range map[string]penaltyOf{"group_enet": blockPenalties()["group_enet"], "enet": blockPenalties()["enet"]} {
		for range 100 {
			l := []float64{0.5 * r.Normal(), 0.5 * r.Normal()}
			g, err := of(l...)
			if err != nil {
				t.Fatal(err)
			}
			z, b, s := make([]float64, 3), make([]float64, 3), make([]float64, 3)
			for k := range z {
				z[k] = r.Pick(0.3, 2) * r.Normal()
			}
			g.Prox(0, z, step, b)
			want := -g.Value(0, b)
			for k := range s {
				s[k] = (z[k] - b[k]) / step
				want += s[k] * b[k]
			}
			convex := g.(model.ConvexBlocks)
			if got := convex.Excess(0, s); math.Abs(got-want) > 1e-13*(1+want) {
				t.Errorf("%s: conjugate %g at %v, want %g", name, got, s, want)
			}
			if convex.Ridge() != math.Exp(l[1]) && math.Abs(convex.Ridge()/math.Exp(l[1])-1) > 1e-14 {
				t.Errorf("%s: ridge %g", name, convex.Ridge())
			}
			// Stronger does not change the ridge.
			half := convex.Stronger(0.5)
			var ridge float64
			for _, v := range z {
				ridge += math.Exp(l[1]) * v * v / 2
			}
			if got, want := half.Value(0, z)-ridge, (g.Value(0, z)-ridge)/2; math.Abs(got-want) > 1e-13*(1+want) {
				t.Errorf("%s: half as strong %g, want %g", name, got, want)
			}
		}
	}
}

// TestOffsetsAreSubtracted checks that predictions are Xβ + o and residuals y − Xβ − o.
func TestOffsetsAreSubtracted(t *testing.T) {
	q := oracle.NewRandom(2).Problem(oracle.Shape{N: 6, P: 2, Density: 1})
	offset := []float64{1, -2, 0, 3, 0.5, 8}
	fit, err := model.NewOffset(fixture.View(t, q, true), q.Y, offset, loss.Squared{})
	if err != nil {
		t.Fatal(err)
	}
	s := model.NewState(fit)
	fit.Fit([]int32{1}, []float64{2}, s)
	labels := []float64{1, -1, 1, 1, -1, 1}
	logistic, err := model.NewOffset(fixture.View(t, q, true), labels, offset, loss.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	odds := model.NewState(logistic)
	logistic.Fit([]int32{1}, []float64{2}, odds)
	var null, lost float64
	for i, y := range q.Y {
		if m := 2*q.X[i][1] + offset[i]; math.Abs(odds.Prediction[i]-m) > 1e-14*(1+math.Abs(m)) || math.Abs(odds.Residual[i]-labels[i]/(1+math.Exp(labels[i]*m))) > 1e-14 {
			t.Errorf("row %d: log odds %g, want %g; residual %g", i, odds.Prediction[i], m, odds.Residual[i])
		}
		m := 2*q.X[i][1] + offset[i]
		if math.Abs(s.Prediction[i]-m) > 1e-14*(1+math.Abs(m)) || math.Abs(s.Residual[i]-(y-m)) > 1e-14*(1+math.Abs(m)) {
			t.Errorf("row %d: prediction %g, residual %g, want %g and %g", i, s.Prediction[i], s.Residual[i], m, y-m)
		}
		null += (y - offset[i]) * (y - offset[i]) / 12
		lost += (y - m) * (y - m) / 12
	}
	if math.Abs(fit.Null()-null) > 1e-14*null || math.Abs(s.Loss-lost) > 1e-14*lost {
		t.Errorf("null model %g, want %g; loss %g, want %g", fit.Null(), null, s.Loss, lost)
	}
}

// TestStrengthsOfBlocksAreRefusedWithoutAColumn checks that the error for an invalid λ of blocks names no column,
// because these λ's belong to none.
func TestStrengthsOfBlocksAreRefusedWithoutAColumn(t *testing.T) {
	for name, of := range blockPenalties() {
		if name == "mcp" || name == "scad" {
			continue
		}
		g, err := of(0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range g.Hyperparameters() {
			l := make([]float64, 3)
			l[i] = math.NaN()
			_, err := of(l...)
			if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.BadParameter || e.HasColumn {
				t.Errorf("%s, λ %d: %v", name, i, err)
			}
		}
	}
}

// TestWeightsOfAtMostOne checks that means are weighted if no weight exceeds 1.
func TestWeightsOfAtMostOne(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1}, {1}, {1}}, Y: []float64{9, 2, 5}, Weights: []float64{0, 1, 0.5}, Alpha: []float64{1}, Intercept: true}
	fit := fixture.Squared(t, q, true)
	s := model.NewState(fit)
	fit.Fit(nil, nil, s)
	if math.Abs(s.Intercept-3) > 1e-15 || math.Abs(fit.Null()-1) > 1e-15 { // (2 + 2.5)/1.5 and (1 + 0.5·4)/2·1.5
		t.Errorf("intercept %g, null model %g", s.Intercept, fit.Null())
	}
}
