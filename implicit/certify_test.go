package implicit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// smallFit returns a random correlated problem, with a repeated column if twins is set.
func smallFit(t *testing.T, rng *rand.Rand, l loss.Loss, centre, twins bool) model.Datafit {
	t.Helper()
	n, p := 40, 25
	values := make([]float64, n*p)
	y := make([]float64, n)
	for i := range n {
		common := rng.NormFloat64()
		for j := range p {
			values[j*n+i] = rng.NormFloat64() + 0.7*common
		}
		y[i] = 2*values[i] - values[n+i] + rng.NormFloat64()
		switch l.(type) {
		case loss.Logistic, loss.SquaredHinge, loss.SmoothedHinge:
			y[i] = math.Copysign(1, y[i])
		case loss.Poisson:
			y[i] = math.Floor(math.Abs(y[i]))
		case loss.Gamma, loss.Tweedie:
			y[i] = 0.1 + math.Abs(y[i])
		}
	}
	if twins {
		copy(values[5*n:6*n], values[:n])
	}
	x, err := sparse.NewDense(n, p, values)
	if err != nil {
		t.Fatal(err)
	}
	k := fixture.Kernels(t)
	view, err := sparse.NewView(k, x, nil, centre)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := model.NewDatafit(view, y, l)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// TestCertifiedSupportsAreRight checks for every loss that a certified support is always the support of the exact
// solution, and that it is certified close to the solution unless the curvature of the loss jumps, since the
// curvature at the solution is then unknown.
func TestCertifiedSupportsAreRight(t *testing.T) {
	certified := 0
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 17))
		l, centre, twins := loss.All()[seed%8], seed/8%2 == 0, seed/8%5 < 2
		fit := smallFit(t, rng, l, centre, twins)
		lambda := kernels.Log(model.AlphaMax(fit)) - 0.5 - 3*rng.Float64()
		g, err := model.Lasso(lambda)
		if seed/8%5 == 0 {
			g, err = model.ElasticNet(lambda, lambda-1)
		}
		if err != nil {
			t.Fatal(err)
		}
		exact, err := cd.New(fit).Solve(context.Background(), g, cd.Options{Tol: 1e-14, Polish: true})
		if err != nil {
			t.Fatal(err)
		}
		want := signs(exact)
		for _, tol := range []float64{1e-2, 1e-4, 1e-6, 1e-8, 1e-12} {
			rough, err := cd.New(fit).Solve(context.Background(), g, cd.Options{Tol: tol, Polish: tol == 1e-12})
			if err != nil {
				t.Fatal(err)
			}
			c, err := implicit.New(fit).Certify(context.Background(), g, implicit.Point{Support: rough.Support, Coef: rough.Coef})
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("seed %d, %T, centre %v, twins %v, tol %g", seed, l, centre, twins, tol)
			if c.Support {
				certified++
				if !c.Unique {
					t.Errorf("%s: certified, but not unique", name)
				}
				if got := signs(rough); !slices.Equal(got, want) {
					t.Errorf("%s: certified %v, the solution has %v", name, got, want)
				}
				if margin := dualMargin(fit, g, rough); math.Abs(c.DualMargin-margin) > 1e-12 {
					t.Errorf("%s: dual margin %g, by definition %g", name, c.DualMargin, margin)
				}
			}
			if tol == 1e-12 && !c.Support {
				if _, smooth := l.Concordance(); smooth {
					t.Errorf("%s: not certified at all", name)
				}
			}
			if d := math.Abs(c.Gap - rough.Gap); d > 1e-12*fit.Null() {
				t.Errorf("%s: gap %g, the solver says %g", name, c.Gap, rough.Gap)
			}
		}
	}
	if certified < 150 {
		t.Errorf("%d supports certified of 400", certified)
	}
}

// dualMargin returns min(1 − |zⱼ|/αⱼ) over the columns with coefficient 0.
func dualMargin(fit model.Datafit, g model.Penalty, at *cd.Solution) float64 {
	s, view, least := model.NewState(fit), fit.View(), 1.0
	fit.Fit(at.Support, at.Coef, s)
	for _, j := range view.Matrix().Order() {
		if !slices.Contains(at.Support, j) {
			z := view.Dot(int(j), s.Weighted) / view.Total()
			least = min(least, 1-math.Abs(z)/g.Alpha(int(j)))
		}
	}
	return least
}

func signs(s *cd.Solution) []int {
	var out []int
	for k, j := range s.Support {
		out = append(out, int(math.Copysign(float64(j+1), s.Coef[k])))
	}
	return out
}
