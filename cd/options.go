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
	// speed. 0 means [support.LargestGram]. Of support vectors it is the rows of the matrix of free ones,
	// but for as many as an exact solution may have; 0 means [MostVectors].
	MaxGram int
	// MaxPacked bounds the bytes of copies of sparse columns, and with it speed, see
	// [support.Columns.Bound]. 0 means about what half of the matrix takes.
	MaxPacked int64
	// Polish ends a solve that has converged with one more Newton step, solved
	// to working precision. The gap bounds Φ; predictions are only known to its
	// square root, so a criterion good to 1e-9 needs a gap of 1e-18, or this.
	Polish bool
	// SweepFew has problems of few columns swept, as they were before their solutions were followed
	// on the Gram matrix: for a result that is to keep its bits.
	SweepFew bool
	// Estimate has passes over a large dense matrix meet a copy in 32 bits first, which stays with the matrix, and compute
	// what that does not prove inactive: worth it for many solves, in which passes wait for memory.
	Estimate bool
	// Watch, if not nil, is called between the stages of a solve, on its goroutine.
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
	Work        float64 // counted work so far, see [Solution]
}

// Stage is a part of an outer iteration.
type Stage string

// The stages, in their order.
const (
	Certified Stage = "certificate" // a pass over X: gap and violations
	Chosen    Stage = "working set" // the columns to work on
	Improved  Stage = "improvement" // sweeps and Newton steps on them
	Sampled   Stage = "sample"      // a solve on a sample of the rows, to start from
)

func (s *Solver) report(o Options, stage Stage) {
	if o.Watch != nil {
		o.Watch(Progress{stage, s.cert.fresh.count(), len(s.set.columns), len(s.sol.Support), s.sol.RelativeGap, s.sol.Epochs, s.sol.Steps, s.work()})
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
		return o, outcome.At(outcome.BadParameter, "tol", "the relative gap must be at least %g, and below 1, that of the null model; got %g", leastTol, o.Tol)
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
