package studies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
)

// ElasticNet is figures 1 (bottom) and 8: level sets of the five-fold cross-validation error of the elastic net
// in both strengths, the points that searches visit, and the best error as a function of time. The search grid
// has 10 × 10 points, as in the paper; both strengths are fractions of αmax.
func ElasticNet(ctx context.Context, o Options) (*Result, error) {
	all := &elasticNets{visits: newVisits(2)}
	for _, name := range o.texts() {
		d, err := o.Load(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			o.say(err.Error())
			continue
		}
		side, s := 20, o.sizes()
		if o.Quick {
			side, s.minRatio = 8, 1e-2
		}
		if err == nil {
			err = all.add(ctx, d, o, s, side)
		}
		if err != nil {
			return nil, err
		}
	}
	r := newResult()
	r.Tables["cv-enet-levels"], r.Tables["cv-enet-visits"], r.Tables["cv-enet"] = all.levels, all.visits.table, all.summary
	r.Charts["cv-enet"] = all.panels
	return r, nil
}

type elasticNets struct {
	levels, summary Table
	visits          *visits
	panels          chart.Panels
}

// add draws the level sets from side × side points.
func (v *elasticNets) add(ctx context.Context, d Data, o Options, s sizes, side int) error {
	c := pare.Config{Model: pare.ElasticNet, NoIntercept: true, Threads: o.Threads}
	top, err := pare.LogLambdaMax(d.X, d.Y, c)
	if err != nil {
		return err
	}
	top[1] = top[0]
	depth := kernels.Log(s.minRatio)

	levels, err := v.surface(ctx, d, o, top, depth, side)
	if err != nil {
		return err
	}
	box := search.Box{Lower: []float64{top[0] + depth, top[1] + depth}, Upper: top}
	start := []float64{top[0] + kernels.Log(0.01), top[1] + kernels.Log(0.01)}
	if s.minRatio >= 0.01 {
		start = []float64{top[0] + kernels.Log(0.1), top[1] + kernels.Log(0.1)}
	}
	grid := 10
	if o.Quick {
		grid = 4
	}
	v.visits.found = nil
	for _, m := range []contestant{
		{"trust-region", "trust region", func(ctx context.Context, f search.Objective, so search.Options) (*search.Result, error) {
			return search.TrustRegion(ctx, f, start, box, so)
		}},
		descent(start, box, search.Exact),
		descent(start, box, search.Approx),
		gridOf(fmt.Sprintf("grid of %d × %d", grid, grid), product(top, depth, grid)),
		randomly(box, s.baseline),
		parzen(box, s.baseline),
	} {
		o.say(d.Name + ": " + m.label)
		f, err := crossValidation(d.X, d.Y, o.Threads, elasticNet)
		if err != nil {
			return err
		}
		if _, err := v.visits.add(ctx, d.Name, m, f, top); err != nil {
			return err
		}
	}
	sets := chart.Chart{
		Title: d.Name + ", elastic net, 5 folds", X: "ℓ1 strength as a share of αmax", Y: "ridge as a share of αmax", LogX: true, LogY: true, Levels: levels,
	}
	for _, name := range []string{"trust-region", "gradient", "random", "tpe"} {
		spots := first(v.visits.spots[name], 25) // as in the paper
		spots.Name = ""                          // the chart beside it has the names, and these points need the space
		sets.Series = append(sets.Series, spots)
	}
	v.panels = append(v.panels, []chart.Chart{sets, v.visits.excess(d.Name + ": best so far")})
	summary := v.visits.summary(d.Name)
	v.summary.Columns = summary.Columns
	v.summary.Rows = append(v.summary.Rows, summary.Rows...)
	return nil
}

// product is a grid over both strengths: for each ridge strength, the ℓ1 strength decreases.
func product(top []float64, depth float64, side int) [][]float64 {
	points := make([][]float64, 0, side*side)
	for _, ridge := range search.Geometric(top[1], depth, side) {
		for _, l1 := range search.Geometric(top[0], depth, side) {
			points = append(points, []float64{l1[0], ridge[0]})
		}
	}
	return points
}

func (v *elasticNets) surface(ctx context.Context, d Data, o Options, top []float64, depth float64, side int) (*chart.Levels, error) {
	v.levels.Columns = []string{"data", "ratio_1", "ratio_2", "cv_error", "support"}
	f, err := crossValidation(d.X, d.Y, o.Threads, elasticNet)
	if err != nil {
		return nil, err
	}
	levels := &chart.Levels{}
	for k, l := range product(top, depth, side) {
		o.say(fmt.Sprintf("%s: level sets, %d of %d", d.Name, k+1, side*side))
		e, err := f.Eval(ctx, search.Request{LogLambda: l, Tol: 1e-4, ValueOnly: true})
		if err != nil {
			return nil, err
		}
		one, two := kernels.Exp(l[0]-top[0]), kernels.Exp(l[1]-top[1])
		v.levels.Add(d.Name, one, two, e.Value, e.Support)
		if k%side == 0 {
			levels.Y, levels.At = append(levels.Y, two), append(levels.At, nil)
		}
		if k < side {
			levels.X = append(levels.X, one)
		}
		row := &levels.At[len(levels.At)-1]
		*row = append(*row, e.Value)
	}
	slices.Reverse(levels.X) // solved from large to small strengths, drawn from small to large
	slices.Reverse(levels.Y)
	slices.Reverse(levels.At)
	for _, row := range levels.At {
		slices.Reverse(row)
	}
	return levels, nil
}
