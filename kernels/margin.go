package kernels

import (
	"math"
	"math/bits"
)

// newMargin makes Margin from a loop over at most a block.
//
//go:noinline
func newMargin(loop func(dst []float64, a float64, x, y []float64, limit float64, which []uint64), s *Set) func(dst []float64, a float64, x, y []float64, limit float64, which []uint64) {
	return func(dst []float64, a float64, x, y []float64, limit float64, which []uint64) {
		if len(dst) != len(x) || len(dst) != len(y) || len(which) != (len(x)+63)/64 {
			panic("kernels: Margin: dst, x and y must have one length, and which a word for 64 of it")
		}
		if overlap(dst, x) && &dst[0] != &x[0] || overlap(dst, y) && &dst[0] != &y[0] {
			panic("kernels: Margin: dst overlaps an operand")
		}
		raceRead(x)
		raceRead(y)
		raceRead(which)
		raceWrite(dst)
		for len(dst) > 0 {
			n := min(len(dst), Block)
			words := (n + 63) / 64
			loop(dst[:n], a, x[:n], y[:n], limit, which[:words])
			dst, x, y, which = dst[n:], x[n:], y[n:], which[words:]
			s.between(len(dst))
		}
	}
}

func marginGo(dst []float64, a float64, x, y []float64, limit float64, which []uint64) {
	for w, word := range which {
		for ; word != 0; word &= word - 1 {
			i := 64*w + bits.TrailingZeros64(word)
			if i >= len(dst) {
				break
			}
			m := math.Abs(x[i]) - float64(a*y[i])
			if !(m >= -limit) {
				m = limit
			}
			dst[i] = m
		}
	}
}
