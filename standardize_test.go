package pare_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// densified returns the rows with columns standardised on the rows of positive weight, by the
// textbook formula, and the deviations by which the columns were divided.
func densified(rows [][]float64, weights []float64, centre bool) (out [][]float64, mean, deviation []float64) {
	p := len(rows[0])
	mean, deviation = make([]float64, p), make([]float64, p)
	var total float64
	for _, s := range weights {
		total += s
	}
	for j := range p {
		if centre {
			for i, row := range rows {
				mean[j] += weights[i] * row[j] / total
			}
		}
		for i, row := range rows {
			deviation[j] += weights[i] * (row[j] - mean[j]) * (row[j] - mean[j]) / total
		}
		deviation[j] = math.Sqrt(deviation[j])
	}
	for _, row := range rows {
		scaled := make([]float64, p)
		for j, v := range row {
			if deviation[j] > 1e-12 {
				scaled[j] = (v - mean[j]) / deviation[j]
			}
		}
		out = append(out, scaled)
	}
	return out, mean, deviation
}

// TestStandardizeIsExplicitStandardisation checks that αmax, objective and predictions are
// those of columns standardised by hand, that coefficients are in the original units, and that
// a hold-out's hypergradient is that of columns standardised on its training rows.
func TestStandardizeIsExplicitStandardisation(t *testing.T) {
	ctx := context.Background()
	const n, p = 60, 12
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1e-3+math.Abs(b)) }
	for seed := range uint64(6) {
		for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge, pare.Logistic, pare.Multiclass} {
			r := oracle.NewRandom(seed)
			q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.4, 1), Mean: r.Pick(0, 2), Active: 5})
			y, weights, ids := slices.Clone(q.Y), make([]float64, n), make([]int, n)
			train := make([]float64, n)
			for i := range y {
				for j := range p {
					q.X[i][j] *= float64(1 + j*j) // columns of many scales
				}
				q.X[i][3] = 7 // and a constant one
				switch m {
				case pare.Logistic:
					y[i] = math.Copysign(1, y[i]-q.Y[0])
				case pare.Multiclass:
					y[i] = float64(i % 3)
				}
				weights[i], ids[i] = 0.5+r.Float64(), -1
				if train[i] = weights[i]; i%4 == 0 {
					ids[i], train[i] = 0, 0
				}
			}
			c := pare.Config{Model: m, Tol: 1e-15, Weights: weights, NoIntercept: seed%2 == 1}
			std := c
			std.Standardize = true
			x := matrixOf(t, q.X, p, seed%3 == 0)
			hand, mean, deviation := densified(q.X, weights, !c.NoIntercept)
			lambda := somewhere(t, matrixOf(t, hand, p, true), y, c)
			if l := somewhere(t, x, y, std); !slices.EqualFunc(l, lambda, near) {
				t.Fatalf("%s: λmax − 2 is %v standardised, %v by hand", m, l, lambda)
			}
			a, err := pare.Fit(ctx, x, y, lambda, std)
			if err != nil {
				t.Fatal(err)
			}
			b, err := pare.Fit(ctx, matrixOf(t, hand, p, true), y, lambda, c)
			if err != nil {
				t.Fatal(err)
			}
			all, each := []*pare.Fitted{a}, []*pare.Fitted{b}
			if m == pare.Multiclass {
				all, each = a.PerClass, b.PerClass
			}
			for k, f := range all {
				g := each[k]
				if f.Status != outcome.Converged || !slices.Equal(f.Support, g.Support) || !near(f.Objective, g.Objective) {
					t.Errorf("%s, seed %d: %+v standardised, %+v by hand", m, seed, f, g)
					continue
				}
				intercept := g.Intercept
				for i, j := range f.Support {
					want := g.Coef[i] / deviation[j]
					intercept -= want * mean[j]
					if math.Abs(f.Coef[i]-want) > 1e-8*(math.Abs(want)+1/deviation[j]) {
						t.Errorf("%s, seed %d: column %d has %g standardised, %g by hand", m, seed, j, f.Coef[i], want)
					}
				}
				if math.Abs(f.Intercept-intercept) > 1e-8*(1+math.Abs(intercept)) {
					t.Errorf("%s, seed %d: intercept %g standardised, %g by hand", m, seed, f.Intercept, intercept)
				}
			}
			v := pare.Validation{Criterion: pare.HoldOut, FoldIDs: ids}
			h, err := pare.Gradient(ctx, x, y, lambda, v, std)
			if err != nil {
				t.Fatal(err)
			}
			hand, _, _ = densified(q.X, train, !c.NoIntercept)
			want, err := pare.Gradient(ctx, matrixOf(t, hand, p, true), y, lambda, v, c)
			if err != nil {
				t.Fatal(err)
			}
			if !near(h.Value, want.Value) || !slices.EqualFunc(h.Gradient, want.Gradient, near) {
				t.Errorf("%s, seed %d: value %.15g and gradient %v standardised, %.15g and %v by hand", m, seed, h.Value, h.Gradient, want.Value, want.Gradient)
			}
		}
	}
}

// TestStandardizedMultiplesAreCopies checks that the Lasso treats standardised columns that are
// multiples of one another as one column: they share its coefficient, each in its own units.
func TestStandardizedMultiplesAreCopies(t *testing.T) {
	ctx := context.Background()
	r := oracle.NewRandom(9)
	q := r.Problem(oracle.Shape{N: 40, P: 6, Density: 0.6})
	for i, row := range q.X {
		row[0] = math.Round(0x1p20*row[0]) / 0x1p20 // so that −3 times the value is exact
		row[2], row[4] = -3*row[0], 0.125*row[0]
		q.Y[i] = row[0] + 0.1*r.Normal()
	}
	for _, x := range []sparse.Matrix{matrixOf(t, q.X, 6, false), matrixOf(t, q.X, 6, true)} {
		c := pare.Config{Standardize: true, Tol: 1e-12}
		l := somewhere(t, x, q.Y, c)
		f, err := pare.Fit(ctx, x, q.Y, l, c)
		if err != nil {
			t.Fatal(err)
		}
		beta := make([]float64, 6)
		for k, j := range f.Support {
			beta[j] = f.Coef[k]
		}
		if beta[0] == 0 || math.Abs(beta[2]+beta[0]/3) > 1e-14 || math.Abs(beta[4]-8*beta[0]) > 1e-13 {
			t.Errorf("multiples have %v", beta)
		}
		g, err := pare.Gradient(ctx, x, q.Y, l, pare.Validation{InOrder: true, Folds: 4}, c)
		if err != nil || g.Status != outcome.Converged {
			t.Errorf("%v, %+v", err, g)
		}
	}
	for _, c := range []pare.Config{{Model: pare.SVM, Standardize: true}, {Method: pare.ForwardPGD, Standardize: true}} {
		if _, err := pare.Gradient(ctx, matrixOf(t, q.X, 6, true), q.Y, []float64{-1}, pare.Validation{InOrder: true}, c); outcome.KindOf(err) != outcome.Usage {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
