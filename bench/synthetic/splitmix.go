package synthetic

import (
	"math"
	"math/bits"
)

const gamma = 0x9E3779B97F4A7C15

// mix is the output function of SplitMix64.
func mix(z uint64) uint64 {
	z ^= z >> 30
	z *= 0xBF58476D1CE4E5B9
	z ^= z >> 27
	z *= 0x94D049BB133111EB
	return z ^ z>>31
}

// at is output k = 0, 1, … of SplitMix64 with state s.
func at(s uint64, k int) uint64 { return mix(s + (uint64(k)+1)*gamma) }

// below maps a random x to 0 … m−1, uniformly up to m/2⁶⁴.
func below(x, m uint64) uint64 {
	hi, _ := bits.Mul64(x, m)
	return hi
}

// unit maps a random x to [0, 1).
func unit(x uint64) float64 { return float64(float64(x>>11) * 0x1p-53) }

// log2 is the binary logarithm, interpolated linearly between powers of two so that it has the same bits
// everywhere.
func log2(x float64) float64 {
	f, k := math.Frexp(x)
	return float64(k-1) + (float64(2*f) - 1)
}
