package pare

import (
	"cmp"
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
	Auto         Search = "auto"       // the secant method for one λ, else gradient descent
	GradientStep Search = "gradient"   // the paper's gradient descent, repaired
	LineSearch   Search = "linesearch" // gradient descent, each step shortened until the value falls
	LBFGS        Search = "lbfgs"      // limited-memory BFGS
	Adam         Search = "adam"
	Grid         Search = "grid"   // a geometric grid down from αmax
	Random       Search = "random" // points drawn from the box
	TPE          Search = "tpe"    // tree-structured Parzen estimator
)

// Searches lists the outer methods there are.
func Searches() []Search {
	return []Search{Auto, GradientStep, LineSearch, LBFGS, Adam, Grid, Random, TPE}
}

// SelectOptions say how to choose λ. The zero value is ready to use.
type SelectOptions struct {
	Validation Validation
	Search     Search // "" means Auto
	// Start is the first α as a share of αmax; 0 means 0.01, or 0.1 for dense data
	// with fewer rows than columns. For an [SVM] it is the first C; 0 means 1.
	Start float64
	// PerClass chooses one λ for each class of [Multiclass], from the best share of
	// αmax that serves all, where the search ends otherwise. It lowers the criterion,
	// and has raised the loss on new data as often as not.
	PerClass bool
	// OneSE asks for the one-standard-error choice besides, at a few evaluations that
	// do not count against the budget: by cross-validation, for models with one λ and
	// an αmax, and for [Multiclass].
	OneSE bool
	// Schedule says how the tolerances of inner problems reach that of the Config, by
	// gradient methods; "" means search.Auto, which begins loose.
	Schedule search.Schedule
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
	LogLambda []float64
	Value     float64 // the criterion there
	// Gradient is the hypergradient there, nil for a grid. Where one share of αmax
	// was chosen for all classes, it has one entry, the slope by its logarithm.
	Gradient    []float64
	NullValue   float64 // the criterion of the null model: no column is used
	Sigma       float64 // the noise level, of [SURE], [AIC] and [BIC]
	Evaluations []search.Evaluation
	// Status says why the search ended: Stationary, Kink, Flat, Box, Budget, Cancelled
	// or Failed, where Err says what failed: the criterion, or saving the log.
	Status outcome.Status
	Err    error
	Final  *Fitted // nil where ctx ended before an evaluation was done
	// OneSE is the largest λ, to a hundredth, at which the criterion has not yet
	// exceeded Value by its standard error over the folds. nil where not asked for.
	OneSE *search.Evaluation

	SecondsSearch, SecondsRefit, SecondsOneSE float64
}

