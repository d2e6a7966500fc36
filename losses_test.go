package pare_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
)

// goldenFamily is a row of testdata/golden/families.jsonl.
type goldenFamily struct{ fixture.Family }

func (g goldenFamily) config() pare.Config {
	c := pare.Config{Tol: 1e-12, NoIntercept: !g.Intercept, Standardize: g.Standardize}
	c.Balanced = g.ClassWeight == "balanced"
	if g.Penalty == "" { // support vectors
		c.Model = pare.Model(g.Datafit)
		c.Intercept = g.Intercept && c.Model == pare.SVM
		c.NoIntercept = c.NoIntercept && c.Model != pare.SVM
		return c
	}
	c.Model = map[string]pare.Model{"l1": pare.Lasso, "enet": pare.ElasticNet, "ridge": pare.Ridge}[g.Penalty]
	for _, l := range loss.All() {
		if l.Name() == g.Datafit {
			c.Loss = l
		}
	}
	switch l := c.Loss.(type) {
	case loss.Huber: // otherwise 1.345·1.4826 deviations
		if delta, ok := g.Delta.(float64); ok {
			c.Loss = loss.Huber{Delta: delta}
		}
	case loss.Tweedie:
		l.Power = g.Power
		c.Loss = l
	}
	return c
}

// TestGoldenFamilies: αmax, values, hypergradients and the first fold's solution are those of
// an independent computation, to 1e-9 and 1e-7.
func TestGoldenFamilies(t *testing.T) {
	rows := fixture.Golden[goldenFamily](t, "testdata/golden/families.jsonl")
	if len(rows) != 24 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		t.Run(row.String(), row.test)
	}
}

func (g goldenFamily) test(t *testing.T) {
	ctx := context.Background()
	x, y := g.Problem(t, "../shared/data/")
	c := g.config()
	v := pare.Validation{InOrder: true, Loss: criterion.Named(g.Loss), Folds: g.Folds}
	if c.Loss != nil && criterion.Deviance(c.Loss).Name() == g.Loss {
		v.Loss = criterion.Deviance(c.Loss)
	}
	first := make([]float64, len(y)) // weights of the first fold's training rows
	for i := range y {
		if first[i] = g.Weight(i); g.Weights != "" {
			c.Weights = append(c.Weights, first[i])
		}
		if g.Offset != "" {
			c.Offset = append(c.Offset, math.Log(1+float64(i%4)/4))
		}
		held := g.Split == "cv" && i%g.Folds == 0
		if g.Split == "holdout" {
			held = i%3 == 2
			v.Criterion, v.FoldIDs = pare.HoldOut, append(v.FoldIDs, map[bool]int{true: 0, false: -1}[held])
		}
		if held {
			first[i] = 0
		}
	}
	if _, p := x.Dims(); g.Factors != "" { // the first column has no penalty and no bounds
		for j := range p {
			c.PenaltyFactors = append(c.PenaltyFactors, 1+float64(j%3)/2)
			c.Lower, c.Upper = append(c.Lower, g.Lower), append(c.Upper, g.Upper)
		}
		c.PenaltyFactors[0], c.Lower[0], c.Upper[0] = 0, math.Inf(-1), math.Inf(1)
	}
	near := func(what string, got, want, tol float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tol*math.Abs(want)) {
			t.Errorf("%s %.15g, want %.15g", what, got, want)
		}
	}
	if g.Penalty == "l1" || g.Penalty == "enet" { // that of others is another
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		near("αmax", math.Exp(top[0]), g.AlphaMax, 1e-12)
	}
	got, err := pare.Gradient(ctx, x, y, g.LogLambda, v, c)
	if err != nil {
		t.Fatal(err)
	}
	near("value", got.Value, g.Value, 1e-9)
	largest := 0.0
	for _, want := range g.Gradient {
		largest = max(largest, math.Abs(want))
	}
	for i, want := range g.Gradient {
		if d := math.Abs(got.Gradient[i] - want); !(d <= 1e-7*largest) {
			t.Errorf("gradient %g, want %g", got.Gradient, g.Gradient)
		}
	}
	c.Weights, c.Tol = first, 1e-15 // coefficients are known to its root
	f, err := pare.Fit(ctx, x, y, g.LogLambda, c)
	if err != nil {
		t.Fatal(err)
	}
	near("objective", f.Objective, g.Info[0].Objective, 1e-11)
	if g.Info[0].Null != 0 {
		near("P₀", f.Gap/f.RelativeGap, g.Info[0].Null, 1e-9)
	}
	if g.Standardize || g.Penalty == "" || len(g.Coef.Index) < len(f.Support) { // coefficients of scaled columns, or the first 60 alone
		return
	}
	near("intercept", f.Intercept, g.Info[0].B, 1e-8)
	if len(f.Support) != len(g.Coef.Index) {
		t.Fatalf("support %v, want %v", f.Support, g.Coef.Index)
	}
	var off float64 // ‖β − β̂‖² ≤ 2·gap/α₂
	if g.Penalty != "l1" {
		off = math.Sqrt(2 * f.Gap / math.Exp(g.LogLambda[len(g.LogLambda)-1]))
	}
	for k, j := range g.Coef.Index {
		if f.Support[k] != j {
			t.Fatalf("support %v, want %v", f.Support, g.Coef.Index)
		}
		if d := math.Abs(f.Coef[k] - g.Coef.Value[k]); !(d <= 1e-7*math.Abs(g.Coef.Value[k])+off) {
			t.Errorf("coefficient %.15g, want %.15g to %g", f.Coef[k], g.Coef.Value[k], off)
		}
	}
}

// TestLossesAreChosenWell: with an ℓ1 strength the default search comes within a thousandth of
// the best of 200 strengths.
func TestLossesAreChosenWell(t *testing.T) {
	ctx := context.Background()
	for i, l := range loss.All() {
		if !oracle.Turn(i, 3) {
			continue
		}
		x, y := diabetesFor(t, l)
		c, v := pare.Config{Loss: l}, pare.Validation{InOrder: true}
		s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: v}, c)
		if err != nil || s.Final == nil || !s.Status.OK() {
			t.Fatalf("%s: %+v, %v", l.Name(), s, err)
		}
		top := lambdaMax(t, x, y, c)
		var grid [][]float64
		for k := range 200 {
			grid = append(grid, []float64{top - 9*float64(k)/199})
		}
		best := math.Inf(1)
		for e, err := range pare.Validate(ctx, x, y, grid, v, c) {
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, e.Value)
		}
		if s.Value > best*(1+1e-3) || len(s.Evaluations) > 20 {
			t.Errorf("%s: %g after %d evaluations, %g on the grid", l.Name(), s.Value, len(s.Evaluations), best)
		}
	}
}
