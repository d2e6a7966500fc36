package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestLogisticConvergesFromSaturatedStarts checks that a solve converges from any start,
// and down to strengths at which the classes are nearly separated. Samples far on the
// wrong side of a model have a steep loss without curvature, and a step towards the
// minimum of the quadratic model there gains nothing, however short it is.
func TestLogisticConvergesFromSaturatedStarts(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30 + r.Intn(60), P: 60 + r.Intn(200), Density: r.Pick(0.03, 0.1), Mean: r.Pick(0, 1)})
		for i := range q.Y {
			q.Y[i] = math.Copysign(1, q.Y[i])
		}
		q.Y[0], q.Y[1] = 1, -1
		q.Intercept = seed%3 == 0
		fit := fixture.Logistic(t, q, false)
		top := kernels.Log(model.AlphaMax(fit))
		solver := cd.New(fit)
		_, p := q.Dims()
		cols, coef := make([]int32, p), make([]float64, p)
		for j := range cols {
			cols[j], coef[j] = int32(j), 100*r.Normal()
		}
		solver.Start(cols, coef)
		for _, down := range []float64{2, 5, 9, 4} {
			g, err := model.Lasso(top - down)
			if err != nil {
				t.Fatal(err)
			}
			sol, err := solver.Solve(t.Context(), g, cd.Options{Tol: 1e-8})
			if err != nil {
				t.Fatal(err)
			}
			if sol.Status != outcome.Converged || sol.Epochs > 20_000 {
				t.Errorf("seed %d, αmax·e^-%g: %s after %d epochs, gap %.1e", seed, down, sol.Status, sol.Epochs, sol.RelativeGap)
			}
		}
	}
}
