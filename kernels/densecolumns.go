package kernels

import "math"

// denseLook is how many elements of a dense matrix there are to a look: less than a
// millisecond of reading memory, and more than a small problem has, so that its certificates,
// of one pass each, are not cut off.
const denseLook = 1 << 20

// newDenseColumns makes an operation on dense columns, one behind another, and one vector of a loop
// that takes a block at most.
//
//go:noinline
func newDenseColumns(name string, loop func(values, y, out []float64), s *Set) func(values, y, out []float64) {
	return func(values, y, out []float64) {
		n := len(y)
		if len(values) != n*len(out) {
			panic("kernels: " + name + ": values must have the elements of every column")
		}
		if overlap(out, values) || overlap(out, y) {
			panic("kernels: " + name + ": out overlaps values or y")
		}
		raceRead(values)
		raceRead(y)
		raceWrite(out)
		if n == 0 || n > Block {
			for c := range out {
				s.longDense(loop, values[c*n:][:n], y, out[c:c+1])
				s.between(len(out) - c - 1)
			}
			return
		}
		seen := 0
		for step := Block / n; len(out) > 0; {
			columns := min(step, len(out))
			loop(values[:columns*n], y, out[:columns])
			values, out = values[columns*n:], out[columns:]
			if seen += columns * n; seen >= denseLook {
				s.between(len(out))
				seen = 0
			}
		}
	}
}

// longDense takes a column of more than a block, or of none.
func (s *Set) longDense(loop func(values, y, out []float64), x, y, out []float64) {
	var sum float64
	for len(x) > 0 {
		n := min(len(x), Block)
		loop(x[:n], y[:n], out)
		sum += out[0]
		x, y = x[n:], y[n:]
		s.between(len(x))
	}
	out[0] = sum
}

func dotDenseGo(values, y, out []float64) {
	n := len(y)
	for c := range out {
		out[c] = dotGo(values[c*n:][:n], y) + 0
	}
}

func squaresDenseGo(values, y, out []float64) {
	for c := range out {
		var s [width]float64
		x := values[c*len(y):][:len(y)]
		for i, w := range y {
			s[i%width] = math.FMA(x[i], float64(x[i]*w), s[i%width])
		}
		out[c] = fold(&s) + 0
	}
}
