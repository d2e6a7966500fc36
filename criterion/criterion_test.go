package criterion_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
)

// TestLossesAgainstDifferences checks values, slopes and curvatures against plain sums and differences, and that
// only the listed rows are written.
func TestLossesAgainstDifferences(t *testing.T) {
	for _, c := range []struct {
		criterion.Criterion
		loss func(y, m float64) float64
	}{
		{criterion.MeanSquaredError{}, func(y, m float64) float64 { return (y - m) * (y - m) }},
		{criterion.Of(loss.Logistic{}), func(y, m float64) float64 { return math.Log1p(math.Exp(-y * m)) }},
	} {
		t.Run(c.Name(), func(t *testing.T) { differences(t, c.Criterion, c.loss) })
	}
}

func differences(t *testing.T, c criterion.Criterion, loss func(y, m float64) float64) {
	t.Helper()
	r := oracle.NewRandom(1)
	const n = 30
	y, m := make([]float64, n), make([]float64, n)
	slope, curvature := make([]float64, n), make([]float64, n)
	var rows []int32
	for i := range n {
		y[i], m[i] = math.Copysign(1, r.Normal()), 3*r.Normal()
		slope[i], curvature[i] = 99, 99
		if i%3 != 1 {
			rows = append(rows, int32(i))
		}
	}
	value := c.Eval(rows, y, m, slope, curvature)
	var want float64
	for _, i := range rows {
		want += loss(y[i], m[i]) / float64(len(rows))
	}
	if math.Abs(value-want) > 1e-14*want {
		t.Errorf("value %.17g, want %.17g", value, want)
	}
	if alone := c.Eval(rows, y, m, nil, nil); alone != value {
		t.Errorf("without derivatives %.17g, with them %.17g", alone, value)
	}
	for i := range n {
		if i%3 == 1 {
			if slope[i] != 99 || curvature[i] != 99 {
				t.Errorf("row %d is not listed and was written", i)
			}
			continue
		}
		const h = 1e-3
		at := func(d float64) float64 {
			moved := append([]float64(nil), m...)
			moved[i] += d
			return c.Eval(rows, y, moved, nil, nil)
		}
		if d := (at(h) - at(-h)) / (2 * h); math.Abs(slope[i]-d) > 1e-7 {
			t.Errorf("row %d: slope %g, differences %g", i, slope[i], d)
		}
		if d := (at(h) - 2*value + at(-h)) / (h * h); math.Abs(curvature[i]-d) > 1e-7 {
			t.Errorf("row %d: curvature %g, differences %g", i, curvature[i], d)
		}
	}
}

// TestWeightedRows checks that a row of weight k counts as a row listed k times, whose slope and curvature are the
// sums over the k copies.
func TestWeightedRows(t *testing.T) {
	y, m := []float64{1, -1, 1, -1}, []float64{0.3, 2, -1, 0.5}
	weights := []float64{3, 0, 1, 2}
	for _, c := range []criterion.Criterion{criterion.MeanSquaredError{}, criterion.Of(loss.Logistic{}), criterion.Of(loss.SmoothedHinge{})} {
		slope, curvature, each, bend := make([]float64, 4), make([]float64, 4), make([]float64, 4), make([]float64, 4)
		got := criterion.Weighted{Criterion: c, Weights: weights}.Eval([]int32{0, 1, 2, 3}, y, m, slope, curvature)
		want := c.Eval([]int32{0, 0, 0, 2, 3, 3}, y, m, each, bend)
		if math.Abs(got-want) > 1e-15 {
			t.Errorf("%s: %.17g, want %.17g", c.Name(), got, want)
		}
		for i, w := range weights {
			if math.Abs(slope[i]-w*each[i]) > 1e-15 || math.Abs(curvature[i]-w*bend[i]) > 1e-15 {
				t.Errorf("%s, row %d: slope %g and curvature %g, want %g and %g", c.Name(), i, slope[i], curvature[i], w*each[i], w*bend[i])
			}
		}
	}
}

