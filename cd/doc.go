// Package cd is the inner solver: cyclic coordinate descent on working sets, with a duality gap recomputed from
// X for every result.
//
// A fit nests two iterations. An outer iteration ([Solver.Solve]) rebuilds the residual from X and makes one
// pass over the columns, which gives the gap, the KKT residual and the columns that violate optimality most;
// the fit ends if the gap is small enough. Otherwise the inner iteration (inner.go) sweeps the working set,
// packed into contiguous memory, until its own gap is a fraction of the outer one. It solves the system of the
// support (newton.go) whenever that is modelled to be cheaper than further sweeps. Where there are few columns,
// or few rows and more columns, all dense, it follows the solution on the working set from the last one instead
// (homotopy.go).
//
// The speed has four sources. The working set exceeds the support by a few columns only, or by columns that
// cost little, and is solved accurately only once it has stopped growing. The pass skips columns that a bound
// proves inactive (certificate.go). Sweeps run on packed columns. The Newton step makes the last digits nearly
// free.
//
// Decisions depend on counted operations only, never on a clock, the CPU or the number of goroutines: the same
// problem takes the same path to the same bits everywhere.
package cd
