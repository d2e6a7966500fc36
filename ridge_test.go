package pare_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// diabetesFor returns the diabetes data with a target that a loss has.
func diabetesFor(t *testing.T, l loss.Loss) (x sparse.Matrix, y []float64) {
	t.Helper()
	x, y = load(t)
	for i, v := range y {
		switch {
		case l.Link().Classes():
			y[i] = math.Copysign(1, v-140)
		case l.Link() == loss.Log:
			y[i] = v / 50
		}
	}
	return x, y
}

// TestRidgeOfAnyLoss: its hypergradient is what differences say, with its bound, and the
// strength chosen is no worse than the best of a grid.
func TestRidgeOfAnyLoss(t *testing.T) {
	ctx := context.Background()
	for i, l := range loss.All() {
		if l == loss.Loss(loss.Squared{}) || !oracle.Turn(i+1, 3) {
			continue
		}
		x, y := diabetesFor(t, l)
		for _, standardize := range []bool{false, true} {
			c := pare.Config{Model: pare.Ridge, Loss: l, Standardize: standardize, NoIntercept: standardize && l.Link().Classes(), Tol: 1e-12, Certify: true}
			v := pare.Validation{InOrder: true, Folds: 3}
			top := lambdaMax(t, x, y, c)
			at := func(lambda float64) *pare.Hypergradient {
				g, err := pare.Gradient(ctx, x, y, []float64{lambda}, v, c)
				if err != nil {
					t.Fatal(err)
				}
				return g
			}
			for _, below := range []float64{2, 6} {
				const h = 1e-5
				g := at(top - below)
				want := (at(top-below+h).Value - at(top-below-h).Value) / (2 * h)
				if g.Status != outcome.Converged || math.Abs(g.Gradient[0]-want) > 1e-6*(math.Abs(want)+1e-3*g.Value) {
					t.Errorf("%s: %s, slope %.10g, differences %.10g", l.Name(), g.Status, g.Gradient[0], want)
				}
				if !(g.ErrorBound < 1e-6*g.Value) {
					t.Errorf("%s: error bound %g of %g", l.Name(), g.ErrorBound, g.Gradient[0])
				}
			}
			c.Tol, c.Certify = 1e-9, false
			s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: v}, c)
			if err != nil || s.Final == nil || s.Final.Status != outcome.Converged || s.Final.Unique == nil || !*s.Final.Unique {
				t.Fatalf("%s: %+v, %v", l.Name(), s, err)
			}
			best := s.NullValue
			var grid [][]float64
			for k := range 60 {
				grid = append(grid, []float64{top + 3 - 0.4*float64(k)})
			}
			for e, err := range pare.Validate(ctx, x, y, grid, v, c) {
				if err != nil {
					t.Fatal(err)
				}
				best = min(best, e.Value)
			}
			if s.Value > best*(1+1e-3) {
				t.Errorf("%s: %g chosen (%s), %g on the grid", l.Name(), s.Value, s.Status, best)
			}
		}
	}
}
