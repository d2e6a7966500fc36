package search

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

const (
	compassFirst = 2.0   // the first step
	compassLeast = 0.125 // the last step
)

// Compass searches from a point that has been evaluated, by steps along one coordinate after the other, in both
// directions. It halves the step when none gains a hundredth of the standard error. It is for a criterion that jumps,
// whose slopes are those between two jumps and do not show where it falls. No point is evaluated twice, and none with
// a gradient. The status is Converged or Budget.
func Compass(ctx context.Context, f Objective, start Evaluation, box Box, options Options) (*Result, error) {
	at, value, leastFall := slices.Clone(start.LogLambda), start.Value, float64(leastGain*start.StandardError)
	directions, direction, failed, step := 2*len(at), 0, 0, compassFirst // directions, the next one, and failures in a row
	var proposed []float64
	next := func(_ int, before []Evaluation) []float64 {
		if proposed != nil {
			if last := before[len(before)-1]; last.Value < value-leastFall {
				at, value, failed = proposed, last.Value, 0
			} else {
				direction, failed = direction+1, failed+1
			}
		}
		for ; ; direction, failed = direction+1, failed+1 {
			if failed >= directions {
				if step, failed = step/2, 0; step < compassLeast {
					return nil
				}
			}
			x := slices.Clone(at)
			if i := direction % directions / 2; direction%2 == 0 {
				x[i] -= step
			} else {
				x[i] += step
			}
			box.clamp(x)
			isAtX := func(e Evaluation) bool { return slices.Equal(e.LogLambda, x) }
			if !isAtX(start) && !slices.ContainsFunc(before, isAtX) {
				proposed = x
				return x
			}
		}
	}
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	if start.Final = true; finite(value) { // start is the best so far
		r.rank(&start)
	}
	result, err := r.evaluateAll(ctx, false, next)
	if result.Status == outcome.Exhausted {
		result.Status = outcome.Converged
	}
	return result, err
}
