package model_test

import (
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestNullModelTakesOnePass checks that the means, norms and correlations of a fold's columns are computed in one
// pass over X, for every loss.
func TestNullModelTakesOnePass(t *testing.T) {
	k := *fixture.Kernels(t)
	moments, products := 0, 0
	pass, correlate := k.Moments, k.DotColumns
	k.Moments = func(colPtr []int64, rows []int32, values, pairs, squares, sums, products []float64) {
		moments += len(colPtr) - 1
		pass(colPtr, rows, values, pairs, squares, sums, products)
	}
	k.DotColumns = func(colPtr []int64, rows []int32, values, y, out []float64) {
		products += len(colPtr) - 1
		correlate(colPtr, rows, values, y, out)
	}
	x, err := sparse.NewCSC(5, 3, []int64{0, 2, 3, 5}, []int32{0, 3, 1, 2, 4}, []float64{1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, centre := range []bool{false, true} {
		for _, l := range []loss.Loss{loss.Squared{}, loss.Logistic{}} {
			view, err := sparse.NewView(&k, x, []float64{1, 1, 0, 1, 1}, centre)
			if err != nil {
				t.Fatal(err)
			}
			moments, products = 0, 0
			fit, err := model.NewDatafit(view, []float64{1, -1, 1, -1, 1}, l)
			if err != nil {
				t.Fatal(err)
			}
			model.NewNull(fit)
			if moments != 3 || products != 0 {
				t.Errorf("%s, centred %t: moments of %d columns and products with %d, want 3 and none", l.Name(), centre, moments, products)
			}
		}
	}
}
