package studies

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// ValidationOptions bound the study of a validation curve.
type ValidationOptions struct {
	Name     string // of the data, for titles
	Points   int    // of the curve, and of the grid search; 0 means 100
	Baseline int    // evaluations of the searches without a gradient; 0 means 30
	MinRatio float64
	Threads  int
	Progress func(what string)
}

// method is a search to compare: all get the same objective and box.
type method struct {
	name, label string
	marks       bool
	run         func(search.Objective, search.Options) (*search.Result, error)
}

// Validation is figures 1 (top) and 7: the cross-validation error of the Lasso as
// a function of λ with the points that each search visits, and the best error
// found as a function of time. Five folds, no intercept, the paper's problem.
func Validation(ctx context.Context, x sparse.Matrix, y []float64, o ValidationOptions) (*Result, error) {
	if o.Points == 0 {
		o.Points = 100
	}
	if o.Baseline == 0 {
		o.Baseline = 30
	}
	if o.MinRatio == 0 {
		o.MinRatio = 1e-3
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	c := pare.Config{NoIntercept: true, Threads: o.Threads}
	v := pare.Validation{Shuffle: true}
	top, err := pare.LogLambdaMax(x, y, c)
	if err != nil {
		return nil, err
	}

	r := &Result{Tables: map[string]Table{}, Charts: map[string]chart.Chart{}}
	o.Progress("the curve")
	curve := Table{Columns: []string{"log_lambda", "ratio", "cv_error", "support"}}
	line := chart.Series{Name: "CV error", Line: true}
	for e, err := range pare.Validate(ctx, x, y, search.Geometric(top[0], kernels.Log(o.MinRatio), o.Points), v, c) {
		if err != nil {
			return nil, err
		}
		ratio := kernels.Exp(e.LogLambda[0] - top[0])
		curve.Rows = append(curve.Rows, []any{e.LogLambda[0], ratio, e.Value, e.Support})
		line.X, line.Y = append(line.X, ratio), append(line.Y, e.Value)
	}
	r.Tables["validation-curve"] = curve

	visits := Table{Columns: []string{"search", "evaluation", "log_lambda", "ratio", "cv_error", "best_so_far", "seconds", "status"}}
	onCurve := chart.Chart{
		Title: "Lasso, 5-fold CV: " + o.Name, X: "strength as a share of its maximum", Y: "CV error", LogX: true,
		Series: []chart.Series{line},
	}
	overTime := chart.Chart{
		Title: "Lasso, 5-fold CV: " + o.Name, X: "seconds", Y: "best CV error so far", LogX: true, Right: true,
	}
	box := search.Box{Lower: []float64{top[0] + kernels.Log(o.MinRatio)}, Upper: top}
	start := top[0] + kernels.Log(0.01)
	methods := []method{
		{"secant", "secant (first order)", true, func(f search.Objective, so search.Options) (*search.Result, error) {
			return search.Secant(ctx, f, start, box, so)
		}},
		{"gradient", "gradient descent (first order)", true, func(f search.Objective, so search.Options) (*search.Result, error) {
			return search.Gradient(ctx, f, []float64{start}, box, so)
		}},
		{"grid", fmt.Sprintf("grid of %d", o.Points), false, func(f search.Objective, so search.Options) (*search.Result, error) {
			return search.Grid(ctx, f, search.Geometric(top[0], kernels.Log(o.MinRatio), o.Points), so)
		}},
		{"random", "random", true, func(f search.Objective, so search.Options) (*search.Result, error) {
			so.Evaluations = o.Baseline
			return search.Random(ctx, f, box, 0, so)
		}},
		{"tpe", "TPE", false, func(f search.Objective, so search.Options) (*search.Result, error) {
			so.Evaluations = o.Baseline
			return search.TPE(ctx, f, box, search.TPEOptions{Options: so})
		}},
	}
	for i, m := range methods {
		o.Progress(m.label)
		visited := chart.Series{Name: m.label, Points: true, Colour: i + 1}
		found := chart.Series{Name: m.label, Points: true, Line: true, Colour: i + 1}
		best := math.Inf(1)
		began := time.Now()
		problem, err := crossValidation(x, y, o.Threads)
		if err != nil {
			return nil, err
		}
		var seconds []float64
		s, err := m.run(problem, search.Options{
			Progress: func(search.Evaluation) { seconds = append(seconds, time.Since(began).Seconds()) },
		})
		if err != nil {
			return nil, err
		}
		for k, e := range s.Evaluations {
			ratio := kernels.Exp(e.LogLambda[0] - top[0])
			best = min(best, e.Value)
			visits.Rows = append(visits.Rows, []any{m.name, k + 1, e.LogLambda[0], ratio, e.Value, best, seconds[k], string(s.Status)})
			visited.X, visited.Y = append(visited.X, ratio), append(visited.Y, e.Value)
			found.X, found.Y = append(found.X, seconds[k]), append(found.Y, best)
		}
		if m.marks {
			if most := 10; len(visited.X) > most { // as in the paper: the first ten
				visited.X, visited.Y = visited.X[:most], visited.Y[:most]
			}
			onCurve.Series = append(onCurve.Series, visited)
		}
		overTime.Series = append(overTime.Series, found)
	}
	r.Tables["validation-visits"] = visits
	r.Charts["validation-curve"], r.Charts["validation-time"] = onCurve, overTime
	return r, nil
}

// crossValidation is the Lasso's error by five folds, cold.
func crossValidation(x sparse.Matrix, y []float64, threads int) (*bilevel.Problem, error) {
	k, err := kernels.Active()
	if err != nil {
		return nil, err
	}
	folds, err := bilevel.KFold(len(y), 5, true, 0)
	if err != nil {
		return nil, err
	}
	return bilevel.New(k, x, y, bilevel.Spec{
		Folds: folds, Threads: threads,
		Penalty: func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
	})
}
