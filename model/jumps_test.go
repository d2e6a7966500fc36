package model_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
)

// TestCurvatureRangeIsThatOfAllPredictionsWithinReach checks the range against the weighted curvatures at many
// predictions within reach, and one step beyond. Losses whose curvature does not jump have no range.
func TestCurvatureRangeIsThatOfAllPredictionsWithinReach(t *testing.T) {
	const rows, steps, first = 60, 400, 3
	r := oracle.NewRandom(1)
	for _, l := range fixture.Losses() {
		q := r.Problem(oracle.Shape{N: rows, P: 1, Weights: true})
		for i := range q.Y {
			q.Y[i] = l.Defined.Draw(r)
		}
		q.Y[0], q.Y[1], q.Weights[0], q.Weights[1] = l.Defined.Draw(r), -q.Y[0], 1, 1
		if l.Check(q.Y[1]) != nil {
			q.Y[1] = q.Y[0]
		}
		view := fixture.View(t, q, true)
		fit, err := model.NewRowwise(view, q.Y, l.Loss)
		if err != nil {
			t.Fatal(err)
		}
		s := model.NewState(fit)
		fit.Fit([]int32{0}, []float64{1}, s)
		lowest, highest := make([]float64, rows-first), make([]float64, rows-first)
		_, jumping := l.Loss.(loss.Jumping)
		seen := map[bool]int{}
		for _, reach := range []float64{0, 0.1, 1, 10} {
			if known := fit.CurvatureRange(s, reach, first, lowest, highest); known != jumping {
				t.Errorf("%s: range known %t", l.Name(), known)
			}
			if !jumping {
				continue
			}
			for i := range lowest {
				y, m, weight := q.Y[first+i], s.Prediction[first+i], q.Weights[first+i]
				within, beyond := [2]float64{math.Inf(1), 0}, [2]float64{math.Inf(1), 0}
				for k := -steps - 1; k <= steps+1; k++ {
					var out [1]float64
					l.Curvature(fixture.Kernels(t), []float64{y}, []float64{m + reach*float64(k)/steps}, out[:])
					c := weight * out[0]
					beyond = [2]float64{min(beyond[0], c), max(beyond[1], c)}
					if -steps <= k && k <= steps {
						within = [2]float64{min(within[0], c), max(within[1], c)}
					}
				}
				if !(lowest[i] <= within[0] && lowest[i] >= beyond[0] && highest[i] >= within[1] && highest[i] <= beyond[1]) {
					t.Errorf("%s, reach %g: target %g, prediction %g: from %g to %g, seen from %g to %g", l.Name(), reach, y, m, lowest[i], highest[i], within[0], within[1])
				}
				seen[lowest[i] < highest[i]]++
			}
		}
		if jumping && (seen[true] < 20 || seen[false] < 20) {
			t.Errorf("%s: %v rows jump", l.Name(), seen)
		}
	}
}
