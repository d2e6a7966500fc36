package goals

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/sparse"
)

// family is an inner problem that O8 does not cover, and how its targets are made.
type family struct {
	name   string
	config pare.Config
	target func(y []float64) []float64
	groups int // columns per group, 0: no groups
}

// otherFamilies lists these families.
func otherFamilies() []family {
	ridge := func(l loss.Loss) pare.Config { return pare.Config{Model: pare.Ridge, Loss: l} }
	return []family{
		{"logistic ridge", ridge(loss.Logistic{}), halved, 0},
		{"squared_hinge", pare.Config{Model: pare.SquaredHinge}, halved, 0},
		{"squared_hinge ridge", ridge(loss.SquaredHinge{}), halved, 0},
		{"smoothed_hinge ridge", ridge(loss.SmoothedHinge{}), halved, 0},
		{"poisson", pare.Config{Model: pare.Poisson}, counts, 0},
		{"poisson ridge", ridge(loss.Poisson{}), counts, 0},
		{"gamma", pare.Config{Model: pare.Gamma}, amounts, 0},
		{"gamma ridge", ridge(loss.Gamma{}), amounts, 0},
		{"tweedie", pare.Config{Model: pare.Tweedie}, counts, 0},
		{"tweedie ridge", ridge(loss.Tweedie{}), counts, 0},
		{"huber", pare.Config{Model: pare.Lasso, Loss: loss.Huber{Delta: 1}}, standard, 0},
		{"group", pare.Config{Model: pare.GroupLasso}, standard, 3},
		{"sparse_group", pare.Config{Model: pare.SparseGroup}, standard, 3},
		{"mcp", pare.Config{Model: pare.MCP}, standard, 0},
		{"scad", pare.Config{Model: pare.SCAD}, standard, 0},
		{"multinomial", pare.Config{Model: pare.Multinomial}, thirds, 0},
		{"multinomial_group", pare.Config{Model: pare.MultinomialGroup}, thirds, 0},
		{"svm with intercept", pare.Config{Model: pare.SVM, Intercept: true}, halved, 0},
		{"svr", pare.Config{Model: pare.SVR}, standard, 0},
		{"simplex_svr", pare.Config{Model: pare.SimplexSVR}, standard, 0},
	}
}

// standard returns y with mean 0 and standard deviation 1.
func standard(y []float64) []float64 {
	var mean, square float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		square += (v - mean) * (v - mean) / float64(len(y))
	}
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = (v - mean) / math.Sqrt(square)
	}
	return out
}

// meanSquareOne returns x with columns of mean square 1.
func meanSquareOne(x sparse.Matrix) (sparse.Matrix, error) {
	n, p := x.Dims()
	values := make([]float64, n*p)
	for j := range p {
		column := values[j*n:][:n]
		rows, entries := x.Column(j)
		var square float64
		for k, v := range entries {
			i := k
			if rows != nil {
				i = int(rows[k])
			}
			column[i] = v
			square += v * v / float64(n)
		}
		for i := range column {
			column[i] /= math.Sqrt(max(square, math.SmallestNonzeroFloat64))
		}
	}
	return sparse.NewDense(n, p, values)
}

// amounts returns targets above 0; counts returns whole numbers.
func amounts(y []float64) []float64 {
	out := standard(y)
	for i, v := range out {
		out[i] = kernels.Exp(v)
	}
	return out
}

func counts(y []float64) []float64 {
	out := amounts(y)
	for i, v := range out {
		out[i] = math.Floor(2 * v)
	}
	return out
}

// halved and thirds return classes of sizes as equal as y allows.
func halved(y []float64) []float64 {
	out, sorted := make([]float64, len(y)), slices.Sorted(slices.Values(y))
	cut := sorted[len(y)/2]
	for i, v := range y {
		if out[i] = -1; v > cut || v == cut && cut > sorted[0] {
			out[i] = 1
		}
	}
	return out
}

func thirds(y []float64) []float64 {
	out, sorted := make([]float64, len(y)), slices.Sorted(slices.Values(y))
	for i, v := range y {
		for _, cut := range []int{len(y) / 3, 2 * len(y) / 3} {
			if v > sorted[cut] {
				out[i]++
			}
		}
	}
	return out
}

