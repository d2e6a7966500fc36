package kernels

// newElementwise makes the operation of a loop that applies a function to every
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

// newProduct makes the operation of a loop that multiplies two vectors.
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
