package studies

import (
	"context"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// contestant is a search. All contestants get the same objective, from a cold start, and the same box.
type contestant struct {
	name, label string
	run         func(context.Context, search.Objective, search.Options) (*search.Result, error)
}

// gridOf evaluates all points of a grid in order.
func gridOf(label string, points [][]float64) contestant {
	return contestant{"grid", label, func(ctx context.Context, f search.Objective, o search.Options) (*search.Result, error) {
		return search.Grid(ctx, f, points, o)
	}}
}

func randomly(box search.Box, evaluations int) contestant {
	return contestant{"random", "random", func(ctx context.Context, f search.Objective, o search.Options) (*search.Result, error) {
		o.Evaluations = evaluations
		return search.Random(ctx, f, box, 0, o)
	}}
}

func parzen(box search.Box, evaluations int) contestant {
	return contestant{"tpe", "TPE", func(ctx context.Context, f search.Objective, o search.Options) (*search.Result, error) {
		o.Evaluations = evaluations
		return search.TPE(ctx, f, box, search.TPEOptions{Options: o})
	}}
}

// descent is the paper's first-order method (algorithm 6), with a tolerance of 1e-6 throughout, or decreasing
// to it from 1e-2.
func descent(start []float64, box search.Box, schedule search.Schedule) contestant {
	c := contestant{"gradient", "gradient descent", nil}
	if schedule == search.Approx {
		c.name, c.label = "gradient-approx", "gradient descent, approximate"
	}
	c.run = func(ctx context.Context, f search.Objective, o search.Options) (*search.Result, error) {
		o.Schedule, o.Tol = schedule, 1e-6
		return search.Gradient(ctx, f, start, box, o)
	}
	return c
}

// visits are the points that searches visited, in order, and the times.
type visits struct {
	table Table
	spots map[string]chart.Series // by search: the points as λ − λmax, X the first strength and Y the second
	found []chart.Series          // the best value so far against seconds
}

func newVisits(hyperparameters int) *visits {
	v := &visits{table: Table{Columns: []string{"data", "search", "evaluation"}}, spots: map[string]chart.Series{}}
	for i := range hyperparameters {
		v.table.Columns = append(v.table.Columns, "ratio_"+string(rune('1'+i)))
	}
	v.table.Columns = append(v.table.Columns, "value", "best_so_far", "seconds", "status")
	return v
}

// add runs a search on an objective of its own. Ratios are α/αmax.
func (v *visits) add(ctx context.Context, data string, c contestant, f search.Objective, top []float64) (*search.Result, error) {
	began := time.Now()
	var seconds []float64
	s, err := c.run(ctx, f, search.Options{Progress: func(search.Evaluation) { seconds = append(seconds, time.Since(began).Seconds()) }})
	if err != nil {
		return nil, err
	}
	spots := chart.Series{Name: c.label, Points: true, Colour: colours[c.name]}
	found := chart.Series{Name: c.label, Points: true, Line: true, Colour: colours[c.name]}
	best := math.Inf(1)
	for k, e := range s.Evaluations {
		best = min(best, e.Value)
		cells := []any{data, c.name, k + 1}
		for i, l := range e.LogLambda {
			cells = append(cells, kernels.Exp(l-top[i]))
		}
		v.table.Add(append(cells, e.Value, best, seconds[k], string(s.Status))...)
		spots.X = append(spots.X, kernels.Exp(e.LogLambda[0]-top[0]))
		if len(top) > 1 {
			spots.Y = append(spots.Y, kernels.Exp(e.LogLambda[1]-top[1]))
		} else {
			spots.Y = append(spots.Y, e.Value)
		}
		found.X, found.Y = append(found.X, seconds[k]), append(found.Y, best)
	}
	v.spots[c.name] = spots
	v.found = append(v.found, found)
	return s, nil
}

// excess charts the best value so far, relative to the best that any search found, on a logarithmic axis;
// otherwise differences could not be seen.
func (v *visits) excess(title string) chart.Chart {
	best := math.Inf(1)
	for _, s := range v.found {
		best = min(best, s.Y[len(s.Y)-1])
	}
	c := chart.Chart{Title: title, X: "seconds", Y: "excess over the best error found", LogX: true, LogY: true, Low: true}
	for _, s := range v.found {
		above := chart.Series{Name: s.Name, Points: s.Points, Line: s.Line, Colour: s.Colour}
		for k := range s.X {
			above.X, above.Y = append(above.X, s.X[k]), append(above.Y, max(1e-8, s.Y[k]/best-1))
		}
		c.Series = append(c.Series, above)
	}
	return c
}

// first shortens a series to its first points.
func first(s chart.Series, most int) chart.Series {
	most = min(most, len(s.X))
	s.X, s.Y = s.X[:most], s.Y[:most]
	return s
}

// summary has a row for each search: the number of evaluations, the best value, and the seconds until it was
// within a thousandth of the best value of all searches.
func (v *visits) summary(data string) Table {
	t := Table{Columns: []string{"data", "search", "evaluations", "best", "seconds", "seconds to within 0.1 % of the best"}}
	at := len(v.table.Columns) - 4 // value
	best := math.Inf(1)
	var order []string
	for _, row := range v.table.Rows {
		if row[0] == data {
			best = min(best, row[at].(float64))
			if name := row[1].(string); len(order) == 0 || order[len(order)-1] != name {
				order = append(order, name)
			}
		}
	}
	for _, name := range order {
		var count int
		var own, total, near any = 0.0, 0.0, "not reached"
		for _, row := range v.table.Rows {
			if row[0] != data || row[1] != name {
				continue
			}
			count++
			own, total = row[at+1], row[at+2]
			if near == "not reached" && row[at+1].(float64) <= best*(1+1e-3) {
				near = row[at+2]
			}
		}
		t.Add(data, name, count, own, total, near)
	}
	return t
}

// crossValidation is the five-fold error of a squared-loss model, from a cold start.
func crossValidation(x sparse.Matrix, y []float64, threads int, penalty func([]float64) (model.Penalty, error)) (*bilevel.Problem, error) {
	k, err := kernels.Active()
	if err != nil {
		return nil, err
	}
	folds, err := bilevel.KFold(nil, len(y), 5, true, 0)
	if err != nil {
		return nil, err
	}
	return bilevel.New(k, x, y, bilevel.Spec{Folds: folds, Threads: threads, Penalty: penalty})
}

func lasso(l []float64) (model.Penalty, error)      { return model.Lasso(l[0]) }
func elasticNet(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) }
