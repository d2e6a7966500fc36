package kernels

import (
	"math"
	"math/bits"
)

// What of an element x_i counts: all of it, or its size.
const (
	signed = ^uint64(0)
	sizes  = signed >> 1
)

// newReach makes an operation that says which elements reach a bound, of a loop that takes a block
// at most.
//
//go:noinline
func newReach(loop func(mask uint64, a float64, x, y []float64, least float64, out []uint64), mask uint64, s *Set) func(a float64, x, y []float64, least float64, out []uint64) {
	return func(a float64, x, y []float64, least float64, out []uint64) {
		if len(x) != len(y) || len(out) != (len(x)+63)/64 {
			panic("kernels: Reach: x and y must have one length, and out a word for 64 of it")
		}
		raceRead(x)
		raceRead(y)
		raceWrite(out)
		if len(out) > 0 {
			out[len(out)-1] = 0
		}
		for len(x) > 0 {
			n := min(len(x), Block)
			words := (n + 63) / 64
			loop(mask, a, x[:n], y[:n], least, out[:words])
			x, y, out = x[n:], y[n:], out[words:]
			s.between(len(x))
		}
	}
}

func reachGo(mask uint64, a float64, x, y []float64, least float64, out []uint64) {
	for w := range out {
		from, to := 64*w, min(64*w+64, len(x))
		v, bits := y[from:to], uint64(0)
		for i, u := range x[from:to] {
			u = math.Float64frombits(math.Float64bits(u) & mask)
			if !(math.FMA(a, v[i], u) < least) {
				bits |= 1 << i
			}
		}
		out[w] = bits
	}
}

// newMargin makes the operation of a loop that takes a block at most.
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
