// Package outcome has the one list of statuses, and the typed errors, that every
// package of pare, its command line and its JSON share.
//
// A status says what a result is worth; an error says that there is none.
// Results that are not converged or not trusted are returned with a status,
// never hidden behind an error.
package outcome

import (
	"cmp"
	"context"
)

// Status says how a computation ended. Its text is stable: other programs read it.
type Status string

// The statuses of inner problems, hypergradients and searches.
const (
	// Converged: the duality gap, recomputed from X, is within the tolerance.
	Converged Status = "converged"
	// Stationary: the search stopped where the hypergradient vanishes to tolerance. Of an inner
	// problem: the optimality conditions hold to tolerance, and no duality gap is known.
	Stationary Status = "stationary"
	// Kink: the criterion has a corner here; the slope changes sign across it.
	Kink Status = "kink"
	// NullModel: nothing in the range seen has a lower criterion than the null model.
	NullModel Status = "null_model"
	// Exhausted: all points of a search without slopes have been evaluated, and the best is returned.
	Exhausted Status = "exhausted"
	// Flat: the solution does not move with λ here (empty support, or λ ≥ λmax).
	Flat Status = "flat"
	// Box: the search ended at the border of the declared box.
	Box Status = "box"
	// Budget: the evaluations or epochs allowed were used up.
	Budget Status = "budget"
	// Cancelled: the context ended; the result is the best so far.
	Cancelled Status = "cancelled"
	// Failed: the criterion or its gradient is not finite here, or the search ended with an
	// error; its result is the best point before the error.
	Failed Status = "failed"
	// NotConverged: the inner problem missed its tolerance; its true gap is reported.
	NotConverged Status = "not_converged"
	// NotUnique: the inner problem has several solutions, so the derivative is not defined.
	NotUnique Status = "not_unique"
	// NotDifferentiable: the system on the support is singular, or a coefficient sits on a kink.
	NotDifferentiable Status = "not_differentiable"
	// SupportUncertified: the support could still change within the reported gap, or this was not
	// checked, as in the steps of a scan.
	SupportUncertified Status = "support_uncertified"
	// LinearSystemStalled: the solver of the system on the support stopped above its tolerance.
	LinearSystemStalled Status = "linear_system_stalled"
)

// OK reports whether a result with this status can be used as it is: it is
// certified, or its search ended by one of its rules.
func (s Status) OK() bool {
	switch s {
	case Converged, NullModel, Stationary, Kink, Flat, Box, Exhausted:
		return true
	default:
		return false
	}
}

// Ended returns the error of a context that is known to have ended, or whose parent is. The error is
// [context.Canceled] if ctx does not report one yet.
func Ended(ctx context.Context) error { return cmp.Or(ctx.Err(), context.Canceled) }
