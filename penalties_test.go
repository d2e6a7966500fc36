package pare_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestPositiveAgainstTheOracle checks fits with β ≥ 0: αmax and solution against the oracle,
// and the hypergradient against finite differences.
func TestPositiveAgainstTheOracle(t *testing.T) {
	ctx := context.Background()
	x, y := load(t)
	_, p := x.Dims()
	for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso} {
		c := pare.Config{Model: m, Positive: true, Tol: 1e-13}
		q := problemOf(x, y, true)
		q.Positive = true
		top := lambdaMax(t, x, y, c)
		if want := math.Log(q.AlphaMax()); math.Abs(top-want) > 1e-13 {
			t.Errorf("ln αmax = %.16g, want %.16g", top, want)
		}
		lambda := []float64{top - 3}
		q.Uniform(math.Exp(top - 3))
		switch m {
		default:
		case pare.ElasticNet:
			lambda = append(lambda, top-6)
			q.Ridge = math.Exp(top - 6)
		case pare.WeightedLasso:
			lambda = repeat(top-3, p)
		}
		f, err := pare.Fit(ctx, x, y, lambda, c)
		if err != nil {
			t.Fatal(err)
		}
		best := q.Solve()
		columns, coef := best.Support()
		if f.Status != outcome.Converged || !slices.Equal(f.Support, columns) || math.Abs(f.Objective-best.Objective) > 1e-12*q.Null() {
			t.Errorf("%s: %+v, want %v at %g", m, f, columns, best.Objective)
		}
		for k, b := range f.Coef {
			if math.Abs(b-coef[k]) > 1e-4 {
				t.Errorf("%s: β_%d = %g, want %g", m, f.Support[k], b, coef[k])
			}
		}
		at := func(l []float64) *pare.Hypergradient {
			g, err := pare.Gradient(ctx, x, y, l, pare.Validation{InOrder: true, Folds: 3}, c)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		g := at(lambda)
		for i := range lambda {
			const h = 1e-4
			up, down := slices.Clone(lambda), slices.Clone(lambda)
			up[i] += h
			down[i] -= h
			if want := (at(up).Value - at(down).Value) / (2 * h); math.Abs(g.Gradient[i]-want) > 1e-5*(math.Abs(want)+1e-3*g.Value) {
				t.Errorf("%s: ∂/∂λ%d = %.10g, differences %.10g", m, i+1, g.Gradient[i], want)
			}
		}
	}
	for _, m := range []pare.Model{pare.Ridge, pare.SVM} {
		if _, err := pare.Fit(ctx, x, y, []float64{0}, pare.Config{Model: m, Positive: true}); outcome.KindOf(err) != outcome.Usage {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// Choose the strength of a ridge regression by cross-validation. Every column stays in the
// model.
func ExampleSelect_ridge() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{Model: pare.Ridge})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %d of 10 columns, mean squared error %.0f\n", s.Status, len(s.Final.Support), s.Value)
	// Output:
	// converged, 10 of 10 columns, mean squared error 3072
}

// Set penalties and bounds per column: the first column is always in the model, the second
// never, and no coefficient may be negative.
func ExampleFit_penalties() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	lambda := slices.Repeat([]float64{0}, 10)
	lambda[0], lambda[1] = math.Inf(-1), math.Inf(1)
	f, err := pare.Fit(context.Background(), x, y, lambda, pare.Config{Model: pare.WeightedLasso})
	if err != nil {
		log.Fatal(err)
	}
	for k, j := range f.Support {
		fmt.Printf("column %d: %.1f\n", j, f.Coef[k])
	}
	f, err = pare.Fit(context.Background(), x, y, []float64{-3}, pare.Config{Positive: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("non-negative:", f.Support)
	// Output:
	// column 0: 165.0
	// column 2: 356.2
	// column 8: 270.5
	// non-negative: [2 3 7 8 9]
}

// Fit with row weights, here rows that count twice, and with standardised columns: the penalty
// treats columns of any scale alike, and the coefficients are returned in the original units.
func ExampleConfig() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	weights := slices.Repeat([]float64{1}, len(y))
	for i := range 100 {
		weights[i] = 2
	}
	c := pare.Config{Weights: weights, Standardize: true, Certify: true}
	f, err := pare.Fit(context.Background(), x, y, []float64{math.Log(20)}, c)
	if err != nil {
		log.Fatal(err)
	}
	for k, j := range f.Support {
		fmt.Printf("column %d: %.1f\n", j, f.Coef[k])
	}
	fmt.Println("proved to be the only solution:", f.Unique != nil && *f.Unique)
	// Output:
	// column 2: 357.3
	// column 8: 335.2
	// proved to be the only solution: true
}

// TestRidgeOfManyColumns checks solution and gradient of a ridge with fewer rows than columns,
// which is solved in the space of the rows.
func TestRidgeOfManyColumns(t *testing.T) {
	ctx := context.Background()
	r := oracle.NewRandom(12)
	q := r.Problem(oracle.Shape{N: 40, P: 1500, Density: 0.3, Active: 30})
	for _, x := range []sparse.Matrix{matrixOf(t, q.X, 1500, true), matrixOf(t, q.X, 1500, false)} {
		c := pare.Config{Model: pare.Ridge, Tol: 1e-12}
		l := lambdaMax(t, x, q.Y, c) - 6
		at := func(l float64) *pare.Hypergradient {
			g, err := pare.Gradient(ctx, x, q.Y, []float64{l}, pare.Validation{InOrder: true, Folds: 4}, c)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		const h = 1e-4
		g, want := at(l), (at(l+h).Value-at(l-h).Value)/(2*h)
		if g.Status != outcome.Converged || math.Abs(g.Gradient[0]-want) > 1e-6*math.Abs(want) || !(g.ErrorBound < 1e-3*math.Abs(want)) {
			t.Errorf("%+v, differences %.12g", g, want)
		}
		if g.Iterations > 40 {
			t.Errorf("%d iterations beside a factor", g.Iterations)
		}
	}
}

// diabetesFor returns the diabetes data with a target suitable for the loss.
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

// TestRidgeOfAnyLoss checks that the hypergradient of a ridge agrees with finite differences
// within its bound, and that the chosen strength is no worse than the best of a grid.
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
