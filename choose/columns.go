package choose

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

const (
	budgetColumns = 15  // evaluations with one λ for each column, if none are given
	columnsReach  = 2   // how far the λ of a column may be from the common one
	columnsProx   = 0.1 // weight of the proximal term: times the criterion per column of the support
	columnsRisk   = 3   // the same for a criterion of all rows, times columns per row up to 1
)

// Columns is the choice of one λ per column.
type Columns struct {
	One   Problem // one λ for all columns
	Count int     // number of columns
	// Each returns the problem of one λ for each column. Columns that are equal on the training
	// rows share their λ: group[j] is the coordinate of column j.
	Each func() (each search.Objective, group []int32, err error)
	// Rows is the number of rows, and Constant the constant term, of a criterion on all rows;
	// Rows is 0 for a criterion on held-out rows.
	Rows     int
	Constant float64
}

// Minimise chooses one λ per column. It starts at the best common λ, ties columns that are
// identical on the training rows, stays within e² of the start with a proximal term towards
// it, and stops early by the loss on the test rows, if any. common is the best point with one
// λ for all; the result is no worse, unless it is judged by test rows.
func (c Columns) Minimise(ctx context.Context, o Options) (result, common *search.Result, err error) {
	if err := o.Check(); err != nil {
		return nil, nil, err
	}
	o.Search = cmp.Or(o.Search, Auto)
	planned := o.Evaluations == 0
	o.Evaluations = cmp.Or(o.Evaluations, defaultBudget)
	s := &stages{options: o.search()}
	line := o
	line.Search = Auto
	toAllColumns := func(at search.Evaluation) search.Evaluation {
		if at.LogLambda != nil {
			at.LogLambda, at.Gradient = slices.Repeat(at.LogLambda, c.Count), nil
		}
		return at
	}
	var one search.Evaluation
	var seen search.Seen
	result, err = s.run(toAllColumns, func(options search.Options) (*search.Result, error) {
		options.Stop, options.Schedule = lineStop, search.Exact
		top := c.One.origins()
		r, err := c.One.minimise(ctx, c.One, top, c.One.starts(top), line, options)
		if r != nil {
			one, seen = r.Best, r.Seen
		}
		return r, err
	})
	if !s.mayContinue(result, err) {
		return result, nil, err
	}
	common = result
	each, group, err := c.Each()
	if err != nil {
		return cutShort(ctx, result, err)
	}
	start := slices.Repeat(one.LogLambda, 1+int(slices.Max(group)))
	box := around(start, columnsReach)
	s.options.Schedule = search.Exact
	s.options.Evaluations = min(o.Evaluations, len(s.done)+budgetColumns)
	judged := false
	result, err = s.run(grouped{group}.lift, func(options search.Options) (*search.Result, error) {
		options.Stop = manyStop
		if o.Search != Auto && o.Search != LBFGS {
			return c.One.descend(ctx, each, start, box, o, options)
		}
		l := c.proxOptions(one, len(start), options)
		judged = l.Judge != nil
		return search.LBFGS(ctx, o.forSteps(each), start, box, l)
	})
	if result != nil && !judged { // within the tolerance of the solutions the same λ may have another value
		result = noWorse(result, common)
		result.Best.Gradient = gradientAtBest(result)
	}
	if result != nil {
		if result.Seen = seen; planned && result.Status == outcome.Budget {
			result.Status = outcome.Exhausted // more would overfit
		}
	}
	return result, common, err
}

// proxOptions returns the options of a search with a proximal term towards one λ for all columns, judged by test rows,
// if any.
func (c Columns) proxOptions(one search.Evaluation, size int, options search.Options) search.LBFGSOptions {
	l := search.LBFGSOptions{Options: options, Keep: true, Prox: columnsProx * one.Value}
	if c.Rows > 0 {
		l.Prox = columnsRisk * min(1, float64(size)/float64(c.Rows)) * (one.Value - c.Constant)
	}
	l.Prox = max(0, l.Prox) / float64(max(1, one.Support))
	if one.Tested {
		l.Judge = func(_ context.Context, at search.Evaluation) (float64, error) { return at.Test, nil }
	}
	return l
}

// gradientAtBest returns the gradient of the best point, where one of the evaluations has it.
func gradientAtBest(r *search.Result) []float64 {
	at := slices.IndexFunc(r.Evaluations, func(e search.Evaluation) bool {
		return e.Gradient != nil && slices.Equal(e.LogLambda, r.Best.LogLambda)
	})
	if r.Best.Gradient != nil || at < 0 {
		return r.Best.Gradient
	}
	return r.Evaluations[at].Gradient
}

// cutShort returns the result with one λ for all columns if ctx has ended before the next stage, and else the
// error.
func cutShort(ctx context.Context, common *search.Result, err error) (*search.Result, *search.Result, error) {
	if ctx.Err() == nil {
		return nil, nil, err
	}
	result := *common
	result.Status = outcome.Cancelled
	return &result, common, nil
}
