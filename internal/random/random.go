// Package random draws numbers that are the same on every machine: SplitMix64 (Steele, Lea and Flood, 2014),
// and distributions made from it.
package random

import (
	"math"
	"math/bits"

	"github.com/seed-45b9a24c/pare/kernels"
)

// SplitMix64 is the generator; its value is the state, and any value may be a seed.
type SplitMix64 uint64

// Next returns 64 random bits.
func (s *SplitMix64) Next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below returns an integer from 0 to n − 1.
func (s *SplitMix64) Below(n int) int {
	high, _ := bits.Mul64(s.Next(), uint64(n))
	return int(high)
}

// Uniform returns a number in [0, 1).
func (s *SplitMix64) Uniform() float64 { return float64(float64(s.Next()>>11) * 0x1p-53) }

// Normal returns a standard normal number, by Marsaglia's polar method.
func (s *SplitMix64) Normal() float64 {
	for {
		u, v := float64(2*s.Uniform())-1, float64(2*s.Uniform())-1
		if q := math.FMA(u, u, float64(v*v)); q > 0 && q < 1 {
			return u * math.Sqrt(-2*kernels.Log(q)/q)
		}
	}
}

// Permutation returns the numbers 0 … n − 1 in random order, by the Fisher–Yates shuffle. It ends with the
// context of k, which may be nil.
func (s *SplitMix64) Permutation(k *kernels.Set, n int) []int {
	at := Identity(k, n)
	pace := k.Pace()
	for i := n - 1; i > 0; i-- {
		pace.Did(1)
		j := s.Below(i + 1)
		at[i], at[j] = at[j], at[i]
	}
	return at
}

// Identity returns the numbers 0 … n − 1 in their order.
func Identity(k *kernels.Set, n int) []int {
	at := kernels.Undefined[int](n)
	for from, to := range k.Pieces(n) {
		for i := from; i < to; i++ {
			at[i] = i
		}
	}
	return at
}
