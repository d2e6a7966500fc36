package pare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Search names an outer method.
type Search string

// The outer methods.
const (
	// Auto is the secant method for one λ, and a trust region for two. For more it begins
	// with one share of αmax for all, and goes on by a trust region; by L-BFGS for one of
	// each column.
	Auto         Search = "auto"
	GradientStep Search = "gradient"   // the paper's gradient descent, repaired
	LineSearch   Search = "linesearch" // gradient descent, each step shortened until the value falls
	LBFGS        Search = "lbfgs"      // limited-memory BFGS
	Adam         Search = "adam"
	Grid         Search = "grid"   // a geometric grid down from αmax
	Random       Search = "random" // points drawn from the box
	Halton       Search = "halton" // points of Halton's sequence in the box
	TPE          Search = "tpe"    // tree-structured Parzen estimator
)

// Searches lists the outer methods there are.
func Searches() []Search {
	return []Search{Auto, GradientStep, LineSearch, LBFGS, Adam, Grid, Random, Halton, TPE}
}

// SelectOptions say how to choose λ. The zero value is ready to use.
type SelectOptions struct {
	Validation Validation
	Search     Search // "" means Auto
	// Start is the first α as a share of αmax; 0 means 0.01, or 0.1 for dense data
	// with fewer rows than columns. For an [SVM] it is the first C; 0 means one over
	// the mean squared norm of a row, but not more than 1.
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
	// Evaluations is the budget; 0 means 50, or the size of the grid, or 15 for the
	// weighted Lasso.
	Evaluations int
	// Points and MinRatio describe the grid: α from αmax down to MinRatio·αmax, where
	// Random, Halton and TPE draw, too. 0 means 100 and 0.001. The others have neither.
	Points   int
	MinRatio float64
	// Progress, where set, is called after every evaluation that Log does not answer, on
	// the goroutine of Select.
	Progress func(search.Evaluation)
	// Log, where set, answers the evaluations it holds and keeps the others: a search
	// that was interrupted goes on where it was. Data and options must be the same.
	Log *search.Log
}

// Selection is a chosen λ and the model refitted at it on all rows.
type Selection struct {
	LogLambda []float64 // one per hyperparameter; nil where ctx ended before an evaluation was done
	Value     float64   // the criterion there; NaN without
	// Gradient is the hypergradient there, nil for a grid. Where one share of αmax
	// was chosen for all classes, it has one entry, the slope by its logarithm.
	Gradient []float64
	// Test is the criterion there on the rows that Validation.FoldIDs keeps for testing,
	// where Tested says that there are such. Only the weighted Lasso looks at them: its
	// search ends when they no longer gain.
	Test   float64
	Tested bool
	// Common is the best point with one share of αmax for all λ's, where the search
	// went on from there: for the weighted Lasso and PerClass, and for the elastic net
	// where the criterion has no second derivatives.
	Common      *search.Evaluation
	NullValue   float64 // the criterion of the null model: no column is used
	Sigma       float64 // the noise level, of [SURE], [AIC] and [BIC]
	Evaluations []search.Evaluation
	// Status says why the search ended: Stationary, Kink, Flat, Box, Budget, Cancelled
	// or Failed, where Err says what failed: the criterion, or saving the log.
	Status outcome.Status
	Err    error
	Final  *Fitted // nil without LogLambda
	// OneSE is the largest λ, to a hundredth, at which the criterion has not yet
	// exceeded Value by its standard error over the folds. nil where it was not asked for,
	// where [SelectOptions].OneSE does not go with the rest, and where ctx ended before.
	OneSE *search.Evaluation

	SecondsSearch, SecondsRefit, SecondsOneSE float64
}

// Select chooses λ by minimising the validation criterion, and refits on all
// rows. When ctx ends, the best point so far is returned with status Cancelled, and
// with status Failed where the criterion breaks off after an evaluation; it is never
// one at which the criterion is not a number. With Cancelled, Final is the point the
// refit started from, with its true gap: Cancelled too, unless that is within the
// tolerance. See [Fit] for the errors.
func Select(ctx context.Context, x sparse.Matrix, y []float64, o SelectOptions, c Config) (*Selection, error) {
	certify := c.Certify
	c.Certify = false // of gradients
	e, err := newEngine(x, y, c)
	if err != nil {
		return nil, err
	}
	if o, err = e.resolve(o); err != nil {
		return nil, err
	}
	if err := e.checkStrengths(); err != nil {
		return nil, err
	}
	columns := e.family.hyperparameters == perColumn
	single := e // what has one λ for all, or each
	if columns {
		c.Model = Lasso
		if single, err = newEngine(x, y, c); err != nil {
			return nil, err
		}
	}
	spec, err := single.choice(ctx, o.Validation)
	if err != nil {
		return nil, err
	}
	if columns { // the problems of one λ for all are there beside those of each
		if err := e.afford(2 * (e.atOnce() + e.solvers(spec.Folds))); err != nil {
			return nil, err
		}
		spec.Solver = e.solver()
	}
	problem, err := single.outer(spec)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	out := &Selection{NullValue: problem.NullValue(), Sigma: noiseLevel(spec)}
	var result, common *search.Result
	if columns {
		result, common, err = e.searchColumns(ctx, single, problem, spec, o)
	} else {
		result, common, err = e.search(ctx, problem, o)
	}
	if err != nil {
		if result == nil || result.Best.LogLambda == nil {
			return nil, err
		}
		result.Status, out.Err = outcome.Failed, err
	}
	out.Status, out.Evaluations = result.Status, result.Evaluations
	out.LogLambda, out.Value, out.Gradient = result.Best.LogLambda, result.Best.Value, result.Best.Gradient
	out.Test, out.Tested = result.Best.Test, result.Best.Tested
	if common != nil {
		out.Common = &common.Best
	}
	out.SecondsSearch = time.Since(began).Seconds()
	if out.LogLambda == nil {
		out.Value = math.NaN()
		return out, nil
	}
	e.config.Certify = certify
	if err := e.conclude(ctx, problem, result.Best, o, out); err != nil {
		return nil, err
	}
	return out, nil
}

