package pare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// few draws a target with the given number of classes, and columns that explain little of it.
func few(t *testing.T, seed uint64, n, p, classes int) (sparse.Matrix, []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	values, y := make([]float64, n*p), make([]float64, n)
	for i := range values {
		values[i] = math.Exp(1.5 * r.NormFloat64())
	}
	for i := range y {
		y[i] = float64(r.IntN(classes))
		if i < 3*classes {
			y[i] = float64(i % classes)
		}
		if classes == 2 {
			y[i] = 2*y[i] - 1
		}
	}
	r.Shuffle(n, func(i, j int) { y[i], y[j] = y[j], y[i] })
	x, err := sparse.NewDense(n, p, values)
	if err != nil {
		t.Fatal(err)
	}
	return x, y
}

// validated returns the evaluation of the criterion at one λ.
func validated(t *testing.T, x sparse.Matrix, y, logLambda []float64, v pare.Validation, c pare.Config) search.Evaluation {
	t.Helper()
	var at search.Evaluation
	for e, err := range pare.Validate(t.Context(), x, y, [][]float64{logLambda}, v, c) {
		if err != nil {
			t.Fatal(err)
		}
		at = e
	}
	return at
}

// TestChosenValueIsValidated checks that the value of a choice is that of Validate at the same
// λ, also if a fold's αmax is far above that of all rows.
func TestChosenValueIsValidated(t *testing.T) {
	for _, c := range []pare.Config{
		{Model: pare.MultinomialNet},
		{Model: pare.Multiclass},
		{Model: pare.ElasticNet, Loss: loss.Logistic{}},
		{Model: pare.ElasticNet, Loss: loss.Poisson{}},
		{Model: pare.ElasticNet, Loss: loss.Huber{Delta: 1}},
		{Model: pare.ElasticNet, Positive: true},
		{Model: pare.GroupNet},
		{Model: pare.SparseGroupPair},
	} {
		for seed := range uint64(12) {
			classes := 2 + int(seed%2)
			switch c.Loss {
			case loss.Logistic{}:
				classes = 2
			case loss.Poisson{}: // the targets are counts
				classes = 3
			}
			x, y := few(t, seed, 15, 1+int(seed%3), classes)
			v := pare.Validation{Folds: 3, Split: pare.Stratified, Seed: seed}
			name := fmt.Sprintf("%s, %T, seed %d", c.Model, c.Loss, seed)
			s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: v}, c)
			if c.Positive && outcome.KindOf(err) == outcome.BadParameter { // no column is positively correlated with the target
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := validated(t, x, y, s.LogLambda, v, c).Value; !(math.Abs(s.Value-got) <= 1e-3*got) {
				t.Errorf("%s: %s, chosen at %.8g, validated %.8g (null %g)", name, s.Status, s.Value, got, s.NullValue)
			}
		}
	}
}

// TestNullValueIsValidated checks that the null model's value is that of fits without columns.
func TestNullValueIsValidated(t *testing.T) {
	for _, c := range []pare.Config{
		{Model: pare.Multiclass},
		{Model: pare.Multiclass, NoIntercept: true},
		{Model: pare.Multiclass, Balanced: true},
		{Model: pare.Multinomial},
		{Model: pare.MultinomialNet},
		{Model: pare.Logistic},
		{Model: pare.Lasso},
	} {
		for seed := range uint64(6) {
			classes := 2 + int(seed%4)
			if c.Model == pare.Logistic {
				classes = 2
			}
			x, y := few(t, seed, 24, 2, classes)
			top, err := pare.LogLambdaMax(x, y, c)
			if err != nil {
				t.Fatal(err)
			}
			for i := range top {
				top[i] += 9
			}
			for _, weighted := range []bool{false, true} {
				c.Weights = nil
				if weighted {
					c.Weights = make([]float64, len(y))
					for i := range c.Weights {
						c.Weights[i] = 1 + float64(i%3)
					}
				}
				v := pare.Validation{Folds: 3, Split: pare.Stratified, Seed: seed}
				s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: v, Evaluations: 1}, c)
				if err != nil {
					t.Fatal(err)
				}
				at := validated(t, x, y, top, v, c)
				if at.Support != 0 || !(math.Abs(s.NullValue-at.Value) <= 1e-9*at.Value) {
					t.Errorf("%s, no intercept %t, balanced %t, weights %t, seed %d: %.12g, validated %.12g with %d columns", c.Model, c.NoIntercept, c.Balanced, weighted, seed, s.NullValue, at.Value, at.Support)
				}
			}
		}
	}
}
