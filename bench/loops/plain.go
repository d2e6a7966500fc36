package loops

import "math"

// Plain loops as one would write them. They are separate functions: inside a benchmark's loop they compile to
// code that is several times slower.

//go:noinline
func loopDot(x, y []float64) float64 {
	var s float64
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

//go:noinline
func loopAxpy(a float64, x, y []float64) {
	for i, v := range x {
		y[i] += a * v
	}
}

//go:noinline
func loopDotIndexed(values []float64, rows []int32, y []float64) float64 {
	var s float64
	for k, v := range values {
		s += v * y[rows[k]]
	}
	return s
}

//go:noinline
func loopAxpyIndexed(a float64, values []float64, rows []int32, y []float64) {
	for k, v := range values {
		y[rows[k]] += a * v
	}
}

//go:noinline
func loopExp(y, x []float64) {
	for i, v := range x {
		y[i] = math.Exp(v)
	}
}

//go:noinline
func loopLog1pExp(y, x []float64) {
	for i, v := range x {
		y[i] = math.Log1p(math.Exp(v))
	}
}

//go:noinline
func loopSigmoid(y, x []float64) {
	for i, v := range x {
		y[i] = 1 / (1 + math.Exp(-v))
	}
}