// Select chooses λ by minimising the validation criterion, and refits on all
// rows. When ctx ends, the best point so far is returned with status Cancelled, and
// with status Failed where the criterion breaks off after an evaluation; it is never
// one at which the criterion is not a number. With Cancelled, Final is the point the refit started from, with its true gap: Cancelled
// too, unless that is within the tolerance.
func Select(ctx context.Context, x sparse.Matrix, y []float64, o SelectOptions, c Config) (*Selection, error) {
	c.Certify = false
	e, err := newEngine(x, y, c)
	if err != nil {
		return nil, err
	}
	if len(e.family.ranges) == 0 {
		return nil, unserved(e.config.Model)
	}
	if o.Start == 0 {
		o.Start = cmp.Or(e.family.start, defaultStart(x))
	}
	switch {
	case !(o.Start > 0) || math.IsInf(o.Start, 0):
		return nil, outcome.At(outcome.BadParameter, "start", "must be positive and finite, got %g", o.Start)
	case o.Search == Grid && math.IsNaN(e.max()[0]):
		return nil, outcome.At(outcome.Usage, "search", "%s has no αmax for a grid to begin at; %s and %s begin at C = 1", e.config.Model, Auto, GradientStep)
	case o.PerClass && !e.family.common:
		return nil, outcome.At(outcome.Usage, "per-class", "%s has one predictor; %s has one for each class", e.config.Model, Multiclass)
	case o.PerClass && o.Search == Grid:
		return nil, outcome.At(outcome.Usage, "per-class", "a grid is searched for one share of αmax; %s and %s choose one λ for each class", Auto, GradientStep)
	}
	problem, sigma, err := e.choice(ctx, o.Validation)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	out := &Selection{NullValue: problem.NullValue(), Sigma: sigma}
	if slices.ContainsFunc(e.max(), func(l float64) bool { return math.IsInf(l, -1) }) {
		// Every column is orthogonal to y: β = 0 for every λ.
		return nil, outcome.Errorf(outcome.BadParameter, "αmax is 0: the target does not depend on any column, or not with the sign allowed, so there is no λ to choose")
	}
	result, err := e.search(ctx, problem, o)
	if err != nil {
		if result == nil || result.Best.LogLambda == nil {
			return nil, err
		}
		result.Status, out.Err = outcome.Failed, err
	}
	out.Status, out.Evaluations = result.Status, result.Evaluations
	out.LogLambda, out.Value, out.Gradient = result.Best.LogLambda, result.Best.Value, result.Best.Gradient
	out.SecondsSearch = time.Since(began).Seconds()
	if out.LogLambda == nil {
		return out, nil
	}
	began = time.Now()
	if out.Final, err = e.fit(ctx, out.LogLambda); err != nil {
		return nil, err
	}
	out.SecondsRefit = time.Since(began).Seconds()
	if e.hasOneSE(o, out.Status) {
		began = time.Now()
		seen := out.Evaluations
		if o.PerClass {
			seen = nil // they are off the line
		}
		if out.OneSE, err = e.oneSE(ctx, problem, result.Best, seen); err != nil {
			return nil, err
		}
		out.SecondsOneSE = time.Since(began).Seconds()
	}
	return out, nil
}

func defaultStart(x sparse.Matrix) float64 {
	if _, dense := x.(*sparse.Dense); dense {
		if n, p := x.Dims(); n < p {
			return 0.1
		}
	}
	return 0.01
}

// search minimises over λ; where one share of αmax may serve all, over that, and
// from there over all λ's if they were asked for.
func (e *engine) search(ctx context.Context, f outer, o SelectOptions) (*search.Result, error) {
	top, options := slices.Clone(e.max()), search.Options{
		Evaluations: o.Evaluations, Progress: o.Progress,
		Tol: e.config.Tol, Schedule: cmp.Or(o.Schedule, search.Auto),
	}
	for i, l := range top {
		if math.IsNaN(l) {
			top[i] = 0 // no αmax: λ itself
		}
	}
	if o.Search != Grid && o.Evaluations == 0 {
		options.Evaluations = budget
	}
	if !e.family.common {
		return e.minimise(ctx, f, top, e.starts(top, o), o, options)
	}
	line := ray{f, top}
	if o.Progress != nil {
		options.Progress = func(at search.Evaluation) { o.Progress(line.lift(at)) }
	}
	origin := []float64{0}
	first, err := e.minimise(ctx, line, origin, e.starts(origin, o), o, options)
	if err != nil {
		return nil, err
	}
	first.Best = line.lift(first.Best)
	for i, at := range first.Evaluations {
		first.Evaluations[i] = line.lift(at)
	}
	options.Evaluations -= len(first.Evaluations)
	options.Progress, options.Schedule = o.Progress, search.Exact
	if !o.PerClass || !first.Status.OK() || first.Status == outcome.Flat || options.Evaluations <= 0 {
		return first, nil
	}
	second, err := e.minimise(ctx, f, top, first.Best.LogLambda, o, options)
	if err != nil {
		return nil, err
	}
	second.Evaluations = append(first.Evaluations, second.Evaluations...)
	if !(second.Best.Value <= first.Best.Value) {
		second.Best = first.Best
	}
	return second, nil
}

// budget is the number of evaluations where none is stated.
const budget = 50

