package bilevel_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestSolvesBeginWhereGradientsLead checks that a solve after a gradient starts from the extrapolated solution: it
// takes fewer passes than after a value alone, and ends at the same value, for a loss with one λ and for classes.
// With many rows per column a solve starts from the last solution, as it does after a value, because that solution
// is certified already.
func TestSolvesBeginWhereGradientsLead(t *testing.T) {
	labels, few, many := classes(oracle.NewRandom(91), 300, 12, 0.6), classes(oracle.NewRandom(93), 300, 40, 0.6), classes(oracle.NewRandom(91), 300, 12, 0.6)
	for _, q := range []*oracle.Problem{few, many} {
		for i, label := range q.Y {
			if q.Y[i] = -1; label > 0 {
				q.Y[i] = 1
			}
		}
	}
	folds, err := bilevel.KFold(nil, 300, 3, true, 5)
	if err != nil {
		t.Fatal(err)
	}
	spec := bilevel.Spec{
		Folds: folds, Penalty: penalties["lasso"],
		Datafit: func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(view, y) },
	}
	type evaluator interface {
		Evaluate(ctx context.Context, r search.Request) (bilevel.Report, error)
	}
	one := func(q *oracle.Problem) func() evaluator {
		return func() evaluator {
			p, err := bilevel.New(fixture.Kernels(t), fixture.Matrix(t, q, false), q.Y, spec)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	for name, problem := range map[string]func() evaluator{
		"one λ": one(few), "many rows": one(many),
		"classes": func() evaluator { return newMulticlass(t, labels, false, bilevel.Spec{Folds: folds}) },
	} {
		at := func(l float64) []float64 {
			if name == "classes" {
				return []float64{l, l + 0.1, l - 0.1}
			}
			return []float64{l}
		}
		evaluate := func(valueOnly bool) bilevel.Report {
			p := problem()
			var report bilevel.Report
			for _, request := range []search.Request{{LogLambda: at(-4.5), ValueOnly: valueOnly, Tol: 1e-8}, {LogLambda: at(-5.5), Tol: 1e-8}} {
				var err error
				if report, err = p.Evaluate(t.Context(), request); err != nil {
					t.Fatal(err)
				}
			}
			return report
		}
		value, gradient := evaluate(true), evaluate(false)
		if name == "many rows" {
			if gradient.Value != value.Value || gradient.Effort != value.Effort {
				t.Errorf("many rows: %.12g after %v and a gradient, %.12g after %v and a value", gradient.Value, gradient.Effort, value.Value, value.Effort)
			}
			continue
		}
		if gradient.Passes >= value.Passes {
			t.Errorf("%s: %d passes after a gradient, %d after a value", name, gradient.Passes, value.Passes)
		}
		if !(math.Abs(gradient.Value-value.Value) <= 1e-4*value.Value) {
			t.Errorf("%s: %.12g after a gradient, %.12g after a value", name, gradient.Value, value.Value)
		}
	}
}

// TestMeanBeforeIsWhatIsKnownBeforehand checks that MeanBefore returns the solution kept nearest to λ before λ was
// evaluated, extrapolated along its gradient, and nothing if that solution is too far away.
func TestMeanBeforeIsWhatIsKnownBeforehand(t *testing.T) {
	q := classes(oracle.NewRandom(92), 300, 12, 0.6)
	for i, label := range q.Y {
		if q.Y[i] = -1; label > 0 {
			q.Y[i] = 1
		}
	}
	folds, err := bilevel.KFold(nil, 300, 3, true, 5)
	if err != nil {
		t.Fatal(err)
	}
	p := newProblem(t, q, true, bilevel.Spec{
		Folds: folds, Penalty: penalties["lasso"],
		Datafit: func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(view, y) },
	})
	p.KeepSolutions()
	var expected []float64
	p.OnExpected(func(_ context.Context, logLambda []float64) { expected = append(expected, logLambda[0]) })
	dense := func(columns []int32, coef []float64, err error) []float64 {
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, 12)
		for k, j := range columns {
			out[j] = coef[k]
		}
		return out
	}
	off := func(a, b []float64) (sum float64) {
		for j := range a {
			sum += math.Abs(a[j] - b[j])
		}
		return sum
	}
	evaluate(t, p, search.Request{LogLambda: []float64{-4}, Tol: 1e-8})
	evaluate(t, p, search.Request{LogLambda: []float64{-4.8}, Tol: 1e-8})
	at := []float64{-4.5}
	before := dense(p.MeanBefore(t.Context(), at))
	evaluate(t, p, search.Request{LogLambda: at, Tol: 1e-8, Expected: true})
	evaluate(t, p, search.Request{LogLambda: []float64{-4.55}, Tol: 1e-8})
	if after := dense(p.MeanBefore(t.Context(), at)); off(before, after) != 0 {
		t.Errorf("%g, and later %g", before, after)
	}
	mean, unmoved := dense(p.Mean(t.Context(), at)), dense(p.Mean(t.Context(), []float64{-4.8}))
	if !(off(before, mean) < 0.5*off(unmoved, mean)) {
		t.Errorf("moved %g from the mean, %g if not", off(before, mean), off(unmoved, mean))
	}
	if columns, _, err := p.MeanBefore(t.Context(), []float64{-5.31}); columns != nil || err != nil {
		t.Errorf("%v, %v from afar", columns, err)
	}
	if !slices.Equal(expected, at) {
		t.Errorf("expected to end at %v, want %v", expected, at)
	}
}
