package pare_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestCombinationsAgainstDifferences: models with weights, standardised columns, β ≥ 0,
// unpenalised columns and without intercept, drawn at random: the hypergradient is the
// slope of the criterion, and what is returned is certified.
func TestCombinationsAgainstDifferences(t *testing.T) {
	ctx := context.Background()
	models := []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge, pare.Logistic, pare.Multiclass}
	tested := 0
	for seed := range oracle.Cases(160) {
		r := oracle.NewRandom(seed)
		const n, p = 60, 8
		m := models[r.Intn(len(models))]
		q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.5, 1), Mean: r.Pick(0, 1), Active: 4})
		y := slices.Clone(q.Y)
		c := pare.Config{Model: m, Tol: 1e-14, NoIntercept: r.Intn(3) == 0, Standardize: r.Intn(2) == 0, Certify: true}
		for i := range y {
			switch m {
			case pare.Logistic:
				y[i] = math.Copysign(1, float64(i%5)-2.2+0.3*y[i]) // both in every fold
			case pare.Multiclass:
				y[i] = float64(i % 3)
			}
		}
		if m != pare.Ridge {
			c.Positive = r.Intn(3) == 0
		}
		if r.Intn(2) == 0 {
			for range n {
				c.Weights = append(c.Weights, r.Pick(0, 0.5, 1, 2.5))
			}
		}
		x := denseOf(t, q.X, p)
		if r.Intn(2) == 0 {
			x = matrixOf(t, q.X, p)
		}
		lambda, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsInf(lambda[0], -1) {
			continue // no column pulls upwards
		}
		for i := range lambda {
			lambda[i] -= 1 + 2*r.Float64()
		}
		if m == pare.WeightedLasso {
			lambda[1] = math.Inf(1)
			if !c.Positive {
				lambda[2] = math.Inf(-1)
			}
		}
		name := fmt.Sprintf("seed %d: %+v", seed, c)
		f, err := pare.Fit(ctx, x, y, lambda, c)
		if err != nil || f.Status != outcome.Converged {
			t.Fatalf("%s: %v, %+v", name, err, f)
		}
		at := func(i int, step float64) *pare.Hypergradient {
			moved := slices.Clone(lambda)
			moved[i] += step
			g, err := pare.Gradient(ctx, x, y, moved, pare.Validation{Folds: 3, Shuffle: true, Seed: seed}, c)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return g
		}
		here := at(0, 0)
		if !here.SupportCertified {
			continue // a knot may be near
		}
		for i, got := range here.Gradient {
			if math.IsInf(lambda[i], 0) {
				if got != 0 {
					t.Errorf("%s: ∂/∂λ%d = %g at λ = %g", name, i+1, got, lambda[i])
				}
				continue
			}
			const h = 1e-5
			up, down := at(i, h), at(i, -h)
			forward, backward := (up.Value-here.Value)/h, (here.Value-down.Value)/h
			scale := math.Abs(forward) + 1e-2*here.Value
			if math.Abs(forward-backward) > 1e-3*scale {
				continue // a knot between them
			}
			tested++
			if want := (forward + backward) / 2; math.Abs(got-want) > 1e-6*scale {
				t.Errorf("%s: ∂/∂λ%d = %.10g, differences %.10g", name, i+1, got, want)
			}
		}
	}
	if tested < int(oracle.Cases(160)) {
		t.Errorf("only %d slopes tested", tested)
	}
}
