package implicit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
)

// TestRowsOfNoWeightAreAbsent checks that rows of weight 0 change neither gradients, their bounds and margins, nor
// certificates, at points beside the solution.
func TestRowsOfNoWeightAreAbsent(t *testing.T) {
	losses := map[string]loss.Loss{"squared": loss.Squared{}, "logistic": loss.Logistic{}, "Poisson": loss.Poisson{}}
	for _, of := range []string{"squared", "logistic", "Poisson"} {
		for seed := range uint64(6) {
			r := oracle.NewRandom(8300 + seed)
			q := r.Problem(oracle.Shape{N: 40, P: 8, Mean: r.Pick(0, 1)})
			q.Intercept = seed%2 == 0
			fit, top := drawn(t, r, q, of)
			g := fixture.Penalty(t, q.Uniform(0.1*top))
			best, err := cd.New(fit).Solve(t.Context(), g, cd.Options{Tol: 1e-13})
			if err != nil {
				t.Fatal(err)
			}
			wide := *q
			wide.X, wide.Y, wide.Weights = slices.Clone(q.X), slices.Clone(q.Y), slices.Repeat([]float64{1}, 40)
			outer := implicit.Outer{Slope: make([]float64, 50), Curvature: make([]float64, 50)}
			for i := range 40 {
				outer.Slope[i], outer.Curvature[i] = r.Normal(), r.Float64()
			}
			for i := range 10 {
				wide.X, wide.Y, wide.Weights = append(wide.X, wide.X[i]), append(wide.Y, wide.Y[i+20]), append(wide.Weights, 0)
			}
			wider, err := model.NewDatafit(fixture.View(t, &wide, true), wide.Y, losses[of])
			if err != nil {
				t.Fatal(err)
			}
			for _, off := range []float64{1e-4, 1e-3} {
				at := implicit.Point{Support: slices.Clone(best.Support), KKT: -1, Clearance: math.Inf(1)}
				for _, b := range best.Coef {
					at.Coef = append(at.Coef, b*(1+off*r.Normal()))
				}
				want, err := implicit.New(fit).Solve(t.Context(), g, at, implicit.Outer{Slope: outer.Slope[:40], Curvature: outer.Curvature[:40]}, implicit.Options{Tol: 1e-12})
				if err != nil {
					t.Fatal(err)
				}
				got, err := implicit.New(wider).Solve(t.Context(), g, at, outer, implicit.Options{Tol: 1e-12})
				if err != nil {
					t.Fatal(err)
				}
				same := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-8*math.Abs(b) }
				if !same(got.ErrorBound, want.ErrorBound) || !same(got.Gradient[0], want.Gradient[0]) || !same(got.InjectivityMargin, want.InjectivityMargin) || got.Status != want.Status || got.Bound != want.Bound {
					t.Errorf("%s, seed %d, off by %g: %+v, without them %+v", of, seed, off, *got, *want)
				}
			}
		}
	}
}
