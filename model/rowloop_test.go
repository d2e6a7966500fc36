package model_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestRowsByATeam checks that rows that a team of threads divides have the bits of a single thread: states,
// curvatures and gaps, with and without weights and an intercept.
func TestRowsByATeam(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for _, n := range []int{30_001, 70_001} { // the second is more than 2¹⁶
		rowsByATeam(t, n)
	}
}

func rowsByATeam(t *testing.T, n int) {
	t.Helper()
	r := oracle.NewRandom(3)
	values, y, weights := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range y {
		values[i], weights[i] = r.Normal(), float64(r.Intn(3))
		y[i] = float64(1 - 2*r.Intn(2))
	}
	x, err := sparse.NewDense(n, 1, values)
	if err != nil {
		t.Fatal(err)
	}
	threads := team.NewThreads(4, nil)
	for _, weights := range [][]float64{nil, weights} {
		for _, centred := range []bool{false, true} {
			for _, l := range []loss.Loss{loss.Logistic{}, loss.Huber{Delta: 0.7}} {
				alone, err := sparse.NewView(kernels.Available()[0], x, weights, centred)
				if err != nil {
					t.Fatal(err)
				}
				shared := alone.With(threads.Team())
				want, got := rowsOf(t, alone, y, l), rowsOf(t, shared, y, l)
				shared.Team().Rest()
				for k := range want {
					if !slices.Equal(got[k], want[k]) {
						t.Errorf("%s, weights %v, centred %v: vector %d has other bits", l.Name(), weights != nil, centred, k)
					}
				}
			}
		}
	}
}

// rowsOf returns what is computed row by row for a point and for a dual point.
func rowsOf(t *testing.T, view *sparse.View, y []float64, l loss.Loss) [][]float64 {
	f, err := model.NewRowwise(view, y, l)
	if err != nil {
		t.Fatal(err)
	}
	s, d := model.NewState(f), make([]float64, len(y))
	f.Fit([]int32{0}, []float64{0.3}, s)
	f.Curvature(s, d)
	g, err := model.Lasso(-5)
	if err != nil {
		t.Fatal(err)
	}
	dual := model.NewDual(f, g, s)
	dual.Add(0, 0.02, 0.3, view.Norm(0))
	return [][]float64{s.Prediction, s.Residual, s.Weighted, d, {s.Intercept, s.Loss, f.Gap(&dual, s)}}
}
