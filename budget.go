package pare

import (
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/outcome"
)

// checkBudget refuses invalid limits, and work that might exceed them.
func (e *engine) checkBudget() error {
	switch c := e.config; {
	case c.Threads < 0:
		return outcome.At(outcome.BadParameter, "threads", "must not be negative, got %d", c.Threads)
	case c.MaxSupport < 0:
		return outcome.At(outcome.BadParameter, "max-support", "must not be negative, got %d", c.MaxSupport)
	case c.MaxBytes < 0:
		return outcome.At(outcome.BadParameter, "max-bytes", "must not be negative, got %d", c.MaxBytes)
	case c.MaxSupport > 0 && e.family.samples:
		return outcome.At(outcome.Usage, "max-support", "does not apply to %s, whose support consists of samples, not columns", c.Model)
	}
	return e.divideMemory(e.concurrentProblems(), 0)
}

// divideMemory divides Config.MaxBytes among own inner problems on all rows and the lanes of folds. If all
// of them cannot hold their memory at once, it lets as many lanes at a time as fit hold memory, which
// they release in turn; at last one at a time, with few copies of columns. It refuses work that might
// exceed the limit even then.
func (e *engine) divideMemory(own, lanes int) error {
	if e.config.MaxBytes == 0 {
		return nil
	}
	need, pair := e.statement.MostBytes()
	most, least := float64(e.config.MaxBytes), need+float64(pair*inner.LeastGram*inner.LeastGram)
	share := func(problems, most float64) {
		e.gram = int(min(float64(e.statement.LargestGram()), math.Sqrt((most/problems-need)/pair)))
	}
	total, others := float64(own+lanes)*least, 0.0
	if total <= most {
		share(float64(own+lanes), most)
		return nil
	}
	turns := lanes > 0 && !e.family.classes
	if turns {
		// While lanes are at work, all other problems hold only their vectors; while a problem on
		// all rows is at work, no lane is.
		others = float64(float64(own+lanes) * e.statement.IdleBytes())
		for at := min(lanes, e.config.threads()); at > 0; at-- {
			if total = others + float64(float64(at)*least); total <= most {
				e.lanes = at
				share(float64(at), most-others)
				return nil
			}
		}
	}
	if (turns || own+lanes == 1) && e.statement.BoundsCopies() {
		copies, growth := e.statement.MostBoundedBytes()
		if total = others + copies + float64(pair*inner.LeastGram*inner.LeastGram); total <= most {
			e.lanes, e.gram, e.packed = 1, inner.LeastGram, inner.LeastPacked+int64((most-total)/growth)
			e.statement.Frugal = true
			return nil
		}
	}
	if turns {
		return outcome.At(outcome.Limit, "max-bytes", "solving one inner problem at a time might take %.0f bytes, but the limit is %d", total, e.config.MaxBytes)
	}
	return outcome.At(outcome.Limit, "max-bytes", "solving %d inner problems at once might take %.0f bytes, but the limit is %d", own+lanes, total, e.config.MaxBytes)
}

// laneProblems returns the number of inner problems that a choice of λ holds besides the one on all rows.
func (e *engine) laneProblems(folds bilevel.Folds) int {
	switch {
	case folds == nil:
		return 2 // the two problems of the finite difference of an information criterion
	case e.family.classes:
		return folds.Count(e.statement.Kernels) * e.concurrentProblems()
	default:
		return folds.Count(e.statement.Kernels)
	}
}

// concurrentProblems returns the number of inner problems that a solve on the same rows holds at once: one, or
// for a predictor per class one for each thread.
func (e *engine) concurrentProblems() int {
	if !e.family.classes {
		return 1
	}
	return max(1, min(e.config.threads(), e.statement.Count))
}

func (c Config) threads() int { return team.Count(c.Threads) }
