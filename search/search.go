// Package search minimises a criterion over λ, the vector of log-hyperparameters. It does not
// depend on any model: it works on an [Objective] and a [Box].
//
// Every method stays in the box, stops by a rule, uses no more evaluations than it is given,
// returns the best point seen, and reports why it stopped. The same objective gives the same
// evaluations, bit for bit, on every machine.
//
// [Scan] and [Secant] are for one λ, [TrustRegion] for a few, [Compass] for a few where the
// criterion jumps, and [LBFGS] for many; [Gradient] is the paper's descent, with repairs.
// [LineSearch], [Adam], [Grid], [Random], [Halton] and [TPE] are baselines.
package search

import (
	"context"
	"encoding/json"
	"math"

	"github.com/seed-45b9a24c/pare/internal/plain"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Request asks for one evaluation of an objective.
type Request struct {
	LogLambda []float64 // λ; the objective may keep but not modify it
	Tol       float64   // relative duality gap for the inner problems; 0 means the objective's own
	ValueOnly bool      // the gradient is not needed
	Rough     bool      // a gradient that is good enough for a step will do, without an error bound
	// From is an earlier point whose inner solutions are the warm start, if the objective has
	// kept them; nil means the solutions of the last evaluation.
	From []float64
	// Expected says that the search expects to end at this point, so that work that follows the
	// choice, such as the refit, may begin beside the evaluation.
	Expected bool
}

// Evaluation is the value, and the gradient if asked for, of an objective at one λ.
type Evaluation struct {
	LogLambda  []float64 // λ, r entries
	Value      float64
	FoldValues []float64 // the values of the folds, whose mean is Value; nil if Value is not such a mean
	Gradient   []float64 // ∂Value/∂λ, r entries; nil if only the value was asked for
	// Curvature is a positive semidefinite approximation of the second derivatives, such as the
	// Gauss–Newton matrix: r × r, row by row; nil if the objective has none. Only [TrustRegion]
	// uses it.
	Curvature []float64
	Tol       float64 // the relative duality gap reached
	Support   int     // the mean size of the supports, rounded
	// Trusted reports that value and gradient meet the tolerance asked for. Status is Converged
	// or Flat, or says why they do not; "" if the objective does not say.
	Trusted bool
	Status  outcome.Status
	// Test is the value on rows that no choice depends on, if Tested. Searches ignore it.
	Test   float64
	Tested bool
	// StandardError is the standard error of Value as an estimate of the loss on new rows: over
	// the folds, over the rows of a single hold-out or of leave-one-out, or from the noise of an
	// information criterion; 0 if unknown.
	StandardError float64
	// TrainLoss is the inner objective relative to that of the null model, the least over the
	// folds whose null model has a positive loss. Saturation is the mean size of the supports
	// relative to the largest possible size. 0 if unknown.
	TrainLoss, Saturation float64
	// Work is the cost of the evaluation in nanoseconds of the solvers' cost model: counted
	// operations, the same on every machine and for any number of threads.
	Work    float64
	Flat    bool    // the solutions do not change with λ here
	Seconds float64 // of wall-clock time
	Final   bool    // the search's final tolerance was asked for; set by the search
	// Expected is [Request].Expected; set by the search.
	Expected bool
	Memory   Memory `json:"-"` // for the [Log]; the search removes it
}

// MarshalJSON writes the fields by their names, and null for numbers that are not finite.
func (e Evaluation) MarshalJSON() ([]byte, error) { return plain.Marshal(e) }

// UnmarshalJSON reads what MarshalJSON wrote. In the place of numbers that were not finite, it
// sets λ to −Inf (a strength of 0), the value to NaN, and all other numbers to 0.
func (e *Evaluation) UnmarshalJSON(text []byte) error {
	type fields Evaluation // without methods
	read := struct {
		*fields
		LogLambda plain.LogLambda
	}{fields: (*fields)(e)}
	e.Value = math.NaN() // which null leaves as it is
	err := json.Unmarshal(text, &read)
	e.LogLambda = read.LogLambda
	return err
}

// Memory is the state of the objective on which later evaluations depend besides their requests,
// in the objective's own encoding. A [Log] keeps it, so that a resumed search has the same bits.
type Memory struct {
	Last []byte // the state that the next evaluation begins with; every evaluation replaces it
	Kept []byte // what the objective keeps of this evaluation for all that follow
}

// usable reports whether the value and the gradient of e are finite, so that a search can go on from e.
func (e *Evaluation) usable() bool {
	var sum float64
	for _, g := range e.Gradient {
		sum += math.Abs(g)
	}
	return finite(e.Value) && finite(sum)
}

// decrease returns the decrease of the value from here to next, −Inf if next is not usable.
// Unless here is at the final tolerance, the possible error of its value is added.
func decrease(here, next *Evaluation) float64 {
	if !next.usable() {
		return math.Inf(-1)
	}
	doubt := 0.0
	if !here.Final {
		doubt = valueError * here.Tol * math.Abs(here.Value)
	}
	return here.Value - next.Value + doubt
}

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// Objective is a function of λ to minimise. Searches do not call Eval concurrently. When ctx ends,
// Eval returns the error of ctx. The slices of an evaluation must not change after it has been
// returned. A value or slope that is not finite is not an error: searches avoid such a point. A
// panic ends the search with an error of kind Internal and the evaluations done before it.
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

// blocked reports whether descent along −g would leave the box at coordinate i
// of x.
func (b Box) blocked(i int, x, g float64) bool {
	return (g > 0 && x <= b.Lower[i]) || (g < 0 && x >= b.Upper[i])
}

// check returns an error if the box or the start is invalid.
func (b Box) check(start []float64) error {
	if len(start) == 0 || len(b.Lower) != len(start) || len(b.Upper) != len(start) {
		return outcome.Errorf(outcome.Shape, "start, lower and upper bound have %d, %d and %d entries", len(start), len(b.Lower), len(b.Upper))
	}
	for i, x := range start {
		if math.IsNaN(x) || !(b.Lower[i] <= b.Upper[i]) {
			return outcome.At(outcome.BadParameter, "box", "coordinate %d: start %g, bounds [%g, %g]", i, x, b.Lower[i], b.Upper[i])
		}
	}
	return nil
}

// Options bound a search. The zero value is ready to use.
type Options struct {
	// Evaluations is the maximum number of calls of the objective, with or without gradient,
	// including repeated points; 0 means 50.
	Evaluations int
	// Tol is the relative duality gap that the last evaluations ask for; 0 means the objective's
	// own, or 1e-6 under a schedule that begins with a looser one.
	Tol float64
	// Schedule says how tolerances decrease to Tol; "" means Exact. Methods that use only values
	// ask for Tol throughout.
	Schedule Schedule
	// Stop is the smallest gain, relative to the value, that is worth another evaluation: a
	// search ends when its local model predicts less. 0 means 1e-6.
	Stop float64
	// Progress, if not nil, is called after every evaluation that was not taken from Log.
	Progress func(Evaluation)
	// Log, if not nil, supplies the evaluations that it holds and records all others, so that an
	// interrupted search can be resumed. Logged is the number of its evaluations that belong to
	// earlier searches, if several use one log.
	Log    *Log
	Logged int
}

const (
	defaultEvaluations = 50
	defaultStop        = 1e-6
)

// withDefaults checks the options and fills in the defaults of Evaluations and Stop.
func (o Options) withDefaults() (Options, error) {
	if o.Evaluations < 0 {
		return o, outcome.At(outcome.BadParameter, "evaluations", "must not be negative, got %d", o.Evaluations)
	}
	if !(o.Stop >= 0) {
		return o, outcome.At(outcome.BadParameter, "stop", "must not be negative, got %g", o.Stop)
	}
	if !(o.Tol >= 0) || math.IsInf(o.Tol, 0) {
		return o, outcome.At(outcome.BadParameter, "tol", "must be finite and not negative, got %g", o.Tol)
	}
	if o.Evaluations == 0 {
		o.Evaluations = defaultEvaluations
	}
	if o.Stop == 0 {
		o.Stop = defaultStop
	}
	return o, nil
}

// Result is what a search has found, and how it ended.
type Result struct {
	// Best is the evaluation with the least finite value among those at the final tolerance, or
	// among all, if an error or ctx ended the search before there was one. If no value is finite,
	// Best has no λ, and its Value is NaN.
	Best        Evaluation
	Evaluations []Evaluation // all evaluations, in order
	// Status is Converged, NullModel, Stationary, Kink, Flat, Box, Exhausted, Budget or
	// Cancelled.
	Status outcome.Status
	// Seen sums up the path of [Scan]; zero for other methods.
	Seen Seen
}

// Seen is a range of λ in which a criterion was evaluated, and the number of local minima found
// there that are deeper than a tenth of its standard error.
type Seen struct {
	From, To float64
	Basins   int
}

const (
	// valueError times the gap reached is the relative error that a value may have.
	valueError = 10
	// zeroNorm is the norm up to which a gradient counts as 0.
	zeroNorm = 1e-300
	// kinkRatio is the ratio of the last curvature met in a search to the first
	// above which the end is a kink, where the slope changes sign without vanishing.
	kinkRatio = 30
)

// endStatus returns Kink or Stationary, by the curvatures met last and first.
func endStatus(last, first float64) outcome.Status {
	if last > kinkRatio*first {
		return outcome.Kink
	}
	return outcome.Stationary
}

// projectedNorm returns the norm of the gradient without the components that push
// against the border of the box, and whether there are any such components.
func projectedNorm(e *Evaluation, box Box) (norm float64, held bool) {
	var sum float64
	for i, g := range e.Gradient {
		if box.blocked(i, e.LogLambda[i], g) {
			held = true
			continue
		}
		sum = math.FMA(g, g, sum)
	}
	return math.Sqrt(sum), held
}
