package model_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestCorrelationsOfAnyNumberOfScores checks correlations against sums over the rows for sparse and dense columns,
// all columns or some, and for numbers of scores that fill a pass or do not.
func TestCorrelationsOfAnyNumberOfScores(t *testing.T) {
	for _, scores := range []int{1, 2, 3, 4, 5, 8, 9, 11, 16, 17} {
		for _, dense := range []bool{false, true} {
			r := oracle.NewRandom(uint64(scores))
			q := r.Problem(oracle.Shape{N: 9, P: 6, Density: 0.5})
			n, p := q.Dims()
			view, scale := fixture.View(t, q, dense), 1.0
			if scores%2 == 1 {
				var err error
				if view, err = view.Rescaled([]float64{4, 4, 4, 4, 4, 4}); err != nil {
					t.Fatal(err)
				}
				scale = 4
			}
			u := make([]float64, n*scores)
			for i := range u {
				u[i] = r.Normal()
			}
			for _, some := range [][]int32{nil, {4, 1}} {
				z := make([]float64, p*scores)
				for i := range z {
					z[i] = math.Pi
				}
				model.Correlate(view, some, u, z)
				for j := range p {
					for k := range scores {
						want := 0.0
						for i := range n {
							want += scale * q.X[i][j] * u[i*scores+k] / float64(n)
						}
						if some != nil && j != 4 && j != 1 {
							want = math.Pi
						}
						if got := z[j*scores+k]; math.Abs(got-want) > 1e-13 {
							t.Fatalf("%d scores, dense %t, columns %v: column %d, score %d: %g, want %g", scores, dense, some, j, k, got, want)
						}
					}
				}
			}
		}
	}
}

// TestLargestStrengthUnderWeights checks that for ℓ1 strengths w_jα αmax is the largest |z_j|/w_j over the columns
// with positive weight.
func TestLargestStrengthUnderWeights(t *testing.T) {
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 12, P: 4, Density: 1})
	null := model.NewNull(fixture.Squared(t, q, true))
	z := q.Correlations(q.Y)
	weights, want := []float64{0, 0.5, 3, 1e-3}, 0.0
	for j, w := range weights {
		if w > 0 {
			want = math.Max(want, math.Abs(z[j])/w)
		}
	}
	if got := null.Weighted(weights).AlphaMax(); math.Abs(got-want) > 1e-13*want {
		t.Errorf("αmax %g, want %g", got, want)
	}
	ridge := 0.0
	for j := range weights {
		ridge += q.Norm2(j) / 12
	}
	if got := null.RidgeMax(); math.Abs(got-ridge) > 1e-13*ridge {
		t.Errorf("largest ridge %g, want %g", got, ridge)
	}
	if got := null.AlphaMax(); math.Abs(got-q.AlphaMax()) > 1e-13*got {
		t.Errorf("αmax without weights %g, want %g", got, q.AlphaMax())
	}
}

// TestWhichColumnsAPenaltyDoesNotTellApart checks Indifferent: a penalty does not distinguish equal columns if it
// is an ℓ1 term of a single strength without bounds, nor opposite columns unless it requires β ≥ 0.
func TestWhichColumnsAPenaltyDoesNotTellApart(t *testing.T) {
	lasso, err := model.Lasso(0)
	if err != nil {
		t.Fatal(err)
	}
	net, _ := model.ElasticNet(0, 0)
	ridge, _ := model.Ridge(0)
	weighted, _ := model.WeightedLasso([]float64{0, 0})
	positive, _ := lasso.NonNegative()
	box, err := model.NewBox([]float64{-1, -1}, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	bounded, _ := lasso.Within(box)
	for name, c := range map[string]struct {
		of              model.Penalty
		equal, opposite bool
	}{
		"lasso": {lasso, true, true}, "elastic net": {net, false, false}, "ridge": {ridge, false, false},
		"weighted": {weighted, false, false}, "β ≥ 0": {positive, true, false}, "bounds": {bounded, false, false},
	} {
		if equal, opposite := c.of.Indifferent(); equal != c.equal || opposite != c.opposite {
			t.Errorf("%s: equal %t, opposite %t", name, equal, opposite)
		}
	}
}

// TestOneScoreIsItsDatafit checks that the interface for several scores gives the results of the datafit if there
// is a single score.
func TestOneScoreIsItsDatafit(t *testing.T) {
	q := oracle.NewRandom(9).Problem(oracle.Shape{N: 10, P: 3, Density: 1, Weights: true})
	squared := fixture.OneScore(t, fixture.Squared(t, q, true))
	m, known := squared.Concordance()
	if squared.Count() != 1 || !squared.Quadratic() || m != 0 || !known {
		t.Errorf("squared: %d scores, quadratic %t, concordance %g, %t", squared.Count(), squared.Quadratic(), m, known)
	}
	var metric model.Metric
	if squared.Metric(squared.NewPoint(), &metric); metric.Count != 1 || metric.Share != nil {
		t.Errorf("squared: a metric of %d scores", metric.Count)
	}
	for i, w := range metric.Weight {
		if w != q.Weight(i) {
			t.Errorf("squared: row %d has curvature %g, want %g", i, w, q.Weight(i))
		}
	}
	point := squared.NewPoint()
	squared.Fit([]int32{0}, []float64{0.5}, point)
	for _, c := range []float64{0, 0.3, 1} { // ½(m − y + cρ)² with ρ = y − m
		var want float64
		for i, y := range q.Y {
			off := (1 - c) * (y - point.Prediction[i])
			want += q.Weight(i) * off * off / (2 * q.Total())
		}
		if got := squared.Divergence(point, c); math.Abs(got-want) > 1e-14*(1+want) {
			t.Errorf("squared: divergence %g at %g, want %g", got, c, want)
		}
	}
	for i := range q.Y {
		q.Y[i] = float64(1 - 2*(i%2))
	}
	fit := fixture.Logistic(t, q, true)
	logistic := fixture.OneScore(t, fit)
	m, known = logistic.Concordance()
	if want, ok := fit.Concordance(); logistic.Quadratic() || m != want || known != ok || !ok {
		t.Errorf("logistic: quadratic %t, concordance %g, %t", logistic.Quadratic(), m, known)
	}
	at := logistic.NewPoint()
	logistic.Fit([]int32{1}, []float64{0.7}, at)
	logistic.Metric(at, &metric)
	for i, w := range metric.Weight {
		p := 1 / (1 + math.Exp(-at.Prediction[i]))
		if want := q.Weight(i) * p * (1 - p); math.Abs(w-want) > 1e-14 {
			t.Errorf("logistic: row %d has curvature %g, want %g", i, w, want)
		}
	}
	if ok := logistic.Majorant(at, &metric); !ok {
		t.Error("logistic: no majorant at a point")
	}
	for i, w := range metric.Weight {
		m := at.Prediction[i]
		if want := q.Weight(i) * math.Tanh(m/2) / (2 * m); math.Abs(w-want) > 1e-14 { // the curvature of the parabola that touches the loss at m and −m
			t.Errorf("logistic: row %d is majorised by %g at a point, want %g", i, w, want)
		}
	}
	if ok := logistic.Majorant(nil, &metric); !ok {
		t.Error("logistic: no majorant")
	}
	for i, w := range metric.Weight {
		if w != q.Weight(i)/4 {
			t.Errorf("logistic: row %d is majorised by %g, want %g", i, w, q.Weight(i)/4)
		}
	}
}
