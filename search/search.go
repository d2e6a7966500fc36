// Package search is the outer loop: from one λ to the next. It knows no model;
// it sees an [Objective], a [Box], and nothing else. Coordinates are
// log-hyperparameters throughout.
//
// Every method stays in the box, stops by a rule, spends no more evaluations
// than it is given, returns the best point seen, and says why it stopped. The
// same objective gives the same evaluations, bit for bit, on every machine.
//
// [Secant] is for one λ, [TrustRegion] for few, [LBFGS] for many; [Gradient] is
// the paper's descent, repaired. [LineSearch], [Adam], [Grid], [Random],
// [Halton] and [TPE] are there to be compared with.
package search

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Request asks for one evaluation of an objective.
type Request struct {
	LogLambda []float64 // the objective may keep it, not change it
	Tol       float64   // relative gap of the inner problems; 0: the objective's own
	ValueOnly bool      // the gradient is not needed
	Rough     bool      // a gradient to step by will do, its error unknown
	// From is an evaluated point whose inner solutions to begin from, where the
	// objective has kept them; nil: those of the last evaluation.
	From []float64
}

// Evaluation is an objective at one λ.
type Evaluation struct {
	LogLambda []float64
	Value     float64
	// FoldValues are the values of the folds, of which Value is the mean; nil where the
	// objective is no mean over folds.
	FoldValues []float64
	Gradient   []float64 // one entry for each coordinate; nil for a value alone
	// Curvature is a positive semidefinite r × r matrix, row by row, that stands
	// for the second derivatives, such as that of Gauss and Newton; nil where the
	// objective knows none. Only [TrustRegion] uses it.
	Curvature []float64
	Tol       float64 // the relative gap reached
	Support   int     // mean size of the supports, rounded
	// Trusted reports whether value and gradient meet the tolerance asked for; Status
	// is Converged, Flat, or why not, where the objective says.
	Trusted bool
	Status  outcome.Status
	// Test is the value on rows that no choice depends on, where Tested says that
	// there are such. A search does not look at it.
	Test   float64
	Tested bool
	// StandardError is that of Value as an estimate of the loss on new rows: over the
	// folds, or over the rows of one hold-out. 0 where the objective knows none.
	StandardError float64
	// TrainLoss is the inner objective as a share of the null model's, the least over
	// the folds, and Saturation the mean size of the supports as a share of the most
	// that rows or columns allow. 0 where the objective does not say.
	TrainLoss, Saturation float64
	// Work counts what the evaluation cost, in nanoseconds of the solvers' cost model:
	// the same on every machine and for any number of threads.
	Work float64
	// Flat reports that the solutions do not move with λ here.
	Flat    bool
	Seconds float64
	// Final reports that the search's final tolerance was asked for. The search
	// sets it.
	Final bool
	// Memory is for the Log of a search, which takes it off.
	Memory Memory `json:"-"`
}

// Memory is what answers to come depend on besides their requests, in the objective's own
// encoding, of objectives that have been told to make it. A [Log] keeps it.
type Memory struct {
	Last []byte // what the next evaluation begins with: of use until there is another
	Kept []byte // what the objective remembers of this evaluation for good
}

// usable reports whether e can steer a search.
func (e *Evaluation) usable() bool {
	var sum float64
	for _, g := range e.Gradient {
		sum += math.Abs(g)
	}
	return finite(e.Value) && finite(sum)
}

// fall returns by how much the value falls from here to next, not positive where
// next cannot be gone on from. A loose value is given the benefit of its doubt.
func fall(here, next *Evaluation) float64 {
	if !next.usable() {
		return math.Inf(-1)
	}
	doubt := 0.0
	if !here.Final {
		doubt = noise * here.Tol * math.Abs(here.Value)
	}
	return here.Value - next.Value + doubt
}

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// Objective is a function of λ to minimise. Evaluations are not concurrent. An
// evaluation that ctx interrupts returns ctx's error. Its slices must not change
// after it was returned. A value or a slope that is not finite is a point to
// stay away from, not an error. A panic ends the search with an error of kind
// Internal and the evaluations done before it.
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

// check returns the error of a box or start that cannot be searched.
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
	// Evaluations is the budget: one evaluation is one λ on all folds, value
	// only or not, retried or not. 0 means 50.
	Evaluations int
	// Tol is the relative gap asked of evaluations in the end; 0: the objective's
	// own, or 1e-6 under a schedule that begins looser.
	Tol float64
	// Schedule says how tolerances reach Tol; "" means Exact. Methods that need
	// values alone ask for Tol throughout.
	Schedule Schedule
	// Stop is the gain, relative to the value, that is not worth another
	// evaluation: a search ends where its local model promises less. 0 means 1e-6.
	Stop float64
	// Progress, where set, is called after every evaluation, but for those that
	// Log answers.
	Progress func(Evaluation)
	// Log, where set, answers the evaluations it holds and keeps the others, so
	// that a search that was interrupted can be resumed. Logged is how many of its
	// evaluations belong to searches before this one, where one follows another.
	Log    *Log
	Logged int
}

const (
	defaultEvaluations = 50
	defaultStop        = 1e-6
)

// withDefaults checks the options and fills in what was left 0.
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

// Result is how a search ended.
type Result struct {
	// Best is the evaluation of least value, NaN and −∞ aside, among those at the final
	// tolerance; where an error or ctx ended the search before there was a finite one, of
	// all.
	Best        Evaluation
	Evaluations []Evaluation // all, in order
	// Status is Converged, NullModel, Stationary, Kink, Flat, Box, Exhausted, Budget or
	// Cancelled.
	Status outcome.Status
	// Seen is what [Scan] saw before it descended; zero for other methods.
	Seen Seen
}

// Seen is a range of λ in which a criterion was looked at, and the number of basins found
// there that are deeper than a tenth of its standard error.
type Seen struct {
	From, To float64
	Basins   int
}

const (
	// noise times the gap reached is what a value, as a share of itself, may err by.
	noise = 10
	// leastNormal is the norm below which a gradient vanishes.
	leastNormal = 1e-300
	// sharpness is how many times the curvature met at the end of a search must
	// exceed the one met first for the end to be a kink, where the slope changes
	// sign without vanishing.
	sharpness = 30
)

// ended tells a smooth minimum from a kink by the curvature met last and first.
func ended(last, first float64) outcome.Status {
	if last > sharpness*first {
		return outcome.Kink
	}
	return outcome.Stationary
}

// projected returns the norm of the gradient without the components that push
// against the border of the box, and whether there are such.
func projected(e *Evaluation, box Box) (norm float64, held bool) {
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
