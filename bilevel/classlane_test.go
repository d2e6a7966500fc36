package bilevel

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
)

// TestCurvatureOfAClassIsTheChangeOfItsSlope checks that the curvature is the derivative of the slope with respect
// to the score of the class, with the scores of the other classes fixed, and that it is 0 for rows that are not
// held out.
func TestCurvatureOfAClassIsTheChangeOfItsSlope(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 40, P: 5})
	weights := make([]float64, len(q.Y))
	for i := range q.Y {
		q.Y[i], weights[i] = float64(i%3), 0.5+r.Float64()
	}
	folds, err := HoldOut(nil, len(q.Y), 3, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMulticlass(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, Spec{
		Folds: folds, Threads: 1, Weights: weights,
		Penalty: func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Evaluate(t.Context(), search.Request{LogLambda: []float64{-4, -4, -4}}); err != nil {
		t.Fatal(err)
	}
	f := m.folds[0]
	w := <-inProcess[*classLane](t, m.runner, LaneID{Class: 2}).fold.workers // the only worker, whose last class was class 2
	const k, h = 2, 1e-4
	seen := 0
	for at, i := range f.rows {
		share, target := f.scores[k][at], 0.0
		if f.class[at] == k {
			target = 1
		}
		moved := func(h float64) float64 { // the probability at a score that differs by h
			e := share * math.Exp(h)
			return e / (e + 1 - share)
		}
		scale := w.slope[i] / (share - target)
		want := scale * (moved(h) - moved(-h)) / (2 * h)
		if !(math.Abs(w.curvature[i]-want) <= 1e-7*want) {
			t.Errorf("row %d: %.10g, want %.10g", i, w.curvature[i], want)
		}
		if w.curvature[i] > 0 {
			seen++
		}
	}
	for _, v := range w.curvature {
		if v != 0 {
			seen--
		}
	}
	if seen != 0 {
		t.Errorf("%d rows too many or too few", seen)
	}
}
