package model_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestCopiesOfRowsHaveTheirState checks that many copies of some rows, enough that vectors are processed in
// blocks, have the intercept, loss, predictions and weighted residuals of the rows themselves. It covers every
// loss, weights, held-out rows, problems with and without an intercept, and starts near the solution and far from
// it.
func TestCopiesOfRowsHaveTheirState(t *testing.T) {
	const rows, copies = 1001, 66 // more than 2¹⁶ in all
	r := oracle.NewRandom(9)
	for _, l := range loss.All() {
		if l.Name() == "squared" {
			continue
		}
		for _, weighted := range []bool{false, true} {
			for _, centred := range []bool{false, true} {
				values, y, weights := make([]float64, rows), make([]float64, rows), []float64(nil)
				for i := range y {
					values[i], y[i] = r.Normal(), r.Normal()
					switch l.Link() {
					case loss.Logit, loss.Margin:
						y[i] = float64(1 - 2*r.Intn(2))
					case loss.Log:
						y[i] = 0.25 + math.Abs(y[i])
					default:
					}
					if weighted {
						weights = append(weights, float64(r.Intn(3)))
					}
				}
				small, want := stateOf(t, values, y, weights, centred, l)
				if weighted {
					weights = slices.Repeat(weights, copies)
				}
				many, got := stateOf(t, slices.Repeat(values, copies), slices.Repeat(y, copies), weights, centred, l)
				for _, start := range []float64{0, 5} {
					want.Intercept, got.Intercept = start, start
					small.Fit([]int32{0}, []float64{0.7}, want)
					many.Fit([]int32{0}, []float64{0.7}, got)
					if off := math.Abs(got.Intercept-want.Intercept) + math.Abs(got.Loss-want.Loss); !(off <= 1e-12*(1+want.Loss)) {
						t.Errorf("%s, weights %t, centred %t: intercept %.16g, loss %.16g, want %.16g and %.16g", l.Name(), weighted, centred, got.Intercept, got.Loss, want.Intercept, want.Loss)
					}
					var off float64
					for i := range got.Prediction {
						off = max(off, math.Abs(got.Prediction[i]-want.Prediction[i%rows]), math.Abs(got.Residual[i]-want.Residual[i%rows]), math.Abs(got.Weighted[i]-want.Weighted[i%rows]))
					}
					if !(off <= 1e-12*(1+kernels.Available()[0].MaxAbs(want.Residual))) {
						t.Errorf("%s, weights %t, centred %t: rows are off by %g", l.Name(), weighted, centred, off)
					}
					if sum := kernels.Available()[0].Sum(got.Weighted); centred && math.Abs(sum) > 1e-12*kernels.Available()[0].Asum(got.Weighted) {
						t.Errorf("%s, weights %t: weighted residuals sum to %g", l.Name(), weighted, sum)
					}
				}
			}
		}
	}
}

// TestManySaturatedRowsBalance checks rows with almost no curvature, for which no intercept makes the weighted
// residuals sum to zero: they are balanced by rescaling with the sums of either sign from the last pass over the
// rows.
func TestManySaturatedRowsBalance(t *testing.T) {
	const n = 70_000
	r, k := oracle.NewRandom(4), kernels.Available()[0]
	values, y, weights := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range y {
		values[i], y[i], weights[i] = r.Normal(), -1, math.Abs(r.Normal()) // weights that balance for no number of rows
		if i%7 == 0 {
			y[i] = 1
		}
	}
	for _, beta := range []float64{1e19, -1e19} {
		fit, s := stateOf(t, values, y, weights, true, loss.Logistic{})
		fit.Fit([]int32{0}, []float64{beta}, s)
		if sum, size := k.Sum(s.Weighted), k.Asum(s.Weighted); math.Abs(sum) > 1e-12*size || size == 0 {
			t.Errorf("β = %g: weighted residuals sum to %g, their sizes to %g", beta, sum, size)
		}
	}
}

// stateOf returns the datafit of a single column, and a state.
func stateOf(t *testing.T, values, y, weights []float64, centred bool, l loss.Loss) (*model.Rowwise, *model.State) {
	t.Helper()
	x, err := sparse.NewDense(len(y), 1, values)
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(kernels.Available()[0], x, weights, centred)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := model.NewRowwise(view, y, l)
	if err != nil {
		t.Fatal(err)
	}
	return fit, model.NewState(fit)
}