// conclude refits at the λ chosen, and makes the one-standard-error choice where it is
// asked for.
func (e *engine) conclude(ctx context.Context, problem outer, best search.Evaluation, o SelectOptions, out *Selection) (err error) {
	began := time.Now()
	if out.Final, err = e.fit(ctx, out.LogLambda); err != nil {
		return err
	}
	out.SecondsRefit = time.Since(began).Seconds() - out.Final.SecondsCertify
	if !e.hasOneSE(o, out.Status) {
		return nil
	}
	began = time.Now()
	seen := out.Evaluations
	if o.PerClass {
		seen = nil // they are off the line
	}
	out.OneSE, err = e.oneSE(ctx, problem, best, seen)
	out.SecondsOneSE = time.Since(began).Seconds()
	return err
}

// resolve fills in the defaults and refuses what the model does not have.
func (e *engine) resolve(o SelectOptions) (SelectOptions, error) {
	o.Search = cmp.Or(o.Search, Auto)
	points := slices.Contains([]Search{Grid, Random, Halton, TPE}, o.Search)
	switch {
	case points && o.Start != 0:
		return o, outcome.At(outcome.Usage, "start", "%s goes from no point to another; %s and %s do", o.Search, Auto, GradientStep)
	case points && o.Schedule != "" && o.Schedule != search.Auto:
		return o, outcome.At(outcome.Usage, "tol-schedule", "%s solves every point to the same tolerance; %s and %s begin loose", o.Search, Auto, GradientStep)
	case !points && o.MinRatio != 0:
		return o, outcome.At(outcome.Usage, "min-ratio", "bounds the points of %s, %s, %s and %s; %s goes as far as λ matters", Grid, Random, Halton, TPE, o.Search)
	case o.Search != Grid && o.Points != 0:
		return o, outcome.At(outcome.Usage, "points", "are those of %s; %s has a budget of evaluations", Grid, o.Search)
	}
	if o.Start == 0 {
		o.Start = e.start()
	}
	switch model := e.config.Model; {
	case !(o.Start > 0) || math.IsInf(o.Start, 0):
		return o, outcome.At(outcome.BadParameter, "start", "must be positive and finite, got %g", o.Start)
	case o.Search == Grid && model == SVM:
		return o, outcome.At(outcome.Usage, "search", "%s has no αmax for a grid to begin at; %s and %s begin at C = 1", model, Auto, GradientStep)
	case o.PerClass && !e.family.common:
		return o, outcome.At(outcome.Usage, "per-class", "%s has one predictor; %s has one for each class", model, Multiclass)
	case points && model == WeightedLasso:
		return o, outcome.At(outcome.Usage, "search", "%s has too many λ's for %s; %s and %s go by slopes", model, o.Search, Auto, GradientStep)
	case o.PerClass && o.Search == Grid:
		return o, outcome.At(outcome.Usage, "per-class", "a grid is searched for one share of αmax; %s and %s choose one λ for each class", Auto, GradientStep)
	}
	return o, nil
}

// checkStrengths refuses a choice where no λ changes anything.
func (e *engine) checkStrengths() error {
	nothing := func(why string) error {
		return outcome.Errorf(outcome.BadParameter, "αmax is 0: %s, so there is no λ to choose", why)
	}
	if e.hyperparameters == 0 {
		return nothing("there is no column")
	}
	class := slices.IndexFunc(e.max(), func(l float64) bool { return math.IsInf(l, -1) })
	switch {
	case class < 0:
		return nil
	case e.constant():
		return nothing("the target is the same in every row")
	case e.config.Model == Ridge:
		return nothing("no column varies")
	case !e.config.Positive:
		return nothing("the target does not depend on any column")
	case e.config.Model == Multiclass:
		return nothing(fmt.Sprintf("no column grows with class %g, as coefficients of 0 or more need", e.problem.(*oneVersusRest).classes[class]))
	default:
		return nothing("no column grows with the target, as coefficients of 0 or more need")
	}
}

// constant reports whether rows that count have one target.
func (e *engine) constant() bool {
	var seen []float64
	for i, t := range e.y {
		if e.config.Weights == nil || e.config.Weights[i] > 0 {
			seen = append(seen, t)
		}
	}
	return len(slices.Compact(seen)) == 1
}
