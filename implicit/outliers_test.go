package implicit_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestOutliersOfSaturatedProblems checks a pair of extreme rows that every model classifies correctly. Their
// curvature is tiny, but multiplied by the squares of their entries it matters: a floor of 1e-12 on curvatures
// made gradients wrong by 5 % up to fifty times. At any strength the gradient must be within its bound or not
// trusted; it must be trusted unless the pair alone determines it.
func TestOutliersOfSaturatedProblems(t *testing.T) {
	r := oracle.NewRandom(7)
	for _, far := range []float64{1e7, 1, 1e3, 3e5}[:oracle.Draws(4)] {
		d := &hard{model: pare.Logistic, q: &oracle.Problem{Alpha: []float64{0}}}
		for i := range 40 {
			x, y := r.Normal(), math.Copysign(1, r.Normal())
			if i < 2 {
				y = 1 - 2*float64(i)
				x = far * y
			}
			d.q.X, d.q.Y = append(d.q.X, []float64{x}), append(d.q.Y, y)
			d.folds = append(d.folds, -1)
			if i >= 25 {
				d.folds[i] = 0
			}
		}
		d.x = d.matrix(true)
		top, err := pare.LogLambdaMax(d.x, d.q.Y, d.config())
		if err != nil {
			t.Fatal(err)
		}
		trusted := 0
		for k := 1; k <= 18; k++ {
			d.logLambda = []float64{top[0] - 0.5*float64(k)*math.Ln10}
			right, err := d.truth()
			if err != nil {
				t.Fatal(err)
			}
			for _, tol := range []float64{1e-6, 1e-12} {
				c := d.config()
				c.Tol = tol
				got, err := pare.Gradient(context.Background(), d.x, d.q.Y, d.logLambda, pare.Validation{FoldIDs: d.folds}, c)
				if err != nil {
					t.Fatal(err)
				}
				off := math.Abs(got.Gradient[0] - right.gradient[0])
				if got.Status.OK() {
					trusted++
					if !(off <= got.ErrorBound) {
						t.Errorf("rows at %g, αmax·10^-%g, tolerance %g: off by %g, bound %g", far, 0.5*float64(k), tol, off, got.ErrorBound)
					}
				}
			}
		}
		t.Logf("rows at %g: %d of 36 trusted", far, trusted)
		if trusted < 24 {
			t.Errorf("rows at %g: %d of 36 gradients are trusted", far, trusted)
		}
	}
}
