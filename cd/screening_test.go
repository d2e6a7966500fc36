package cd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestNoCorrelationGoesFurtherThanTheWalk checks that no correlation changes by more than
// the path of the residual allows, also where the residual moves along the signs of the
// entries of a column. In half of the cases all entries have the same size, so that the
// bound can be attained. For short columns the bound must be far below ‖X̃_j‖ₛ‖Δ‖ₛ.
func TestNoCorrelationGoesFurtherThanTheWalk(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 60, P: 40, Density: r.Pick(0.05, 0.2, 0.6, 1), Mean: r.Pick(0, 3), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		for i, row := range q.X {
			for j, x := range row {
				if seed%4 < 2 && x != 0 {
					row[j] = 1
				}
			}
			if row[0] != 0 && q.Weights != nil {
				q.Weights[i] = 4
			}
		}
		view := fixture.View(t, q, seed%5 == 0)
		if seed%7 == 0 {
			view = view.Standardised()
		}
		for j := range 40 {
			random, along := make([]float64, 60), make([]float64, 60)
			for i, row := range q.X {
				random[i] = 0.1 * r.Normal()
				if x := row[j]; x != 0 {
					along[i] = math.Copysign(2, x)
				}
			}
			var moved, reach, most float64
			for _, change := range [][]float64{random, along} {
				if q.Intercept { // weighted residuals sum to 0
					for i, mean := 0, view.MeanOf(change); i < len(change); i++ {
						change[i] -= mean
					}
				}
				for i, row := range q.X {
					moved += q.Weight(i) * row[j] * view.Scale(j) * change[i]
				}
				square, _ := view.SizeOf(slices.Clone(change))
				reach += cd.Reach(view, change)[j]
				most += view.Norm(j) * math.Sqrt(square)
			}
			if !(math.Abs(moved) <= reach*(1+1e-12)+1e-12) {
				t.Fatalf("seed %d: the correlation of column %d moved by %g, at most %g", seed, j, moved, reach)
			}
			if reach > most*(1+1e-12) {
				t.Fatalf("seed %d: the reach of column %d is %g, that of long ones %g", seed, j, reach, most)
			}
		}
	}
	q := oracle.NewRandom(1).Problem(oracle.Shape{N: 60, P: 40, Density: 0.05})
	view := fixture.View(t, q, false)
	change := make([]float64, 60)
	for i := range change {
		change[i] = 1
	}
	for j, reach := range cd.Reach(view, change) {
		rows, _ := view.Matrix().Column(j)
		if limit := view.Norm(j) * math.Sqrt(1.25*float64(len(rows))); reach > limit*(1+1e-12) {
			t.Errorf("column %d with %d entries: %g, more than %g", j, len(rows), reach, limit)
		}
	}
}
