package criterion_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/loss"
)

// TestSmoothedHingeAgainstDifferences checks the smoothed hinge against its definition and differences, on the
// listed rows only.
func TestSmoothedHingeAgainstDifferences(t *testing.T) {
	value := func(y, m float64) float64 {
		switch s := y * m; {
		case s <= 0:
			return 0.5 - s
		case s < 1:
			return (1 - s) * (1 - s) / 2
		default:
			return 0
		}
	}
	differences(t, criterion.Of(loss.SmoothedHinge{}), value)
}

// TestSmoothedHingeAtItsCorners checks value, slope and curvature where the pieces meet, on either side, and far
// away.
func TestSmoothedHingeAtItsCorners(t *testing.T) {
	for _, c := range []struct{ y, m, value, slope, curvature float64 }{
		{1, 0, 0.5, -1, 0},
		{-1, 0, 0.5, 1, 0},
		{1, 1, 0, 0, 0},
		{-1, -1, 0, 0, 0},
		{1, 0.5, 0.125, -0.5, 1},
		{-1, -0.5, 0.125, 0.5, 1},
		{1, -3, 3.5, -1, 0},
		{1, 1e300, 0, 0, 0},
		{-1, 1e300, 1e300, 1, 0},
	} {
		slope, curvature := []float64{9}, []float64{9}
		value := criterion.Of(loss.SmoothedHinge{}).Eval([]int32{0}, []float64{c.y}, []float64{c.m}, slope, curvature)
		if value != c.value || slope[0] != c.slope || curvature[0] != c.curvature {
			t.Errorf("y %g, m %g: %g, %g, %g", c.y, c.m, value, slope[0], curvature[0])
		}
	}
	if v := criterion.Of(loss.SmoothedHinge{}).Eval([]int32{0}, []float64{1}, []float64{math.NaN()}, nil, nil); !math.IsNaN(v) {
		t.Errorf("NaN became %g", v)
	}
}

func ExampleSmoothedHinge() {
	y, m := []float64{1, 1, -1}, []float64{2, 0.5, 1}
	fmt.Println(criterion.Of(loss.SmoothedHinge{}).Eval([]int32{0, 1, 2}, y, m, nil, nil))
	// Output: 0.5416666666666666
}
