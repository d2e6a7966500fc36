package search

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Random evaluates the objective, value only, at points drawn uniformly from the
// box by SplitMix64 with the given seed: a baseline. It ends, Exhausted, when its budget is spent.
func Random(ctx context.Context, f Objective, box Box, seed uint64, options Options) (*Result, error) {
	if err := box.bounded(); err != nil {
		return nil, err
	}
	draw := random.SplitMix64(seed)
	return evaluateAll(ctx, f, options, true, func(int, []Evaluation) []float64 { return box.randomPoint(&draw) })
}

// Halton evaluates the objective, value only, at the points of Halton's sequence
// in the box, which fill it more evenly than random points do: a baseline for a
// few coordinates. It ends, Exhausted, when its budget is spent.
func Halton(ctx context.Context, f Objective, box Box, options Options) (*Result, error) {
	if err := box.bounded(); err != nil {
		return nil, err
	}
	bases := primes(len(box.Lower))
	return evaluateAll(ctx, f, options, true, func(k int, _ []Evaluation) []float64 {
		x := make([]float64, len(bases))
		for i, base := range bases {
			x[i] = box.interpolate(i, radicalInverse(k+1, base))
		}
		return x
	})
}

// bounded returns an error if the box is invalid or not bounded, so that no point can be drawn from it.
func (b Box) bounded() error {
	if err := b.check(b.Lower); err != nil {
		return err
	}
	for i := range b.Lower {
		if !finite(b.Upper[i] - b.Lower[i]) {
			return outcome.At(outcome.BadParameter, "box", "coordinate %d is not bounded: [%g, %g]", i, b.Lower[i], b.Upper[i])
		}
	}
	return nil
}

// interpolate returns the value of coordinate i at share t of the way from its lower to its upper bound.
func (b Box) interpolate(i int, t float64) float64 {
	return min(max(math.FMA(t, b.Upper[i]-b.Lower[i], b.Lower[i]), b.Lower[i]), b.Upper[i])
}

// randomPoint returns a random point of the box.
func (b Box) randomPoint(r *random.SplitMix64) []float64 {
	x := make([]float64, len(b.Lower))
	for i := range x {
		x[i] = b.interpolate(i, r.Uniform())
	}
	return x
}

// radicalInverse returns the digits of k in a base, mirrored at the radix point.
func radicalInverse(k, base int) float64 {
	digits, size := 0, 1
	for ; k > 0; k /= base {
		digits = digits*base + k%base
		size *= base
	}
	return float64(digits) / float64(size)
}

// primes returns the first n primes.
func primes(n int) []int {
	found := make([]int, 0, n)
next:
	for k := 2; len(found) < n; k++ {
		for _, p := range found {
			if p*p > k {
				break
			}
			if k%p == 0 {
				continue next
			}
		}
		found = append(found, k)
	}
	return found
}
