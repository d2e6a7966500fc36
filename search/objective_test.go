package search_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/search"
)

// objective is an analytic function that remembers where it was asked.
type objective struct {
	f    func(x []float64) (value float64, gradient []float64, flat bool)
	seen [][]float64
	fail int   // the evaluation that fails, from 1; 0: none
	err  error // what it fails with
}

func (o *objective) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	if err := ctx.Err(); err != nil {
		return search.Evaluation{}, err
	}
	o.seen = append(o.seen, slices.Clone(r.LogLambda))
	if len(o.seen) == o.fail {
		return search.Evaluation{}, o.err
	}
	value, gradient, flat := o.f(r.LogLambda)
	if r.ValueOnly {
		gradient = nil
	}
	return search.Evaluation{LogLambda: r.LogLambda, Value: value, Gradient: gradient, Flat: flat, Trusted: true}, nil
}

// scalar makes an objective of one λ from a value and a slope.
func scalar(f func(x float64) (value, slope float64)) *objective {
	return &objective{f: func(x []float64) (float64, []float64, bool) {
		value, slope := f(x[0])
		return value, []float64{slope}, false
	}}
}

func interval(lower, upper float64) search.Box {
	return search.Box{Lower: []float64{lower}, Upper: []float64{upper}}
}

// method is a search of one λ.
type method struct {
	name string
	run  func(ctx context.Context, f search.Objective, start float64, box search.Box, o search.Options) (*search.Result, error)
}

var methods = []method{
	{"secant", search.Secant},
	{"gradient", func(ctx context.Context, f search.Objective, start float64, box search.Box, o search.Options) (*search.Result, error) {
		return search.Gradient(ctx, f, []float64{start}, box, o)
	}},
}

// sound checks what every search promises: it stays in the box and the budget,
// and what it returns is the least it has seen.
func sound(t *testing.T, name string, f *objective, box search.Box, budget int, r *search.Result) {
	t.Helper()
	if budget == 0 {
		budget = 50
	}
	if len(f.seen) > budget {
		t.Errorf("%s: %d evaluations, the budget is %d", name, len(f.seen), budget)
	}
	for k, x := range f.seen {
		for i, v := range x {
			if !(v >= box.Lower[i] && v <= box.Upper[i]) {
				t.Errorf("%s: evaluation %d at %v is outside the box", name, k, x)
			}
		}
	}
	least := math.Inf(1)
	for k, e := range r.Evaluations {
		if !slices.Equal(e.LogLambda, f.seen[k]) {
			t.Errorf("%s: evaluation %d reported at %v, was at %v", name, k, e.LogLambda, f.seen[k])
		}
		if e.Value < least {
			least = e.Value
		}
	}
	if r.Best.LogLambda == nil || r.Best.Value != least {
		t.Errorf("%s: returned %g at %v, the least seen is %g", name, r.Best.Value, r.Best.LogLambda, least)
	}
	if !(r.Best.Value <= r.Evaluations[0].Value) && !math.IsNaN(r.Evaluations[0].Value) {
		t.Errorf("%s: ended at %g above its start %g", name, r.Best.Value, r.Evaluations[0].Value)
	}
}

func pick(c bool, a, b float64) float64 {
	if c {
		return a
	}
	return b
}

func parabola(x float64) (float64, float64) { return 5 + (x+6)*(x+6)/10, (x + 6) / 5 }
