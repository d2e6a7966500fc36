package search

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// stairs decreases towards (−3, −7) in jumps and increases between them, so that its slopes point away from the
// minimum.
func stairs(x []float64) (float64, []float64) {
	saw := func(d float64) float64 {
		return math.Ceil(4*math.Abs(d))/4 - 0.9*(math.Ceil(4*math.Abs(d))/4-math.Abs(d))
	}
	return 5 + saw(x[0]+3) + saw(x[1]+7), []float64{1, 1}
}

// TestCompassNeedsNoSlopes checks that the compass search comes within its last step of the minimum of a criterion
// that jumps, stays in the box, and requests no slopes.
func TestCompassNeedsNoSlopes(t *testing.T) {
	for _, from := range [][]float64{{-5, -5}, {-3, -7}, {2, -11.3}, {-9, -0.4}} {
		f := &analytic{f: stairs}
		value, _ := stairs(from)
		box := Box{Lower: []float64{-10, -6.5}, Upper: []float64{3, 0}}
		if from[1] < -6.5 {
			box.Lower[1] = -12
		}
		r, err := Compass(t.Context(), f, Evaluation{LogLambda: from, Value: value, StandardError: 0.5}, box, Options{Evaluations: 100})
		if err != nil || r.Status != outcome.Converged {
			t.Fatal(r, err)
		}
		least, _ := stairs([]float64{-3, max(-7, box.Lower[1])})
		if !(r.Best.Value <= least+0.25) {
			t.Errorf("from %g: %g after %d evaluations, the least is %g", from, r.Best.Value, len(r.Evaluations), least)
		}
		asked := map[[2]float64]bool{}
		for _, request := range f.seen {
			at := [2]float64(request.LogLambda)
			if !request.ValueOnly || asked[at] || at == [2]float64(from) || at[1] < box.Lower[1] {
				t.Errorf("from %g: %+v", from, request)
			}
			asked[at] = true
		}
	}
}

// TestCompassEnds checks that the search ends when its evaluations are used up, and returns the start if no other
// value is a number.
func TestCompassEnds(t *testing.T) {
	box := Box{Lower: []float64{-10, -10}, Upper: []float64{3, 3}}
	start := Evaluation{LogLambda: []float64{0, 0}, Value: 20}
	if r, err := Compass(t.Context(), &analytic{f: stairs}, start, box, Options{Evaluations: 3}); err != nil || r.Status != outcome.Budget || len(r.Evaluations) != 3 {
		t.Error(r, err)
	}
	none := &analytic{f: func([]float64) (float64, []float64) { return math.NaN(), nil }}
	if r, err := Compass(t.Context(), none, start, box, Options{Evaluations: 100}); err != nil || r.Best.Value != 20 || r.Status != outcome.Converged || len(none.seen) != 20 {
		t.Error(r, err, len(none.seen))
	}
}
