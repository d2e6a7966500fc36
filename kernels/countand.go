package kernels

import "math/bits"

// newCountAnd makes CountAnd from a loop over at most a block.
//
//go:noinline
func newCountAnd(loop func(x, y []uint64) int, s *Set) func(x, y []uint64) int {
	return func(x, y []uint64) (count int) {
		if len(x) != len(y) {
			panic("kernels: CountAnd: x and y must have one length")
		}
		raceRead(x)
		raceRead(y)
		for len(x) > 0 {
			n := min(len(x), Block)
			count += loop(x[:n], y[:n])
			x, y = x[n:], y[n:]
			s.between(len(x))
		}
		return count
	}
}

func countAndGo(x, y []uint64) (count int) {
	y = y[:len(x)]
	for i, word := range x {
		count += bits.OnesCount64(word & y[i])
	}
	return count
}
