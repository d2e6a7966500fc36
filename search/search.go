// Package search is the outer loop: from one λ to the next. It knows no model;
// it sees an [Objective], a box, and nothing else. Coordinates are
// log-hyperparameters throughout.
//
// Every method stays in the box, stops by a rule, returns the best point seen,
// and says why it stopped.
package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Request asks for one evaluation of an objective.
type Request struct {
	LogLambda []float64
	Tol       float64 // relative gap of the inner problems; 0: the objective's own
	ValueOnly bool    // the gradient is not needed
}

// Evaluation is an objective at one λ.
type Evaluation struct {
	LogLambda []float64
	Value     float64
	Gradient  []float64 // nil for a value alone
	Tol       float64   // the relative gap reached
	Support   int       // mean size of the supports, rounded
	// Trusted reports whether value and gradient meet the tolerance asked for.
	Trusted bool
	// Flat reports that the solutions do not move with λ here.
	Flat    bool
	Seconds float64
}

// norm returns ‖∇L‖₂, 0 without a gradient.
func (e *Evaluation) norm() float64 {
	var sum float64
	for _, g := range e.Gradient {
		sum = math.FMA(g, g, sum)
	}
	return math.Sqrt(sum)
}

// Objective is a function of λ to minimise. Evaluations are not concurrent. An
// evaluation that ctx interrupts returns ctx's error.
type Objective interface {
	Eval(ctx context.Context, r Request) (Evaluation, error)
}

// Box bounds every coordinate of λ.
type Box struct{ Lower, Upper []float64 }

// clamp moves x into the box.
func (b Box) clamp(x []float64) {
	for i := range x {
		x[i] = min(max(x[i], b.Lower[i]), b.Upper[i])
	}
}

// Options bound a search. The zero value is ready to use.
type Options struct {
	// Evaluations is the budget: one evaluation is one λ on all folds, value
	// only or not. 0 means 50.
	Evaluations int
	// Tol is the relative gap asked of every evaluation; 0: the objective's own.
	Tol float64
	// Stop is the gain, relative to the value, that is not worth another
	// evaluation: a search ends where its local model promises less. 0 means 1e-6.
	Stop float64
	// Progress, where set, is called after every evaluation.
	Progress func(Evaluation)
}

const (
	defaultEvaluations = 50
	defaultStop        = 1e-6
	// sharpness is how many times the curvature met at the end of a search must
	// exceed the one met at its first bracket for the end to be a kink, where the
	// slope changes sign without vanishing.
	sharpness = 30
)

// ended tells a smooth minimum from a kink by the curvature met last and first.
func ended(last, first float64) outcome.Status {
	if last > sharpness*first {
		return outcome.Kink
	}
	return outcome.Stationary
}

// Result is how a search ended.
type Result struct {
	Best        Evaluation   // the evaluation of least value
	Evaluations []Evaluation // all, in order
	// Status is Stationary, Kink, Flat, Box, Budget or Cancelled.
	Status outcome.Status
}

// recorder counts, reports and remembers evaluations.
type recorder struct {
	objective Objective
	options   Options
	result    Result
}

// errBudget ends a search from within.
type errBudget struct{}

func (errBudget) Error() string { return "search: evaluations used up" }

func newRecorder(f Objective, o Options) (*recorder, error) {
	if o.Evaluations < 0 {
		return nil, outcome.At(outcome.BadParameter, "evaluations", "must not be negative, got %d", o.Evaluations)
	}
	if !(o.Stop >= 0) {
		return nil, outcome.At(outcome.BadParameter, "stop", "must not be negative, got %g", o.Stop)
	}
	if o.Evaluations == 0 {
		o.Evaluations = defaultEvaluations
	}
	if o.Stop == 0 {
		o.Stop = defaultStop
	}
	return &recorder{objective: f, options: o}, nil
}

// checkBox returns the error of a box or start that cannot be searched.
func checkBox(start []float64, box Box) error {
	if len(start) == 0 || len(box.Lower) != len(start) || len(box.Upper) != len(start) {
		return outcome.Errorf(outcome.Shape, "start, lower and upper bound have %d, %d and %d entries", len(start), len(box.Lower), len(box.Upper))
	}
	for i, x := range start {
		if math.IsNaN(x) || !(box.Lower[i] <= box.Upper[i]) {
			return outcome.At(outcome.BadParameter, "box", "coordinate %d: start %g, bounds [%g, %g]", i, x, box.Lower[i], box.Upper[i])
		}
	}
	return nil
}

// eval evaluates the objective at a copy of x.
func (r *recorder) eval(ctx context.Context, x []float64, valueOnly bool) (*Evaluation, error) {
	if len(r.result.Evaluations) == r.options.Evaluations {
		return nil, errBudget{}
	}
	e, err := r.objective.Eval(ctx, Request{LogLambda: slices.Clone(x), Tol: r.options.Tol, ValueOnly: valueOnly})
	if err != nil {
		return nil, err
	}
	r.result.Evaluations = append(r.result.Evaluations, e)
	if r.options.Progress != nil {
		r.options.Progress(e)
	}
	return &r.result.Evaluations[len(r.result.Evaluations)-1], nil
}

// finish chooses the best point and turns an early end into a status. An error
// that is neither the budget nor ctx is returned with what there is.
func (r *recorder) finish(ctx context.Context, status outcome.Status, err error) (*Result, error) {
	out := &r.result
	out.Status = status
	for i := range out.Evaluations {
		e := &out.Evaluations[i]
		if !math.IsNaN(e.Value) && (out.Best.LogLambda == nil || e.Value < out.Best.Value) {
			out.Best = *e
		}
	}
	switch {
	case err == nil:
	case err == errBudget{}:
		out.Status, err = outcome.Budget, nil
	case ctx.Err() != nil:
		out.Status, err = outcome.Cancelled, nil
	}
	if err == nil && out.Best.LogLambda == nil && len(out.Evaluations) > 0 {
		err = outcome.Errorf(outcome.NonFinite, "the criterion is NaN at every λ tried")
	}
	return out, err
}
