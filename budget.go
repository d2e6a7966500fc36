package pare

import (
	"math"
	"runtime"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
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
	need, pair := e.of.MostBytes()
	least := float64(problems) * (need + float64(pair*inner.LeastGram*inner.LeastGram))
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
