package pare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/choose"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Search names an outer method.
type Search = choose.Search

// The outer methods.
const (
	// Auto scans before it descends where there is one λ: along a path from the null model
	// down, and then at the least point of a model of all it has seen. Two λ's are searched for
	// from the best of each alone by a trust region. For more it begins with one share of αmax
	// for all, and goes on by a trust region; by L-BFGS for one of each column.
	Auto         = choose.Auto
	GradientStep = choose.GradientStep // the paper's gradient descent, repaired
	LineSearch   = choose.LineSearch   // gradient descent, each step shortened until the value falls
	LBFGS        = choose.LBFGS        // limited-memory BFGS
	Adam         = choose.Adam
	Grid         = choose.Grid   // a geometric grid down from αmax
	Random       = choose.Random // points drawn from the box
	Halton       = choose.Halton // points of Halton's sequence in the box
	TPE          = choose.TPE    // tree-structured Parzen estimator
)

// Searches lists the outer methods there are.
func Searches() []Search { return choose.Searches() }

// SelectOptions say how to choose λ. The zero value is ready to use.
type SelectOptions struct {
	Validation Validation
	Search     Search // "" means Auto
	// Precision continues the choice by Auto to the last digits of Config.Tol. Without it one
	// λ is chosen to a hundredth of the criterion's standard error over the folds, or over
	// the rows of a hold-out; by [SURE], [AIC] and [BIC], which have none, to a ten-thousandth
	// of what the best gains over the null model.
	Precision bool
	// Start is the first α as a share of αmax, of searches that go from point to point; 0 means
	// 0.01, or 0.1 for dense data with fewer rows than columns. For an [SVM] it is the first C;
	// 0 means one over the mean squared norm of a row, but not more than 1. Auto has no use
	// for it but with an SVM.
	Start float64
	// PerClass chooses one λ for each class of [Multiclass], from the best share of
	// αmax that serves all, where the search ends otherwise. It lowers the criterion,
	// and has raised the loss on new data as often as not.
	PerClass bool
	// OneSE asks for the one-standard-error choice besides, at an evaluation or two that
	// do not count against the budget: by cross-validation, for models with one λ and
	// an αmax, and for [Multiclass]. TakeOneSE makes it the choice: the refit is there.
	OneSE, TakeOneSE bool
	// Relaxed asks for [Selection].Relaxed, see [Relax].
	Relaxed bool
	// Measures asks for [Selection].Measures, at an evaluation that does not count.
	Measures bool
	// Schedule says how the tolerances of inner problems reach that of the Config, by
	// gradient methods; "" means search.Auto, which begins loose. With search.Exact all
	// evaluations have the last tolerance.
	Schedule search.Schedule
	// From, where set, is an earlier selection by Auto, of the same model on nearly the same
	// data, such as yesterday's: the search goes on from its λ, inner problems begin at its
	// coefficients, and what it has seen of the criterion says how far to go. That takes one
	// to three evaluations where little has changed. Where it leads nowhere, the search begins
	// anew. Of other basins only those that the earlier search has seen are searched: select
	// without it now and then. Not for an [SVM]. It is not changed.
	From *Selection
	// Evaluations is the budget; 0 means 50, or the size of the grid, or for the weighted
	// Lasso 15 after those of one λ for all columns.
	Evaluations int
	// Points and MinRatio describe the grid: α from αmax down to MinRatio·αmax, where
	// Random, Halton and TPE draw, too. 0 means 100 and 0.001. The others have neither.
	Points   int
	MinRatio float64
	// Stop, where it is closed, and MaxDuration, where positive, end the search softly: the
	// refit at the best λ so far follows. A context that ends stops that, too.
	Stop        <-chan struct{}
	MaxDuration time.Duration
	// Lanes, where set, has the inner problems of folds and classes solved elsewhere: it returns
	// what runs the lanes of a job ([NewLanes], perhaps in other processes: see the module
	// distributed). The search, the one-standard-error choice's comparison and the refit stay
	// in this process. Results have the same bits.
	Lanes func(ctx context.Context, j Job) (bilevel.Runner, error)
	// Progress, where set, is called after every evaluation that Log does not answer, on
	// the goroutine of Select.
	Progress func(search.Evaluation)
	// Log, where set, answers the evaluations it holds and keeps the others: a search
	// that was interrupted goes on where it was, and ends with the bits of one with a Log
	// that was not. Data and options must be the same. Every evaluation begins with new
	// solvers then, which costs up to half as much again on small data, nothing on large.
	Log *search.Log
}

