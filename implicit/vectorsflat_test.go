package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestNothingMovesOnlyWhereTheFreeRowsAreRight checks two rows at ±1 of the classes ±1 by hand. If C exceeds ½ the
// dual variables are ±½ and do not depend on C; otherwise they are at C, and w = 2C varies. There, a point at
// which both rows are free is not the solution. A third row with dual variable 0, beyond the margin or on it,
// makes no difference.
func TestNothingMovesOnlyWhereTheFreeRowsAreRight(t *testing.T) {
	for _, c := range []struct {
		c, dual, third float64
		want           outcome.Status
	}{{0.6, 0.49, 2, outcome.Flat}, {0.6, 0.5, 1, outcome.Flat}, {0.45, 0.44, 2, outcome.SupportUncertified}} {
		q := &oracle.Problem{Alpha: []float64{1}, X: [][]float64{{1}, {-1}, {c.third}}, Y: []float64{1, -1, 1}}
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, model.VectorsOptions{Classes: true, Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		w := 2 * c.dual
		at := implicit.VectorsPoint{Dual: []float64{c.dual, -c.dual, 0}, Free: []int32{0, 1}, Predictions: []float64{w, -w, c.third * w}, W: []float64{w}}
		outer := implicit.Outer{Slope: []float64{1, 0, 0}, Curvature: make([]float64, 3)}
		got, err := implicit.NewVectors(fit).Solve(t.Context(), []float64{math.Log(c.c)}, at, outer, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != c.want || got.Gradient[0] != 0 {
			t.Errorf("C = %g at ±%g: %s, gradient %g", c.c, c.dual, got.Status, got.Gradient[0])
		}
	}
}