// TestLogisticLossFarFromTheMargin checks that the loss is finite and accurate where e^m overflows or underflows.
func TestLogisticLossFarFromTheMargin(t *testing.T) {
	for _, c := range []struct{ margin, value, slope float64 }{
		{0, math.Ln2, -0.5},
		{40, 4.248354255291589e-18, -4.248354255291589e-18},
		{-40, 40, -1},
		{708, 3.307553003638408e-308, -3.307553003638408e-308},
		{709, 0, 0}, // below the smallest normal number
		{-710, 710, -1},
		{1e3, 0, 0},
		{-1e3, 1e3, -1},
		{1e300, 0, 0},
		{-1e300, 1e300, -1},
	} {
		slope, curvature := []float64{0}, []float64{0}
		value := criterion.Of(loss.Logistic{}).Eval([]int32{0}, []float64{1}, []float64{c.margin}, slope, curvature)
		if math.Abs(value-c.value) > 1e-15*c.value || math.Abs(slope[0]-c.slope) > 1e-15*math.Abs(c.slope) || !(curvature[0] >= 0 && curvature[0] <= 0.25) {
			t.Errorf("margin %g: %.17g, slope %.17g, curvature %g", c.margin, value, slope[0], curvature[0])
		}
	}
}

// TestCurvatureWithin checks that the curvature within a reach of 0 is the curvature itself, with and without
// weights, and that only losses with jumps in their curvature report a curvature within a reach.
func TestCurvatureWithin(t *testing.T) {
	rows := []int32{0, 2, 3}
	y, m, weights := []float64{1, -1, -1, 1}, []float64{0.3, 5, -2, -0.5}, []float64{2, 1, 3, 0.5}
	for _, c := range []criterion.Criterion{
		criterion.Of(loss.SmoothedHinge{}), criterion.Deviance(loss.SquaredHinge{}),
		criterion.Weighted{Criterion: criterion.Of(loss.Huber{Delta: 1}), Weights: weights},
	} {
		slope, curvature, within := make([]float64, 4), make([]float64, 4), make([]float64, 4)
		c.Eval(rows, y, m, slope, curvature)
		if !criterion.CurvatureWithin(nil, c, rows, y, m, 0, within) || !slices.Equal(within, curvature) {
			t.Errorf("%s: %v, want %v", c.Name(), within, curvature)
		}
		if criterion.CurvatureWithin(nil, c, rows, y, m, 2, within); within[1] != 0 || within[2] <= curvature[2] && within[3] <= curvature[3] {
			t.Errorf("%s: %v within 2 of %v", c.Name(), within, curvature)
		}
	}
	if criterion.CurvatureWithin(nil, criterion.Of(loss.Logistic{}), rows, y, m, 1, nil) {
		t.Error("the curvature of the logistic loss does not jump")
	}
}

// TestEachRow checks the criterion of single rows, for more rows than a loss evaluates at a time.
func TestEachRow(t *testing.T) {
	r := oracle.NewRandom(7)
	const n = 1500
	y, m := make([]float64, n), make([]float64, n)
	var rows []int32
	for i := range n {
		if y[i], m[i] = math.Copysign(1, r.Normal()), 3*r.Normal(); i%7 > 0 {
			rows = append(rows, int32(i))
		}
	}
	for _, c := range []criterion.Criterion{criterion.MeanSquaredError{}, criterion.Misclassification{}, criterion.Of(loss.Logistic{}), criterion.Deviance(loss.SquaredHinge{})} {
		got := make([]float64, len(rows))
		criterion.EachRow(nil, c, rows, y, m, got)
		for at, v := range got {
			if want := c.Eval(rows[at:at+1], y, m, nil, nil); v != want {
				t.Fatalf("%s of row %d: %g, want %g", c.Name(), rows[at], v, want)
			}
		}
	}
}