// Selection is a chosen λ and the model refitted at it on all rows.
type Selection struct {
	// LogLambda is the choice, one per hyperparameter; nil where the search was ended before
	// an evaluation was done. −Inf stands for a strength of the elastic net that is nothing:
	// its Lasso or its ridge is best.
	LogLambda []float64
	Value     float64 // the criterion there; NaN without
	// LogLambdaMax is ln αmax of all rows, as of [Fitted].
	LogLambdaMax []float64
	// StandardError is that of Value, over the folds or the rows of a hold-out; 0 where the
	// criterion has none.
	StandardError float64
	// Gradient is the hypergradient there, nil for a grid. Where one share of αmax
	// was chosen for all classes, it has one entry, the slope by its logarithm.
	Gradient []float64
	// Test is the criterion there on the rows that Validation.FoldIDs keeps for testing,
	// where Tested says that there are such. Only the weighted Lasso uses them: its
	// search ends when they no longer gain.
	Test   float64
	Tested bool
	// Common is the best point with one share of αmax for all λ's, where the search
	// went on from there: for the weighted Lasso and PerClass.
	Common      *search.Evaluation
	NullValue   float64 // the criterion of the null model: no column is used
	Sigma       float64 // the noise level, of [SURE], [AIC] and [BIC]
	Evaluations []search.Evaluation
	// Seen is the range of the first λ that Auto has scanned, and the basins found.
	Seen search.Seen
	// Status says why the search ended: Converged, NullModel where nothing beats the null
	// model, Stationary, Kink, Flat, Box, Exhausted, Budget, Cancelled, or Failed. Err says
	// what failed, the criterion or saving the log, or that ctx ended before the refit.
	Status outcome.Status
	Err    error
	// Final is nil where ctx has ended: there is no model then, only the best λ so far.
	Final *Fitted
	// OneSE is the most penalised λ at which the criterion does not clearly exceed Value by
	// its standard error over the folds. nil where it was not asked for, where
	// [SelectOptions].OneSE does not go with the rest, and where ctx ended before. With
	// TakeOneSE, LogLambda and Value are those of OneSE, and Least is the minimum.
	OneSE *search.Evaluation
	Least *search.Evaluation

	// Relaxed is Final without penalty on its support, and RelaxedValue the criterion of models
	// of the folds made likewise at LogLambda; NaN for [SURE], [AIC] and [BIC]. Where it is
	// below Value, the choice shrinks more than it should. nil where it was not asked for.
	Relaxed      *Fitted
	RelaxedValue float64

	// Measures are of predictions of held-out rows at the choice: the model's loss, and what is
	// usual of its target besides, the mean squared and absolute errors of numbers,
	// misclassification and the area under the ROC curve of classes. By cross-validation and
	// a hold-out, where they were asked for.
	Measures []Measure

	SecondsSearch, SecondsRefit, SecondsOneSE float64
}

// Select chooses λ by minimising the validation criterion, and refits on all
// rows. A search that was stopped returns the best point so far with status Cancelled or,
// by MaxDuration, Budget; with status Failed where the criterion breaks off after an
// evaluation. When ctx ends there is no refit: Final is nil, and Err says so. See [Fit] for
// the errors.
func Select(ctx context.Context, x sparse.Matrix, y []float64, o SelectOptions, c Config) (*Selection, error) {
	certify := c.Certify
	c.Certify = false // of gradients
	e, leave, err := admitted(ctx, x, y, c, &o.Validation)
	if err != nil {
		return nil, err
	}
	defer leave()
	if o, err = e.resolve(o); err != nil {
		return nil, err
	}
	if err := e.checkStrengths(); err != nil {
		return nil, err
	}
	began := time.Now()
	searching, soft := withStop(ctx, o)
	defer soft.end()
	t, err := e.task(searching, o)
	if err != nil {
		return nil, err
	}
	choosing := t.choosing(o)
	out := &Selection{NullValue: t.problem.NullValue(), Sigma: noiseLevel(t.spec), LogLambdaMax: slices.Clone(e.Max())}
	result, common, err := t.minimise(searching, choosing)
	if err != nil {
		if result == nil || result.Best.LogLambda == nil {
			return nil, err
		}
		result.Status, out.Err = outcome.Failed, err
	}
	if result.Status == outcome.Cancelled && soft.timed() {
		result.Status = outcome.Budget
	}
	out.take(result.Best)
	out.Status, out.Evaluations, out.Seen = result.Status, result.Evaluations, result.Seen
	if common != nil {
		out.Common = &common.Best
	}
	out.SecondsSearch = time.Since(began).Seconds()
	if out.LogLambda == nil {
		out.Value = math.NaN()
		return out, nil
	}
	e.config.Certify, e.of.Certify = certify, certify
	return out, t.conclude(ctx, result.Best, o, out)
}