// Families compares the choice of select with the best of 200 points, for the families that O8 does not cover.
func Families(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := &studies.Table{Columns: []string{"data", "family", "value chosen", "best of the grid", "above it", "in standard errors", "evaluations", "status"}}
	families := otherFamilies()
	names := make([]string, len(families))
	for k, f := range families {
		names[k] = f.name
	}
	chosen := o.Choose(names, len(names))
	sets, err := smallSets(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, f := range families {
		if !slices.Contains(chosen, f.name) {
			continue
		}
		for _, p := range sets {
			if o.Progress != nil {
				o.Progress(f.name + ", " + p.name)
			}
			p.y = f.target(p.y)
			if !f.config.Model.Traits().Intercept { // models on the simplex have no standardised columns
				if p.x, err = meanSquareOne(p.x); err != nil {
					return nil, err
				}
			}
			if err := besideGrid(ctx, t, f, p); err != nil {
				return nil, fmt.Errorf("%s on %s: %w", f.name, p.name, err)
			}
		}
	}
	return &studies.Result{Tables: map[string]studies.Table{"O10": *t}}, nil
}

// smallSets returns two data sets, if they exist, and a random one.
func smallSets(ctx context.Context, o studies.Options) ([]problem, error) {
	random, err := drawn{model: pare.Lasso}.draw(o.Seed, 1)
	if err != nil {
		return nil, err
	}
	sets := []problem{random}
	for _, name := range []string{"diabetes", "breast_cancer"} {
		d, err := o.Raw(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		sets = append(sets, problem{name, sparse.Compact(d.X.(*sparse.CSC)), d.Y, pare.Validation{}, referenceTol})
	}
	return sets, nil
}

// besideGrid adds a row: the criterion at the choice, solved again, and the best of a grid.
func besideGrid(ctx context.Context, t *studies.Table, f family, p problem) error {
	c := f.config
	c.Standardize, c.Threads = c.Model.Traits().Intercept, 1
	if _, columns := p.x.Dims(); f.groups > 0 {
		for j := range columns {
			c.Groups = append(c.Groups, j/f.groups)
		}
	}
	s, err := pare.Select(ctx, p.x, p.y, pare.SelectOptions{Validation: p.v}, c)
	if err != nil {
		return err
	}
	grid, err := f.points(p, c)
	if err != nil {
		return err
	}
	c.Tol = referenceTol
	best, at, spread := s.NullValue, s.NullValue, math.NaN()
	place := 0
	if s.Status != "null_model" {
		for place < len(grid) && grid[place][0] > s.LogLambda[0] { // a path descends
			place++
		}
		grid = slices.Insert(grid, place, s.LogLambda)
	} else {
		place = -1
	}
	k := 0
	for e, err := range pare.Validate(ctx, p.x, p.y, grid, p.v, c) {
		if err != nil {
			return err
		}
		if k == place {
			at, spread = e.Value, e.StandardError
		} else {
			best = min(best, e.Value)
		}
		k++
	}
	t.Add(p.name, f.name, at, best, (at-best)/best, (at-best)/spread, len(s.Evaluations), string(s.Status))
	return nil
}

// points returns a grid of 200 points from αmax to αmax·1e-4, for ridge from e⁴ to 1e-7 times αmax. For support
// vectors C goes from e⁴ to e⁻¹² and ε from 1 to e⁻⁵, for columns and targets of standard deviation 1; on the
// simplex, where n·C matters, C goes from e⁴ to e⁻¹².
func (f family) points(p problem, c pare.Config) (grid [][]float64, err error) {
	switch c.Model.Traits().Strengths { //nolint:exhaustive // the others have one α
	case pare.Cost:
		for _, l := range downFrom(4, 16, gridPoints) {
			grid = append(grid, []float64{l})
		}
		return grid, nil
	case pare.CostAndTube:
		for _, l := range downFrom(4, 16, gridPoints/tubes) {
			for _, epsilon := range downFrom(0, 5, tubes) {
				grid = append(grid, []float64{l, epsilon})
			}
		}
		return grid, nil
	}
	top, err := pare.LogLambdaMax(p.x, p.y, c)
	if err != nil {
		return nil, err
	}
	above, below := 0.1, math.Log(1e4)
	if c.Model.Traits().Dense {
		above, below = 4, math.Log(1e7)
	}
	for _, l := range downFrom(top[0]+above, above+below, gridPoints) {
		grid = append(grid, []float64{l})
	}
	return grid, nil
}

// tubes is the number of values of ε in a grid of 200 points.
const tubes = 10

// downFrom returns count points, evenly spaced, from top down to top − span.
func downFrom(top, span float64, count int) []float64 {
	points := make([]float64, count)
	for k := range points {
		points[k] = top - span*float64(k)/float64(count-1)
	}
	return points
}
