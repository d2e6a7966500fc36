package pare

import (
	"math"
	"runtime"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// Budgets: a caller's caps on the size of supports and on working memory. Time is
// capped by the context, sweeps and goroutines by MaxEpochs and Threads.

// The bytes that one inner problem may hold, by what they are proportional
// to: views, copies, certificates, packed columns, and slices that append moves. What
// is left of a cap after that bounds the Gram matrix, which is there for speed.
const (
	bytesPerRow    = 500
	bytesPerColumn = 500
	bytesPerEntry  = 100
	bytesPerPair   = 56 // of columns of a Gram matrix: with room to grow, and its factors
	bytesAlways    = 1 << 20
	bytesOfProofs  = 64 << 20
	bytesOfVectors = 64 // of an entry of the matrices that machines of support vectors factorise
	leastGram      = 64 // columns
)

// checkBudget refuses caps that cannot be, and work beyond them.
func (e *engine) checkBudget() error {
	switch c := e.config; {
	case c.Threads < 0:
		return outcome.At(outcome.BadParameter, "threads", "must not be negative, got %d", c.Threads)
	case c.MaxSupport < 0:
		return outcome.At(outcome.BadParameter, "max-support", "must not be negative, got %d", c.MaxSupport)
	case c.MaxBytes < 0:
		return outcome.At(outcome.BadParameter, "max-bytes", "must not be negative, got %d", c.MaxBytes)
	case c.MaxSupport > 0 && e.family.samples:
		return outcome.At(outcome.Usage, "max-support", "%s has samples in its support, not columns", c.Model)
	}
	return e.afford(e.atOnce())
}

// afford shares Config.MaxBytes out among as many inner problems as are held at once,
// and refuses what might take more.
func (e *engine) afford(problems int) error {
	if e.config.MaxBytes == 0 {
		return nil
	}
	n, p := e.of.X.Dims()
	byRows, byColumns := float64(bytesPerRow*int64(n)+bytesPerEntry*e.of.X.NNZ()), float64(bytesPerColumn*int64(p))
	need, pair := bytesAlways+byRows+byColumns, float64(bytesPerPair)
	if e.family.coldSample() {
		// A cold start may solve the problem on a quarter of the rows, and that on a
		// quarter of them, with half as large a Gram matrix each time (cd/sample.go).
		need += byRows/3 + byColumns
		pair *= 4. / 3
	}
	if e.config.Certify {
		need += bytesOfProofs
	}
	if e.vectors() {
		size := float64(min(n, p) + 1)
		need += float64(bytesOfVectors * size * size)
	}
	least := float64(problems) * (need + float64(pair*leastGram*leastGram))
	if least > float64(e.config.MaxBytes) {
		return outcome.At(outcome.Limit, "max-bytes", "inner problems, %d at once, might take %.0f bytes, the limit is %d", problems, least, e.config.MaxBytes)
	}
	room := float64(e.config.MaxBytes)/float64(problems) - need
	e.gram = int(min(support.LargestGram, math.Sqrt(room/pair)))
	return nil
}

// solvers returns how many inner problems a choice of λ holds besides that of all rows.
func (e *engine) solvers(folds bilevel.Folds) int {
	switch {
	case folds == nil:
		return 2 // of an information criterion
	case e.family.classes:
		return folds.Count() * e.atOnce()
	default:
		return folds.Count()
	}
}

// atOnce returns how many inner problems a solve on the same rows holds: one class for
// each thread.
func (e *engine) atOnce() int {
	if !e.family.classes {
		return 1
	}
	return max(1, min(e.config.threads(), e.of.Count))
}

func (c Config) threads() int {
	if c.Threads > 0 {
		return c.Threads
	}
	return runtime.GOMAXPROCS(0)
}
