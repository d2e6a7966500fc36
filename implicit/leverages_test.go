package implicit

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// TestLeveragesAddUpToTheSupport checks that Σᵢ hᵢℓ″ᵢ is the trace of A⁻¹A: the number of columns of the support,
// plus one for the intercept. The curvature of the logistic loss is p(1 − p).
func TestLeveragesAddUpToTheSupport(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(200 + seed)
		q := r.Problem(oracle.Shape{N: 30, P: 12, Density: r.Pick(0.5, 1), Mean: 1, Weights: seed%3 > 0}).Classes(r)
		q.Intercept = seed%2 == 0
		fit := fixture.Logistic(t, q, seed%4 < 2)
		g, err := model.Lasso(kernels.Log(model.AlphaMax(fit)) - 1)
		if err != nil {
			t.Fatal(err)
		}
		at, err := cd.New(fit).Solve(context.Background(), g, cd.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		s := New(fit)
		removal, err := s.Leverages(g, Point{Support: at.Support, Coef: at.Coef})
		if err != nil {
			t.Fatal(err)
		}
		scores := model.NewState(fit)
		fit.Fit(at.Support, at.Coef, scores)
		want := float64(len(at.Support))
		if q.Intercept {
			want++
		}
		var sum oracle.Sum
		for i, got := range s.Curvatures() {
			if q.Weight(i) == 0 {
				continue
			}
			p := 1 / (1 + math.Exp(-scores.Prediction[i]))
			if c := p * (1 - p); math.Abs(got-c) > 1e-12 {
				t.Errorf("seed %d: curvature %.15g of row %d, want %.15g", seed, got, i, c)
			}
			sum.AddProduct(removal.Leverage[i], got)
		}
		if got := sum.Value(); math.Abs(got-want) > 1e-8 {
			t.Errorf("seed %d: leverages add up to %.12g, the support has %g", seed, got, want)
		}
	}
}

// TestSlackIsTheSlopeAtTheBound checks that the slack of a coefficient at its bound is the slope of the objective
// towards the bound.
func TestSlackIsTheSlopeAtTheBound(t *testing.T) {
	const h = 1e-5
	for seed := range uint64(50) {
		r := oracle.NewRandom(seed)
		alpha, ridge, z, b := r.Float64()+0.1, r.Pick(0.1, 2), 3*r.Normal(), r.Normal()
		g, err := model.ElasticNet(math.Log(alpha), math.Log(ridge))
		if err != nil {
			t.Fatal(err)
		}
		objective := func(b float64) float64 { return alpha*math.Abs(b) + ridge*b*b/2 - z*b }
		slope := (objective(b+math.Copysign(h, b)) - objective(b-math.Copysign(h, b))) / (2 * h)
		if got := boundSlack(g, 0, b, z); math.Abs(got+slope) > 1e-8*(1+math.Abs(z)) && math.Abs(b) > h {
			t.Errorf("seed %d: slack %g, the objective falls by %g", seed, got, -slope)
		}
	}
}
