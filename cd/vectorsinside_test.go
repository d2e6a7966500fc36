package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestInteriorPointOfTubesInAnyUnits checks that a cold start reaches the exact solution in few steps of the
// interior-point method in any unit of the targets, with C and ε in that unit, and for rows of any length. All
// solutions must be equally good by their two objectives.
func TestInteriorPointOfTubesInAnyUnits(t *testing.T) {
	const most = 12
	for _, unit := range []float64{1e-6, 1, 1e6} {
		for _, length := range []float64{0.03, 1, 30} {
			r := oracle.NewRandom(12)
			q := r.Problem(oracle.Shape{N: 150, P: 6, Density: 1, Noise: 1})
			for i, x := range q.X {
				q.Y[i] *= unit
				for j := range x {
					x[j] *= length
				}
			}
			o := model.VectorsOptions{Intercept: true}
			fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []float64{0.1, 10} {
				at := []float64{math.Log(c * unit / length / length), math.Log(0.1 * unit)}
				s := solveVectors(t, fit, cd.NewVectors, at, cd.Options{Tol: 1e-10})
				primal, dual, _ := vectorObjectives(q, o, s, s.C, s.Epsilon)
				if s.Status != outcome.Converged || s.Epochs > most || !(primal-dual <= 1e-10*fit.Null(s.C, s.Epsilon)) {
					t.Errorf("unit %g, rows of %g, C %g: %s after %d steps, objectives %g and %g", unit, length, c, s.Status, s.Epochs, primal, dual)
				}
			}
		}
	}
}
