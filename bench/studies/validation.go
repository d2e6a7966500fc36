package studies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
)

// sizes are the sizes of a study of searches.
type sizes struct {
	points   int // of the curve, and of the grid
	baseline int // evaluations of the searches without a gradient
	minRatio float64
}

// The paper uses 100 points down to αmax/10⁴ and 30 random points.
func (o Options) sizes() sizes {
	if o.Quick {
		return sizes{20, 8, 3e-3}
	}
	return sizes{100, 30, 1e-4}
}

// runValidation covers the paper's three text sets.
func runValidation(ctx context.Context, o Options) (*Result, error) {
	all := &validation{visits: newVisits(1)}
	for _, name := range o.texts() {
		d, err := o.Load(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			o.say(err.Error())
			continue
		}
		if err == nil {
			err = all.add(ctx, d, o, o.sizes())
		}
		if err != nil {
			return nil, err
		}
	}
	return all.result(), nil
}

// validation is figures 1 (top) and 7: the five-fold cross-validation error of the Lasso as a function of λ,
// with the points that each search visits, and the best error found as a function of time. There is no
// intercept, as in the paper.
type validation struct {
	curve, summary Table
	visits         *visits
	panels         chart.Panels // one row per set
}

func (v *validation) add(ctx context.Context, d Data, o Options, s sizes) error {
	c := pare.Config{NoIntercept: true, Threads: o.Threads}
	top, err := pare.LogLambdaMax(d.X, d.Y, c)
	if err != nil {
		return err
	}
	depth := kernels.Log(s.minRatio)
	points := search.Geometric(top[0], depth, s.points)

	v.curve.Columns = []string{"data", "ratio", "cv_error", "support"}
	line := chart.Series{Name: "CV error", Line: true}
	box := search.Box{Lower: []float64{top[0] + depth}, Upper: top}
	start := []float64{top[0] + kernels.Log(0.01)}
	v.visits.found = nil
	for _, m := range []contestant{
		{"secant", "secant", func(ctx context.Context, f search.Objective, so search.Options) (*search.Result, error) {
			return search.Secant(ctx, f, start[0], box, so)
		}},
		descent(start, box, search.Exact),
		descent(start, box, search.Approx),
		gridOf(fmt.Sprintf("grid of %d", s.points), points),
		randomly(box, s.baseline),
		parzen(box, s.baseline),
	} {
		o.say(d.Name + ": " + m.label)
		f, err := crossValidation(d.X, d.Y, o.Threads, lasso)
		if err != nil {
			return err
		}
		found, err := v.visits.add(ctx, d.Name, m, f, top)
		if err != nil {
			return err
		}
		if m.name != "grid" {
			continue
		}
		for _, e := range found.Evaluations { // the grid is the curve
			ratio := kernels.Exp(e.LogLambda[0] - top[0])
			v.curve.Add(d.Name, ratio, e.Value, e.Support)
			line.X, line.Y = append(line.X, ratio), append(line.Y, e.Value)
		}
	}
	onCurve := chart.Chart{
		Title: d.Name + ", Lasso, 5 folds", X: "α as a share of αmax", Y: "CV error", LogX: true, Series: []chart.Series{line},
	}
	for _, name := range []string{"secant", "gradient", "random", "tpe"} {
		onCurve.Series = append(onCurve.Series, first(v.visits.spots[name], 10)) // the first ten, as in the paper
	}
	v.panels = append(v.panels, []chart.Chart{onCurve, v.visits.excess(d.Name + ": best so far")})
	summary := v.visits.summary(d.Name)
	v.summary.Columns = summary.Columns
	v.summary.Rows = append(v.summary.Rows, summary.Rows...)
	return nil
}

func (v *validation) result() *Result {
	r := newResult()
	r.Tables["cv-lasso-curve"], r.Tables["cv-lasso-visits"], r.Tables["cv-lasso"] = v.curve, v.visits.table, v.summary
	r.Charts["cv-lasso"] = v.panels
	return r
}
