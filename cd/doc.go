// Package cd is the inner solver: cyclic coordinate descent on working sets,
// with a duality gap recomputed from X for every result.
//
// A fit alternates two scales. An outer iteration ([Solver.Solve]) rebuilds the
// residual from X, makes one pass over the columns, and has with it the gap,
// the KKT residual and the columns that violate optimality most; if the gap is
// small enough it ends there. Otherwise the inner iteration (inner.go) sweeps
// the working set, packed into contiguous memory, until its own gap is a
// fraction of the outer one, and solves the system of the support (newton.go)
// whenever that is modelled to be cheaper than going on sweeping. Where columns
// are few, or dense and more than their few rows, it follows the solution on the
// working set from the last one instead (homotopy.go).
//
// Four ideas carry the speed: the working set stays within a few columns of
// the support, or what costs little beside it, and is solved well only once it
// has stopped growing; the pass skips columns that a bound proves inactive
// (certificate.go); the sweep runs on packed columns; and the Newton step
// makes the last digits nearly free.
//
// Decisions depend on counted operations only, never on a clock, the CPU or
// the number of goroutines: the same problem takes the same path to the same
// bits everywhere.
package cd
