package search

import (
	"context"
	"math"
	"slices"
	"testing"
)

// analytic is an objective given by a formula; seen records its requests.
type analytic struct {
	f    func(x []float64) (float64, []float64)
	seen []Request
	// at, if set, is called with the number of each evaluation, from 0, and may change the answer.
	at func(k int, e *Evaluation) error
}

func (a *analytic) Eval(ctx context.Context, r Request) (Evaluation, error) {
	if err := ctx.Err(); err != nil {
		return Evaluation{}, err
	}
	a.seen = append(a.seen, r)
	value, gradient := a.f(r.LogLambda)
	if r.ValueOnly {
		gradient = nil
	}
	e := Evaluation{Value: value, Gradient: gradient, Trusted: true}
	if a.at != nil {
		if err := a.at(len(a.seen)-1, &e); err != nil {
			return Evaluation{}, err
		}
	}
	return e, ctx.Err()
}

// contender is a search method for any number of coordinates.
type contender struct {
	name       string
	firstOrder bool
	run        func(f Objective, start []float64, box Box, o Options) (*Result, error)
}

func contenders(ctx context.Context, dim int) []contender {
	all := []contender{
		{"gradient", true, func(f Objective, start []float64, box Box, o Options) (*Result, error) {
			return Gradient(ctx, f, start, box, o)
		}},
		{"line search", true, func(f Objective, start []float64, box Box, o Options) (*Result, error) {
			return LineSearch(ctx, f, start, box, o)
		}},
		{"adam", true, func(f Objective, start []float64, box Box, o Options) (*Result, error) {
			return Adam(ctx, f, start, box, AdamOptions{Options: o, Rate: 0.3})
		}},
		{"trust region", true, func(f Objective, start []float64, box Box, o Options) (*Result, error) {
			return TrustRegion(ctx, f, start, box, o)
		}},
		{"l-bfgs", true, func(f Objective, start []float64, box Box, o Options) (*Result, error) {
			return LBFGS(ctx, f, start, box, LBFGSOptions{Options: o})
		}},
		{"random", false, func(f Objective, _ []float64, box Box, o Options) (*Result, error) {
			return Random(ctx, f, box, 7, o)
		}},
		{"halton", false, func(f Objective, _ []float64, box Box, o Options) (*Result, error) {
			return Halton(ctx, f, box, o)
		}},
		{"tpe", false, func(f Objective, _ []float64, box Box, o Options) (*Result, error) {
			return TPE(ctx, f, box, TPEOptions{Options: o, Seed: 7})
		}},
	}
	if dim == 1 {
		all = append(all, contender{"secant", true, func(f Objective, start []float64, box Box, o Options) (*Result, error) {
			return Secant(ctx, f, start[0], box, o)
		}})
	}
	return all
}

func cube(dim int, lower, upper float64) Box {
	return Box{slices.Repeat([]float64{lower}, dim), slices.Repeat([]float64{upper}, dim)}
}

// bowl is a quadratic with the minimum 1 at the centre.
func bowl(centre, curvature []float64) func(x []float64) (float64, []float64) {
	return func(x []float64) (float64, []float64) {
		value, gradient := 1.0, make([]float64, len(x))
		for i := range x {
			gradient[i] = curvature[i] * (x[i] - centre[i])
			value += gradient[i] * (x[i] - centre[i]) / 2
		}
		return value, gradient
	}
}

// promises checks what every method guarantees for any objective: that the box and the budget are respected, the
// order of the evaluations, and that the least value is returned.
func promises(t *testing.T, name string, f *analytic, box Box, budget int, r *Result) {
	t.Helper()
	if len(f.seen) > budget || len(r.Evaluations) > budget {
		t.Errorf("%s: %d evaluations, %d kept, of %d", name, len(f.seen), len(r.Evaluations), budget)
	}
	for _, q := range f.seen {
		for i, v := range q.LogLambda {
			if !(v >= box.Lower[i] && v <= box.Upper[i]) {
				t.Errorf("%s: asked at %v, outside of the box", name, q.LogLambda)
			}
		}
	}
	least := math.Inf(1)
	for k, e := range r.Evaluations {
		if e.LogLambda != nil && !slices.Equal(e.LogLambda, f.seen[k].LogLambda) {
			t.Errorf("%s: evaluation %d is at %v, was asked at %v", name, k, e.LogLambda, f.seen[k].LogLambda)
		}
		if e.Final && e.Value < least && finite(e.Value) {
			least = e.Value
		}
	}
	if r.Best.LogLambda == nil || r.Best.Value != least {
		t.Errorf("%s: returned %g, the least is %g", name, r.Best.Value, least)
	}
}

// scalar makes an objective of one λ from a function that returns value and slope.
func scalar(f func(x float64) (value, slope float64)) *analytic {
	return &analytic{f: func(x []float64) (float64, []float64) {
		value, slope := f(x[0])
		return value, []float64{slope}
	}}
}

func parabola(x float64) (float64, float64) { return 5 + (x+6)*(x+6)/10, (x + 6) / 5 }

// method is a search method for one λ.
type method struct {
	name string
	run  func(ctx context.Context, f Objective, start float64, box Box, o Options) (*Result, error)
}

var methods = []method{
	{"secant", Secant},
	{"gradient", func(ctx context.Context, f Objective, start float64, box Box, o Options) (*Result, error) {
		return Gradient(ctx, f, []float64{start}, box, o)
	}},
}
