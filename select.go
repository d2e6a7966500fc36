package pare

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Search names an outer method.
type Search string

// The outer methods.
const (
	Auto         Search = "auto"     // the secant method for one λ, else gradient descent
	GradientStep Search = "gradient" // the paper's gradient descent, repaired
	Grid         Search = "grid"     // a geometric grid down from αmax
)

// Searches lists the outer methods there are.
func Searches() []Search { return []Search{Auto, GradientStep, Grid} }

// SelectOptions say how to choose λ. The zero value is ready to use.
type SelectOptions struct {
	Validation Validation
	Search     Search // "" means Auto
	// Start is the first α as a share of αmax; 0 means 0.01, or 0.1 for dense data
	// with fewer rows than columns.
	Start float64
	// Evaluations is the budget; 0 means 50, or the size of the grid.
	Evaluations int
	// Points and MinRatio describe the grid: α from αmax down to MinRatio·αmax.
	// 0 means 100 and 0.001.
	Points   int
	MinRatio float64
	// Progress, where set, is called after every evaluation.
	Progress func(search.Evaluation)
}

// Selection is a chosen λ and the model refitted at it on all rows.
type Selection struct {
	LogLambda   []float64
	Value       float64   // the criterion there
	Gradient    []float64 // its hypergradient; nil for a grid
	NullValue   float64   // the criterion of predicting the training rows' mean
	Evaluations []search.Evaluation
	// Status says why the search ended: Stationary, Kink, Flat, Box, Budget or
	// Cancelled.
	Status outcome.Status
	Final  *Fitted // nil where ctx ended before an evaluation was done

	SecondsSearch, SecondsRefit float64
}

// Select chooses λ by minimising the validation criterion, and refits on all
// rows. When ctx ends, the best point so far is returned with status Cancelled,
// refitted as far as its own last solution goes.
func Select(ctx context.Context, x sparse.Matrix, y []float64, o SelectOptions, c Config) (*Selection, error) {
	e, err := newEngine(x, y, c)
	if err != nil {
		return nil, err
	}
	if len(e.family.ranges) == 0 {
		return nil, unserved(e.config.Model)
	}
	if o.Start == 0 {
		o.Start = defaultStart(x)
	}
	if !(o.Start > 0) || math.IsInf(o.Start, 0) {
		return nil, outcome.At(outcome.BadParameter, "start", "must be a positive share of αmax, got %g", o.Start)
	}
	problem, err := e.choice(o.Validation)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	out := &Selection{NullValue: problem.NullValue()}
	if slices.ContainsFunc(e.max(), func(l float64) bool { return math.IsInf(l, -1) }) {
		// Every column is orthogonal to y: β = 0 for every λ.
		return nil, outcome.Errorf(outcome.BadParameter, "αmax is 0: the target does not depend on any column, so there is no λ to choose")
	}
	result, err := e.search(ctx, problem, o)
	if err != nil {
		return nil, err
	}
	out.Status, out.Evaluations = result.Status, result.Evaluations
	out.LogLambda, out.Value, out.Gradient = result.Best.LogLambda, result.Best.Value, result.Best.Gradient
	out.SecondsSearch = time.Since(began).Seconds()
	if out.LogLambda == nil {
		return out, nil
	}
	began = time.Now()
	out.Final, err = e.fit(ctx, out.LogLambda)
	out.SecondsRefit = time.Since(began).Seconds()
	return out, err
}

func defaultStart(x sparse.Matrix) float64 {
	if _, dense := x.(*sparse.Dense); dense {
		if n, p := x.Dims(); n < p {
			return 0.1
		}
	}
	return 0.01
}

func (e *engine) search(ctx context.Context, problem outer, o SelectOptions) (*search.Result, error) {
	options := search.Options{Evaluations: o.Evaluations, Progress: o.Progress}
	top := e.max()
	r := len(top)
	start := make([]float64, r)
	box := search.Box{Lower: make([]float64, r), Upper: make([]float64, r)}
	for i, origin := range top {
		within := e.family.ranges[min(i, len(e.family.ranges)-1)]
		start[i] = origin + kernels.Log(o.Start)
		box.Lower[i], box.Upper[i] = origin-within.below, origin+within.above
	}
	switch method := o.Search; {
	case method == Grid:
		points, err := e.grid(o)
		if err != nil {
			return nil, err
		}
		return search.Grid(ctx, problem, points, options)
	case method == GradientStep, (method == Auto || method == "") && r > 1:
		return search.Gradient(ctx, problem, start, box, options)
	case method == Auto, method == "":
		return search.Secant(ctx, problem, start[0], box, options)
	default:
		return nil, outcome.At(outcome.Usage, "search", "no search %q; there are %v", o.Search, Searches())
	}
}

// grid returns the points of a grid search: for the elastic net, the product of
// two geometric grids, ⌊√Points⌋ a side.
func (e *engine) grid(o SelectOptions) ([][]float64, error) {
	if o.Points == 0 {
		o.Points = 100
	}
	if o.MinRatio == 0 {
		o.MinRatio = 0.001
	}
	if o.Points < 1 {
		return nil, outcome.At(outcome.BadParameter, "points", "must be at least 1, got %d", o.Points)
	}
	if !(o.MinRatio > 0 && o.MinRatio <= 1) {
		return nil, outcome.At(outcome.BadParameter, "min-ratio", "must be in (0, 1], got %g", o.MinRatio)
	}
	span := kernels.Log(o.MinRatio)
	top := e.max()
	if len(top) == 1 {
		return search.Geometric(top[0], span, o.Points), nil
	}
	side := search.Geometric(top[0], span, int(math.Sqrt(float64(o.Points))))
	var points [][]float64
	for _, ridge := range side {
		for _, l1 := range side {
			points = append(points, []float64{l1[0], ridge[0]})
		}
	}
	return points, nil
}
