package pare

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Validation says which rows judge a λ. The zero value is 5-fold
// cross-validation on rows in file order; the criterion is the mean over folds
// of the loss on the fold's held-out rows: the mean squared error, or for
// logreg the mean logistic loss.
type Validation struct {
	// HoldOut validates on the last fold alone, or on fold 0 of FoldIDs.
	HoldOut bool
	Folds   int    // 0 means 5
	Shuffle bool   // permute the rows before dealing them into folds
	Seed    uint64 // of the permutation
	// FoldIDs gives every row's fold instead: ≥ 0 validates that fold, −1 always
	// trains, −2 is left out.
	FoldIDs []int
}

// folds resolves a validation for n rows.
func (v Validation) folds(n int) (bilevel.Folds, error) {
	if v.FoldIDs != nil {
		if v.HoldOut {
			if i := slices.IndexFunc(v.FoldIDs, func(id int) bool { return id > 0 }); i >= 0 {
				return nil, &outcome.Error{Kind: outcome.BadParameter, HasRow: true, Row: i, Flag: "fold-ids", Message: "for a hold-out 0 validates and −1 trains"}
			}
		}
		return bilevel.Folds(v.FoldIDs), nil
	}
	k := v.Folds
	if k == 0 {
		k = 5
	}
	if v.HoldOut {
		return bilevel.HoldOut(n, k, v.Shuffle, v.Seed)
	}
	return bilevel.KFold(n, k, v.Shuffle, v.Seed)
}

// Hypergradient is a criterion and its gradient in λ at one point. Over the
// folds, gap, KKT residual, bound and margin are the worst or, for the bound,
// the mean; counts are sums.
type Hypergradient struct {
	LogLambda    []float64
	LogLambdaMax []float64
	Value        float64
	Gradient     []float64 // ∂value/∂λ, one per hyperparameter

	RelativeGap float64
	KKT         float64
	Support     int // mean over folds
	// ErrorBound estimates the largest error of an entry of Gradient; it assumes
	// that the supports are right.
	ErrorBound        float64
	InjectivityMargin float64 // how far the systems are from singular; an estimate
	Iterations        int     // of conjugate gradients
	Epochs, Passes    int
	// Status is Converged, Flat where the solutions do not move with λ, or why
	// the gradient is not to be trusted.
	Status                        outcome.Status
	SecondsSolve, SecondsGradient float64 // summed over folds
	Kernels                       string
}

// Gradient returns the validation criterion and its hypergradient at one λ. See
// [Fit] for logLambda and the errors; when ctx ends, its error is returned.
func Gradient(ctx context.Context, x sparse.Matrix, y, logLambda []float64, v Validation, c Config) (*Hypergradient, error) {
	e, err := newEngine(x, y, c)
	if err != nil {
		return nil, err
	}
	if _, err := e.makePenalty(logLambda); err != nil {
		return nil, err
	}
	problem, err := e.bilevel(x, y, v)
	if err != nil {
		return nil, err
	}
	r, err := problem.Evaluate(ctx, search.Request{LogLambda: slices.Clone(logLambda)})
	if err != nil {
		return nil, err
	}
	return &Hypergradient{
		LogLambda:         r.LogLambda,
		LogLambdaMax:      e.logLambdaMax(),
		Value:             r.Value,
		Gradient:          r.Gradient,
		RelativeGap:       r.GapRelative,
		KKT:               r.KKT,
		Support:           r.Support,
		ErrorBound:        r.ErrorBound,
		InjectivityMargin: r.InjectivityMargin,
		Iterations:        r.Iterations,
		Epochs:            r.Epochs,
		Passes:            r.Passes,
		Status:            r.Status,
		SecondsSolve:      r.SecondsSolve,
		SecondsGradient:   r.SecondsGradient,
		Kernels:           e.k.Name,
	}, nil
}

// bilevel prepares the outer problem.
func (e *engine) bilevel(x sparse.Matrix, y []float64, v Validation) (*bilevel.Problem, error) {
	folds, err := v.folds(len(y))
	if err != nil {
		return nil, err
	}
	penalty, err := e.config.penalty()
	if err != nil {
		return nil, err
	}
	return bilevel.New(e.k, x, y, bilevel.Spec{
		Folds:     folds,
		Penalty:   penalty,
		Datafit:   e.config.datafit,
		Criterion: e.config.criterion(),
		Intercept: !e.config.NoIntercept,
		Solver:    e.config.solver(),
		Threads:   e.config.Threads,
	})
}

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

// The box of the search, in λ below ln αmax.
const (
	boxLasso = 12.0
	boxEnet  = 9.0
	boxRidge = 4.0 // the ridge may exceed αmax by this much
)

// Select chooses λ by minimising the validation criterion, and refits on all
// rows. When ctx ends, the best point so far is returned with status Cancelled,
// refitted as far as its own last solution goes.
func Select(ctx context.Context, x sparse.Matrix, y []float64, o SelectOptions, c Config) (*Selection, error) {
	e, err := newEngine(x, y, c)
	if err != nil {
		return nil, err
	}
	if e.config.Model == WeightedLasso {
		return nil, outcome.At(outcome.Usage, "model", "select chooses λ for %s, %s and %s; %s can be fitted and differentiated at a given λ", Lasso, ElasticNet, Logistic, WeightedLasso)
	}
	if o.Start == 0 {
		o.Start = defaultStart(x)
	}
	if !(o.Start > 0) || math.IsInf(o.Start, 0) {
		return nil, outcome.At(outcome.BadParameter, "start", "must be a positive share of αmax, got %g", o.Start)
	}
	problem, err := e.bilevel(x, y, o.Validation)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	out := &Selection{NullValue: problem.NullValue()}
	if math.IsInf(e.max, -1) {
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
	out.Final, err = e.solve(ctx, cd.New(e.fit), out.LogLambda)
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

func (e *engine) search(ctx context.Context, problem *bilevel.Problem, o SelectOptions) (*search.Result, error) {
	options := search.Options{Evaluations: o.Evaluations, Progress: o.Progress}
	r := e.hyperparameters()
	start := make([]float64, r)
	box := search.Box{Lower: make([]float64, r), Upper: make([]float64, r)}
	for i := range r {
		start[i] = e.max + kernels.Log(o.Start)
		box.Lower[i], box.Upper[i] = e.max-boxLasso, e.max
		if r > 1 {
			box.Lower[i] = e.max - boxEnet
		}
		if i == 1 {
			box.Upper[i] = e.max + boxRidge
		}
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
	if e.hyperparameters() == 1 {
		return search.Geometric(e.max, span, o.Points), nil
	}
	side := search.Geometric(e.max, span, int(math.Sqrt(float64(o.Points))))
	var points [][]float64
	for _, ridge := range side {
		for _, l1 := range side {
			points = append(points, []float64{l1[0], ridge[0]})
		}
	}
	return points, nil
}
