package kernels

import "math"

// Kernels whose first operand is stored in 32 bits: half the
// memory to move. Numbers are widened, which is exact, and all arithmetic is in
// 64 bits: the bits are those of the 64-bit kernel on the widened numbers.

//go:noinline
func newDotSingle(loop func(x []float32, y []float64) float64, s *Set) func(x []float32, y []float64) float64 {
	return func(x []float32, y []float64) float64 {
		if len(x) != len(y) {
			panic("kernels: DotSingle: lengths of x and y differ")
		}
		raceRead(x)
		raceRead(y)
		var sum float64
		for len(x) > 0 {
			n := min(len(x), Block)
			sum += loop(x[:n], y[:n])
			x, y = x[n:], y[n:]
			s.between(len(x))
		}
		return sum
	}
}

//go:noinline
func newAxpySingle(loop func(a float64, x []float32, y []float64), s *Set) func(a float64, x []float32, y []float64) {
	return func(a float64, x []float32, y []float64) {
		if len(x) != len(y) {
			panic("kernels: AxpySingle: lengths of x and y differ")
		}
		raceRead(x)
		raceWrite(y)
		for len(x) > 0 {
			n := min(len(x), Block)
			loop(a, x[:n], y[:n])
			x, y = x[n:], y[n:]
			s.between(len(x))
		}
	}
}

func dotSingleGo(x []float32, y []float64) float64 {
	var s [width]float64
	for len(x) >= width && len(y) >= width {
		u, v := (*[width]float32)(x), (*[width]float64)(y)
		for k := 0; k < width; k += 4 {
			s[k] = math.FMA(float64(u[k]), v[k], s[k])
			s[k+1] = math.FMA(float64(u[k+1]), v[k+1], s[k+1])
			s[k+2] = math.FMA(float64(u[k+2]), v[k+2], s[k+2])
			s[k+3] = math.FMA(float64(u[k+3]), v[k+3], s[k+3])
		}
		x, y = x[width:], y[width:]
	}
	for k, v := range x {
		s[k] = math.FMA(float64(v), y[k], s[k])
	}
	return fold(&s)
}

func axpySingleGo(a float64, x []float32, y []float64) {
	for i, v := range x {
		y[i] = math.FMA(a, float64(v), y[i])
	}
}
