package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestCurvatureAlongAColumn checks Σdᵢ(xᵢ − x̄)²/N and the largest |xᵢ − x̄| over the rows with curvature, where
// x̄ is the mean weighted by the curvature d with an intercept, and 0 without.
func TestCurvatureAlongAColumn(t *testing.T) {
	for seed := range uint64(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 12, P: 5, Density: r.Pick(0.4, 1), Mean: 1})
		q.Intercept = seed%2 == 0
		for i := range q.Y {
			q.Y[i] = float64(1 - 2*(i%2))
		}
		dense := seed%3 == 0
		view := fixture.View(t, q, dense)
		times := 1.0
		if seed%5 == 0 {
			var err error
			if view, err = view.Rescaled([]float64{8, 8, 8, 8, 8}); err != nil {
				t.Fatal(err)
			}
			times = 8
		}
		fit, err := model.NewLogistic(view, q.Y)
		if err != nil {
			t.Fatal(err)
		}
		s := implicit.New(fit)
		d := make([]float64, 12)
		var total float64
		for i := range d {
			d[i] = r.Pick(0, 1, 1) * r.Float64() * []float64{1, 0.01}[seed/2%2]
			total += d[i]
		}
		for j := range 5 {
			var mean, curvature, largest float64
			for i, v := range d {
				if q.Intercept {
					mean += v * times * q.X[i][j] / total
				}
			}
			for i, v := range d {
				off := times*q.X[i][j] - mean
				curvature += v * off * off / 12
				if v > 0 || !dense && q.X[i][j] == 0 { // rows without a stored entry are not examined one by one
					largest = math.Max(largest, math.Abs(off))
				}
			}
			gotCurvature, gotLargest := implicit.CurvatureAlong(s, d, j)
			if math.Abs(gotCurvature-curvature) > 1e-12*curvature || math.Abs(gotLargest-largest) > 1e-13*(1+largest) {
				t.Errorf("seed %d, column %d: %g and %g, want %g and %g", seed, j, gotCurvature, gotLargest, curvature, largest)
			}
		}
	}
}

// TestCurvatureIsAskedForAsFarAsPredictionsMayMove checks that a criterion is asked for a bound of its curvature
// within a distance at least as large as the largest error of a prediction.
func TestCurvatureIsAskedForAsFarAsPredictionsMayMove(t *testing.T) {
	for seed := range uint64(10) {
		r := oracle.NewRandom(850 + seed)
		b := drawBox(r, 30, 8, 1, false)
		for _, i := range b.held { // held-out rows of very different lengths
			size := r.Pick(0.01, 1, 100)
			for j := range b.x[i] {
				b.x[i][j] *= size
			}
		}
		const logC = -3.0
		beta, free, bound := b.solve(t, math.Exp(logC))
		if len(free) == 0 {
			continue
		}
		exact := b.predict(beta)
		near := append([]float64(nil), beta...)
		for _, i := range free {
			near[i] *= 1 - 1e-5*r.Float64()
		}
		far := 0.0
		for k, m := range b.predict(near) {
			if b.s[k] == 0 {
				far = math.Max(far, math.Abs(m-exact[k]))
			}
		}
		outer, asked := b.outer(near), 0.0
		for _, i := range b.held {
			outer.Curvature[i] = 1
		}
		outer.CurvatureWithin = func(distance float64) []float64 {
			asked = distance
			return outer.Curvature
		}
		if _, err := implicit.NewSVM(b.fit(t, nil, true)).Solve(t.Context(), logC, pointOf(near, free, bound), outer, implicit.Options{Tol: 1e-12}); err != nil {
			t.Fatal(err)
		}
		if !(asked >= far) || far == 0 {
			t.Errorf("seed %d: asked within %g, a prediction is off by %g", seed, asked, far)
		}
	}
}
