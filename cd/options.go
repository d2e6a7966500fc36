package cd

import (
	"github.com/seed-45b9a24c/pare/outcome"
)

// Options bound a solve. The zero value is ready to use.
type Options struct {
	// Tol is the relative duality gap to reach: gap ≤ Tol·P₀, P₀ the objective
	// of the null model. 0 means 1e-6; it is at least 1e-15 and below 1.
	Tol float64
	// MaxEpochs bounds the sweeps over working sets. 0 means 100,000.
	MaxEpochs int
	// MaxSupport, where positive, ends a solve with an error of kind Limit at the first
	// certified point with more columns in its support.
	MaxSupport int
	// MaxGram bounds the columns of the cached Gram matrix, and with it memory and
	// speed. 0 means [support.LargestGram]. In [Vectors] it bounds the rows of the matrix of free support
	// vectors, but not below the number that an exact solution may have; 0 means [MostVectors].
	MaxGram int
	// MaxPacked bounds the bytes of the packed copies of sparse columns, and with it speed, see
	// [support.Columns.Bound]. 0 means about half of the matrix.
	MaxPacked int64
	// Polish ends a solve that has converged with one more Newton step, solved
	// to working precision. The gap bounds the error of Φ, but predictions are only known to the
	// square root of the gap, so a criterion accurate to 1e-9 needs a gap of 1e-18, or Polish.
	Polish bool
	// SweepFew solves problems of few columns by coordinate descent instead of the homotopy on their Gram
	// matrix: for results that must keep their bits.
	SweepFew bool
	// Estimate makes passes over a large dense matrix read a copy in 32 bits first, and compute the correlations only of
	// columns that the copy does not prove inactive. The copy stays with the matrix. It is worth its price for many
	// solves whose passes wait for memory.
	Estimate bool
	// Watch, if not nil, is called between the stages of a solve, on the goroutine of the solve.
	Watch func(Progress)
}

// Progress is the state of a solve between two stages.
type Progress struct {
	Stage       Stage   // the stage that has just ended
	Visited     int     // columns that the last certificate could not skip
	WorkingSet  int     // columns in the working set
	Support     int     // columns in the support of the last certified point
	RelativeGap float64 // the relative duality gap of that point
	Epochs      int     // sweeps so far
	Steps       int     // Newton steps so far
	Work        float64 // modelled cost so far, see [Solution]
}

// Stage is a part of an outer iteration.
type Stage string

// The stages in the order in which they occur, except that Sampled, if it occurs, comes before the first working set.
const (
	Certified Stage = "certificate" // a pass over X: gap and violations
	Chosen    Stage = "working set" // the columns to work on
	Improved  Stage = "improvement" // sweeps and Newton steps on them
	Sampled   Stage = "sample"      // a solve on a sample of the rows, to start from
)

func (s *Solver) report(o Options, stage Stage) {
	if o.Watch != nil {
		o.Watch(Progress{stage, s.cert.survivors.count(), len(s.set.columns), len(s.sol.Support), s.sol.RelativeGap, s.sol.Epochs, s.sol.Steps, s.work()})
	}
}

const (
	defaultTol    = 1e-6
	leastTol      = 1e-15
	defaultEpochs = 100_000
)

func (o Options) resolve() (Options, error) {
	if o.Tol == 0 {
		o.Tol = defaultTol
	}
	if !(o.Tol >= leastTol && o.Tol < 1) {
		return o, outcome.At(outcome.BadParameter, "tol", "the relative gap must be at least %g and below 1, the gap of the null model; got %g", leastTol, o.Tol)
	}
	if o.MaxEpochs == 0 {
		o.MaxEpochs = defaultEpochs
	}
	if o.MaxSupport < 0 {
		return o, outcome.At(outcome.BadParameter, "max-support", "must not be negative, got %d", o.MaxSupport)
	}
	if o.MaxEpochs < 0 {
		return o, outcome.At(outcome.BadParameter, "max-epochs", "must not be negative, got %d", o.MaxEpochs)
	}
	return o, nil
}
