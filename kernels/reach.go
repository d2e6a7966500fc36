package kernels

import "math"

// The bits of an element x_i that are used: all of them, or all but the sign.
const (
	signed = ^uint64(0)
	sizes  = signed >> 1
)

// newReach makes Reach or ReachAbs, by mask, from a loop over at most a block.
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
