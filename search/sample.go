package search

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Random evaluates the objective, value only, at points drawn uniformly from the
// box by SplitMix64 with the given seed: a baseline. It ends with its budget.
func Random(ctx context.Context, f Objective, box Box, seed uint64, options Options) (*Result, error) {
	if err := box.bounded(); err != nil {
		return nil, err
	}
	random := splitMix64(seed)
	return evaluateAll(ctx, f, options, func(int, []Evaluation) []float64 { return random.point(box) })
}

// Halton evaluates the objective, value only, at the points of Halton's sequence
// in the box, which fill it more evenly than random ones do: a baseline for a
// few coordinates. It ends with its budget.
func Halton(ctx context.Context, f Objective, box Box, options Options) (*Result, error) {
	if err := box.bounded(); err != nil {
		return nil, err
	}
	bases := primes(len(box.Lower))
	return evaluateAll(ctx, f, options, func(k int, _ []Evaluation) []float64 {
		x := make([]float64, len(bases))
		for i, base := range bases {
			x[i] = box.at(i, radicalInverse(k+1, base))
		}
		return x
	})
}

// bounded returns the error of a box from which no point can be drawn.
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

// at returns the point a share t along coordinate i.
func (b Box) at(i int, t float64) float64 {
	return min(max(math.FMA(t, b.Upper[i]-b.Lower[i], b.Lower[i]), b.Lower[i]), b.Upper[i])
}

// splitMix64 is the generator of Steele, Lea and Flood (2014).
type splitMix64 uint64

func (s *splitMix64) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number in [0, 1).
func (s *splitMix64) uniform() float64 { return float64(float64(s.next()>>11) * 0x1p-53) }

// point returns a point of the box.
func (s *splitMix64) point(box Box) []float64 {
	x := make([]float64, len(box.Lower))
	for i := range x {
		x[i] = box.at(i, s.uniform())
	}
	return x
}

// radicalInverse mirrors the digits of k in a base at the point.
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
