package kernels

import "math"

// newElementwise makes an operation from a loop that applies a function to every
// element of x.
//
//go:noinline
func newElementwise(loop func(dst, x []float64), s *Set) func(dst, x []float64) {
	return func(dst, x []float64) {
		if len(dst) != len(x) {
			panic("kernels: lengths of dst and x differ")
		}
		if overlap(dst, x) && &dst[0] != &x[0] {
			panic("kernels: dst and x overlap")
		}
		raceRead(x)
		raceWrite(dst)
		for len(x) > 0 {
			n := min(len(x), Block)
			loop(dst[:n], x[:n])
			dst, x = dst[n:], x[n:]
			s.between(len(x))
		}
	}
}

func expGo(dst, x []float64) {
	for i, v := range x {
		dst[i] = Exp(v)
	}
}

func logGo(dst, x []float64) {
	for i, v := range x {
		dst[i] = Log(v)
	}
}

func log1pExpGo(dst, x []float64) {
	for i, v := range x {
		dst[i] = Log1pExp(v)
	}
}

func sigmoidGo(dst, x []float64) {
	for i, v := range x {
		dst[i] = Sigmoid(v)
	}
}

func bellGo(dst, x []float64) {
	for i, v := range x {
		dst[i] = Bell(v)
	}
}

// newProduct makes Product from a loop over at most a block.
//
//go:noinline
func newProduct(loop func(dst, x, y []float64), s *Set) func(dst, x, y []float64) {
	return func(dst, x, y []float64) {
		if len(dst) != len(x) || len(dst) != len(y) {
			panic("kernels: lengths of dst, x and y differ")
		}
		if overlap(dst, x) && &dst[0] != &x[0] || overlap(dst, y) && &dst[0] != &y[0] {
			panic("kernels: dst overlaps an operand")
		}
		raceRead(x)
		raceRead(y)
		raceWrite(dst)
		for len(dst) > 0 {
			n := min(len(dst), Block)
			loop(dst[:n], x[:n], y[:n])
			dst, x, y = dst[n:], x[n:], y[n:]
			s.between(len(dst))
		}
	}
}

func productGo(dst, x, y []float64) {
	y, dst = y[:len(x)], dst[:len(x)]
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

// newDivergence makes Divergence from a loop over at most a block.
//
//go:noinline
func newDivergence(loop func(dst, y, m, t []float64, scale float64, rest, whole [2]float64), s *Set) func(dst, y, m, t []float64, scale float64, rest, whole [2]float64) {
	return func(dst, y, m, t []float64, scale float64, rest, whole [2]float64) {
		if len(dst) != len(y) || len(dst) != len(m) || len(dst) != len(t) {
			panic("kernels: lengths of dst, y, m and t differ")
		}
		if overlap(dst, y) && &dst[0] != &y[0] || overlap(dst, m) && &dst[0] != &m[0] || overlap(dst, t) && &dst[0] != &t[0] {
			panic("kernels: dst overlaps an operand")
		}
		raceRead(y)
		raceRead(m)
		raceRead(t)
		raceWrite(dst)
		for len(dst) > 0 {
			n := min(len(dst), Block)
			loop(dst[:n], y[:n], m[:n], t[:n], scale, rest, whole)
			dst, y, m, t = dst[n:], y[n:], m[n:], t[n:]
			s.between(len(dst))
		}
	}
}

func divergenceGo(dst, y, m, t []float64, scale float64, rest, whole [2]float64) {
	m, t, dst = m[:len(y)], t[:len(y)], dst[:len(y)]
	for i, v := range y {
		side := math.Float64bits(v) >> 63
		c := math.Abs(float64(scale * t[i]))
		term := float64((1 - c) * Log1pExp(math.FMA(-v, m[i], rest[side])))
		dst[i] = math.FMA(c, whole[side], term)
	}
}
