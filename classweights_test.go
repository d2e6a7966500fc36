package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestClassWeightsAreOfTheFit: a fit with weights of classes is one with such weights of its
// rows, and the criterion knows nothing of them; the slope is what differences say.
func TestClassWeightsAreOfTheFit(t *testing.T) {
	ctx := context.Background()
	for _, m := range []pare.Model{pare.Logistic, pare.SquaredHinge, pare.SVM, pare.Multiclass, pare.Multinomial} {
		for _, balanced := range []bool{true, false} {
			q := drawRepeated(t, m, 5)
			c := pare.Config{Model: m, Tol: 1e-13, Weights: q.weights, Balanced: balanced}
			kinds := slices.Compact(slices.Sorted(slices.Values(q.y)))
			if !balanced {
				c.ClassWeights = []float64{2, 0.5, 3}[:len(kinds)]
			}
			train, rows := make([]float64, len(q.y)), slices.Clone(q.folds)
			var all float64
			held := make([]float64, len(kinds))
			for i, fold := range q.folds {
				k, _ := slices.BinarySearch(kinds, q.y[i])
				if rows[i] = -1; fold == 0 {
					rows[i] = 0
					continue
				}
				train[i] = q.weights[i]
				held[k] += train[i]
				all += train[i]
			}
			for i, y := range q.y {
				k, _ := slices.BinarySearch(kinds, y)
				if balanced {
					train[i] *= all / (float64(len(kinds)) * held[k])
				} else {
					train[i] *= c.ClassWeights[k]
				}
			}
			plain := c
			plain.Weights, plain.ClassWeights, plain.Balanced = train, nil, false
			lambda := somewhere(t, q.x, q.y, plain)
			fold := c
			fold.Weights = slices.Clone(q.weights)
			for i, of := range rows {
				if of == 0 {
					fold.Weights[i] = 0
				}
			}
			want, err := pare.Fit(ctx, q.x, q.y, lambda, plain)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pare.Fit(ctx, q.x, q.y, lambda, fold)
			if err != nil || math.Abs(got.Objective-want.Objective) > 1e-12*want.Objective {
				t.Errorf("%s, balanced %t: Φ = %.15g, %v; %.15g with weights of the rows", m, balanced, got.Objective, err, want.Objective)
			}
			v := pare.Validation{Criterion: pare.HoldOut, FoldIDs: rows}
			h, err := pare.Gradient(ctx, q.x, q.y, lambda, v, c)
			if err != nil {
				t.Fatal(err)
			}
			if m == pare.Logistic {
				scores := make([]float64, len(q.y))
				if err := want.Predictor().Decide(q.x, scores); err != nil {
					t.Fatal(err)
				}
				var out []int32
				for i, of := range rows {
					if of == 0 {
						out = append(out, int32(i))
					}
				}
				judge := criterion.Weighted{Criterion: criterion.Of(loss.Logistic{}), Weights: q.weights}
				if value := judge.Eval(out, q.y, scores, nil, nil); math.Abs(h.Value-value) > 1e-6*value {
					t.Errorf("balanced %t: the criterion is %g, with the weights of the rows %g", balanced, h.Value, value)
				}
			}
			const step = 1e-4
			var values []float64
			for _, d := range []float64{step, -step} {
				moved := slices.Clone(lambda)
				moved[0] += d
				for e, err := range pare.Validate(ctx, q.x, q.y, [][]float64{moved}, v, c) {
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, e.Value)
				}
			}
			if slope := (values[0] - values[1]) / (2 * step); math.Abs(h.Gradient[0]-slope) > 1e-5*(math.Abs(slope)+0.01*h.Value) {
				t.Errorf("%s, balanced %t: slope %g, by differences %g", m, balanced, h.Gradient[0], slope)
			}
		}
	}
}

// TestClassWeightsAreRefused where they mean nothing, by the name of the flag.
func TestClassWeightsAreRefused(t *testing.T) {
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 12, P: 3})
	x := matrixOf(t, q.X, 3, true)
	labels := make([]float64, 12)
	for i := range labels {
		labels[i] = float64(i%2*2 - 1)
	}
	for _, c := range []pare.Config{
		{Model: pare.Lasso, Balanced: true},
		{Model: pare.SVR, ClassWeights: []float64{1, 1}},
		{Model: pare.Logistic, ClassWeights: []float64{1}},
		{Model: pare.Logistic, ClassWeights: []float64{1, 0}},
		{Model: pare.Logistic, ClassWeights: []float64{1, math.Inf(1)}},
		{Model: pare.Logistic, ClassWeights: []float64{1, 1}, Balanced: true},
	} {
		y := labels
		if c.Model != pare.Logistic {
			y = q.Y
		}
		_, err := pare.LogLambdaMax(x, y, c)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Flag != "class-weight" {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
