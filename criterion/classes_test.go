package criterion_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestCountsOfRowsAndPairs checks misclassification and rank error against counts of rows and pairs one by one,
// with ties among the predictions, and with weights, where a weight of k counts as k equal rows.
func TestCountsOfRowsAndPairs(t *testing.T) {
	for seed := range uint64(20) {
		r := oracle.NewRandom(seed)
		const n = 40
		y, m, weights := make([]float64, n), make([]float64, n), make([]float64, n)
		var rows []int32
		for i := range y {
			y[i], m[i], weights[i] = r.Pick(-1, 1), float64(r.Intn(9)-4), float64(r.Intn(3))
			if r.Intn(4) > 0 {
				rows = append(rows, int32(i))
			}
		}
		for _, weighted := range []bool{false, true} {
			of := func(c criterion.Criterion) criterion.Criterion { return c }
			w := func(int32) float64 { return 1 }
			if weighted {
				of = func(c criterion.Criterion) criterion.Criterion {
					return criterion.Weighted{Criterion: c, Weights: weights}
				}
				w = func(i int32) float64 { return weights[i] }
			}
			var wrong, all, pairs, disordered float64
			for _, i := range rows {
				all += w(i)
				if (m[i] > 0) != (y[i] > 0) {
					wrong += w(i)
				}
				for _, j := range rows {
					if y[i] < 0 || y[j] > 0 {
						continue
					}
					pairs += w(i) * w(j)
					switch {
					case m[i] < m[j]:
						disordered += w(i) * w(j)
					case m[i] == m[j]:
						disordered += w(i) * w(j) / 2
					}
				}
			}
			for _, c := range []struct {
				of   criterion.Criterion
				want float64
			}{{criterion.Misclassification{}, wrong / all}, {criterion.RankError{}, disordered / pairs}} {
				slope, curvature := make([]float64, n), make([]float64, n)
				for i := range slope {
					slope[i], curvature[i] = 7, 7
				}
				got := of(c.of).Eval(rows, y, m, slope, curvature)
				if math.Abs(got-c.want) > 1e-14 {
					t.Errorf("seed %d, %s, weighted %t: %.15g, want %.15g", seed, c.of.Name(), weighted, got, c.want)
				}
				if slope[rows[0]] != 0 || curvature[rows[0]] != 0 {
					t.Errorf("%s has a slope", c.of.Name())
				}
				if criterion.Smooth(of(c.of)) || criterion.Named(c.of.Name()) != c.of {
					t.Errorf("%s is not known for what it is", c.of.Name())
				}
				if err := criterion.Check(nil, c.of, []float64{-1, 2}, nil); err == nil {
					t.Errorf("%s takes a label of 2", c.of.Name())
				}
			}
		}
	}
	if v := (criterion.RankError{}).Eval([]int32{0, 1}, []float64{1, 1}, []float64{0, 1}, nil, nil); !math.IsNaN(v) {
		t.Errorf("one class has the rank error %g", v)
	}
}
