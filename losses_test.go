package pare_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/subject"
	"github.com/seed-45b9a24c/pare/loss"
)

// goldenFamily is a row of testdata/golden/families.jsonl.
type goldenFamily struct {
	Datafit, Penalty, Loss, Split, Target, Weights string
	Folds                                          int
	Delta                                          any
	Intercept                                      bool
	AlphaMax                                       float64   `json:"alpha_max"`
	LogLambda                                      []float64 `json:"log_lambda"`
	Value                                          float64
	Gradient                                       []float64
	Info                                           []struct{ Objective, Null, B float64 }
	Coef                                           struct {
		Index []int32
		Value []float64
	} `json:"coef_first_fold"`
}

func (g goldenFamily) config() pare.Config {
	c := pare.Config{Tol: 1e-12, NoIntercept: !g.Intercept, Loss: loss.Poisson{}}
	if g.Penalty == "enet" {
		c.Model = pare.ElasticNet
	}
	if g.Datafit == "huber" {
		c.Loss = loss.Huber{} // 1.345·1.4826 deviations
		if delta, ok := g.Delta.(float64); ok {
			c.Loss = loss.Huber{Delta: delta}
		}
	}
	return c
}

// TestGoldenFamilies: αmax, values, hypergradients and the first fold's solution of Poisson
// and Huber are those of an independent computation, to 1e-9 and 1e-7.
func TestGoldenFamilies(t *testing.T) {
	ctx := context.Background()
	rows := subject.Golden[goldenFamily](t, "testdata/golden/families.jsonl")
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		x, y, err := diabetes()
		if err != nil {
			t.Fatal(err)
		}
		if row.Target == "count:25" {
			for i := range y {
				y[i] = math.Floor(y[i] / 25)
			}
		}
		c := row.config()
		v := pare.Validation{InOrder: true, Loss: criterion.Named(row.Loss), Folds: row.Folds}
		first := make([]float64, len(y)) // weights of the first fold's training rows
		for i := range y {
			if first[i] = 1; row.Weights != "" {
				first[i] = float64(1 + i%3)
				c.Weights = append(c.Weights, first[i])
			}
			held := row.Split == "cv" && i%row.Folds == 0
			if row.Split == "holdout" {
				held = i%3 == 2
				v.Criterion, v.FoldIDs = pare.HoldOut, append(v.FoldIDs, map[bool]int{true: 0, false: -1}[held])
			}
			if held {
				first[i] = 0
			}
		}
		name := strings.Join([]string{row.Datafit, row.Penalty, row.Loss, row.Split}, " ")
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want, tol float64) {
			if !(math.Abs(got-want) <= tol*math.Abs(want)) {
				t.Errorf("%s: %s %.15g, want %.15g", name, what, got, want)
			}
		}
		near("αmax", math.Exp(top[0]), row.AlphaMax, 1e-12)
		g, err := pare.Gradient(ctx, x, y, row.LogLambda, v, c)
		if err != nil {
			t.Fatal(err)
		}
		near("value", g.Value, row.Value, 1e-9)
		largest := 0.0
		for _, want := range row.Gradient {
			largest = max(largest, math.Abs(want))
		}
		for i, want := range row.Gradient {
			if d := math.Abs(g.Gradient[i] - want); !(d <= 1e-7*largest) {
				t.Errorf("%s: gradient %g, want %g", name, g.Gradient, row.Gradient)
			}
		}
		c.Weights = first
		f, err := pare.Fit(ctx, x, y, row.LogLambda, c)
		if err != nil {
			t.Fatal(err)
		}
		near("objective", f.Objective, row.Info[0].Objective, 1e-12)
		near("P₀", f.Gap/f.RelativeGap, row.Info[0].Null, 1e-9)
		near("intercept", f.Intercept, row.Info[0].B, 1e-8)
		if len(f.Support) != len(row.Coef.Index) {
			t.Fatalf("%s: support %v, want %v", name, f.Support, row.Coef.Index)
		}
		for k, j := range row.Coef.Index {
			if f.Support[k] != j {
				t.Fatalf("%s: support %v, want %v", name, f.Support, row.Coef.Index)
			}
			near("coefficient", f.Coef[k], row.Coef.Value[k], 1e-7)
		}
	}
}