// take makes a point the choice.
func (s *Selection) take(at search.Evaluation) {
	s.LogLambda, s.Value, s.StandardError, s.Gradient = at.LogLambda, at.Value, at.StandardError, at.Gradient
	s.Test, s.Tested = at.Test, at.Tested
}

// choosing returns the options of the policy.
func (o SelectOptions) choosing(c Config) choose.Options {
	return choose.Options{
		Search: o.Search, PerClass: o.PerClass, Precision: o.Precision, Evaluations: o.Evaluations, Points: o.Points, MinRatio: o.MinRatio,
		Schedule: o.Schedule, Tol: c.Tol, Seed: o.Validation.Seed, Progress: o.Progress, Log: o.Log,
	}
}

// resolve fills in the defaults and refuses what the model does not have.
func (e *engine) resolve(o SelectOptions) (SelectOptions, error) {
	o.Search = cmp.Or(o.Search, Auto)
	o.OneSE = o.OneSE || o.TakeOneSE
	if err := o.choosing(e.config).Check(); err != nil {
		return o, err
	}
	if err := e.checkFrom(o); err != nil {
		return o, err
	}
	if o.Search.Points() && o.Start != 0 {
		return o, outcome.At(outcome.Usage, "start", "has no effect with --search %s; it applies to searches from point to point such as %s", o.Search, GradientStep)
	}
	given := o.Start != 0
	if !given {
		o.Start = e.Start()
	}
	if o.Relaxed {
		if err := e.checkRelaxed(); err != nil {
			return o, err
		}
	}
	if !o.Search.Points() {
		if err := checkSmooth(o.Validation.Loss, "--search "+string(o.Search)); err != nil {
			return o, err
		}
	}
	switch model := e.config.Model; {
	case !(o.Start > 0) || math.IsInf(o.Start, 0):
		return o, outcome.At(outcome.BadParameter, "start", "must be positive and finite, got %g", o.Start)
	case given && o.Search == Auto && !e.family.samples:
		return o, outcome.At(outcome.Usage, "start", "has no effect with --search %s, which begins at αmax; it applies to searches from point to point such as %s", Auto, GradientStep)
	case o.MaxDuration < 0:
		return o, outcome.At(outcome.BadParameter, "max-seconds", "must not be negative, got %v", o.MaxDuration)
	case o.Search == Grid && e.family.samples:
		return o, outcome.At(outcome.Usage, "search", "%s has no αmax for a grid to begin at; use %s or %s", model, Auto, GradientStep)
	case o.PerClass && !e.family.form.Common:
		return o, outcome.At(outcome.Usage, "per-class", "%s has one predictor; %s has one for each class", model, Multiclass)
	case o.Search.Points() && e.family.strengths == EachColumn:
		return o, outcome.At(outcome.Usage, "search", "%s has one λ per column, too many for %s; use a gradient-based search", model, o.Search)
	case o.TakeOneSE && !e.hasOneSE(o, ""):
		return o, outcome.At(outcome.Usage, "one-se", "the one-standard-error rule needs cross-validation over two folds or more and a model with one λ and an αmax")
	}
	return o, nil
}

// hasOneSE reports whether the rule applies: cross-validation, and one direction towards
// sparser models.
func (e *engine) hasOneSE(o SelectOptions, status outcome.Status) bool {
	if v := o.Validation.Criterion; !o.OneSE || v != "" && v != CV || status == outcome.Failed {
		return false
	}
	top := e.Max()
	return (len(top) == 1 || e.family.form.Common) && !math.IsNaN(top[0])
}

// checkStrengths refuses a choice where no λ changes anything.
func (e *engine) checkStrengths() error {
	nothing := func(why string) error {
		return outcome.Errorf(outcome.BadParameter, "αmax is 0: %s, so there is no λ to choose", why)
	}
	if e.of.Count == 0 {
		return nothing("there is no column")
	}
	class := slices.IndexFunc(e.Max(), func(l float64) bool { return math.IsInf(l, -1) })
	switch {
	case class < 0:
		return nil
	case e.constant():
		return nothing("the target is the same in every row")
	case e.family.form.Dense:
		return nothing("no column varies")
	case !e.config.Positive:
		return nothing("the target does not depend on any column")
	case e.family.classes:
		labels, _, _ := bilevel.Classes(e.of.Y)
		return nothing(fmt.Sprintf("no column grows with class %g, as coefficients of 0 or more need", labels[class]))
	default:
		return nothing("no column grows with the target, as coefficients of 0 or more need")
	}
}

// constant reports whether rows that count have one target.
func (e *engine) constant() bool {
	var seen []float64
	for i, t := range e.of.Y {
		if e.config.Weights == nil || e.config.Weights[i] > 0 {
			seen = append(seen, t)
		}
	}
	return len(slices.Compact(seen)) == 1
}