// starts returns where a search starts whose origins stand for αmax.
func (e *engine) starts(origins []float64, o SelectOptions) []float64 {
	start := slices.Clone(origins)
	for i := range start {
		start[i] += kernels.Log(o.Start)
	}
	return start
}

// minimise runs the method asked for.
func (e *engine) minimise(ctx context.Context, f search.Objective, origins, start []float64, o SelectOptions, options search.Options) (*search.Result, error) {
	var box search.Box
	for i, origin := range origins {
		within := e.family.ranges[min(i, len(e.family.ranges)-1)]
		box.Lower = append(box.Lower, origin-within.below)
		box.Upper = append(box.Upper, origin+within.above)
	}
	switch method := o.Search; {
	case method == Grid:
		points, err := o.grid(origins)
		if err != nil {
			return nil, err
		}
		return search.Grid(ctx, f, points, options)
	case method == GradientStep, (method == Auto || method == "") && len(start) > 1:
		return search.Gradient(ctx, f, start, box, options)
	case method == Auto, method == "":
		return search.Secant(ctx, f, start[0], box, options)
	case method == LineSearch:
		return search.LineSearch(ctx, f, start, box, options)
	case method == LBFGS:
		return lbfgs(ctx, f, start, box, options)
	case method == Adam:
		return search.Adam(ctx, f, start, box, search.AdamOptions{Options: options})
	case method == Random:
		return search.Random(ctx, f, box, o.Validation.Seed, options)
	case method == TPE:
		return search.TPE(ctx, f, box, search.TPEOptions{Options: options, Seed: o.Validation.Seed})
	default:
		return nil, outcome.At(outcome.Usage, "search", "no search %q; there are %v", o.Search, Searches())
	}
}

// lbfgs keeps the vectors of evaluations, which the method itself, made for many λ's,
// does not.
func lbfgs(ctx context.Context, f search.Objective, start []float64, box search.Box, options search.Options) (*search.Result, error) {
	var seen []search.Evaluation
	progress := options.Progress
	options.Progress = func(e search.Evaluation) {
		seen = append(seen, e)
		if progress != nil {
			progress(e)
		}
	}
	result, err := search.LBFGS(ctx, f, start, box, search.LBFGSOptions{Options: options})
	if err == nil {
		result.Evaluations = seen
	}
	return result, err
}

// ray is an objective on the line from a point on which all coordinates move
// alike.
type ray struct {
	search.Objective
	from []float64
}

// Eval implements [search.Objective].
func (r ray) Eval(ctx context.Context, request search.Request) (search.Evaluation, error) {
	shift := request.LogLambda
	request.LogLambda = r.at(shift)
	e, err := r.Objective.Eval(ctx, request)
	e.LogLambda = shift
	if e.Gradient != nil {
		var slope float64
		for _, g := range e.Gradient {
			slope += g
		}
		e.Gradient = []float64{slope}
	}
	return e, err
}

func (r ray) at(shift []float64) []float64 {
	x := make([]float64, len(r.from))
	for i, from := range r.from {
		x[i] = from + shift[0]
	}
	return x
}

// lift names the point of an evaluation on the line by all its coordinates.
func (r ray) lift(e search.Evaluation) search.Evaluation {
	if e.LogLambda != nil {
		e.LogLambda = r.at(e.LogLambda)
	}
	return e
}

// grid returns the points of a grid search: for two λ's, the product of two
// geometric grids, ⌊√Points⌋ a side.
func (o SelectOptions) grid(top []float64) ([][]float64, error) {
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
	if len(top) == 1 {
		return search.Geometric(top[0], span, o.Points), nil
	}
	side := int(math.Sqrt(float64(o.Points)))
	var points [][]float64
	for _, second := range search.Geometric(top[1], span, side) {
		for _, first := range search.Geometric(top[0], span, side) {
			points = append(points, []float64{first[0], second[0]})
		}
	}
	return points, nil
}
