package criterion_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestMeanSquaredError: value, slope and curvature against plain sums and
// differences, on the rows listed only.
func TestMeanSquaredError(t *testing.T) {
	r := oracle.NewRandom(1)
	const n = 30
	y, m := make([]float64, n), make([]float64, n)
	slope, curvature := make([]float64, n), make([]float64, n)
	var rows []int32
	for i := range n {
		y[i], m[i] = r.Normal(), r.Normal()
		slope[i], curvature[i] = 99, 99
		if i%3 != 1 {
			rows = append(rows, int32(i))
		}
	}
	c := criterion.MeanSquaredError{}
	value := c.Eval(rows, y, m, slope, curvature)
	var want float64
	for _, i := range rows {
		want += (y[i] - m[i]) * (y[i] - m[i]) / float64(len(rows))
	}
	if math.Abs(value-want) > 1e-15*want {
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
		if d := (at(h) - at(-h)) / (2 * h); math.Abs(slope[i]-d) > 1e-12 {
			t.Errorf("row %d: slope %g, differences %g", i, slope[i], d)
		}
		if d := (at(h) - 2*value + at(-h)) / (h * h); math.Abs(curvature[i]-d) > 1e-8 {
			t.Errorf("row %d: curvature %g, differences %g", i, curvature[i], d)
		}
	}
	if c.Name() != "mse" {
		t.Errorf("name %q", c.Name())
	}
}
