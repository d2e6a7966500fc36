package kernels

// denseLook is how many elements of a dense matrix there are to a look: less than a
// millisecond of reading memory, and more than a small problem has, so that its certificates,
// of one pass each, are not cut off.
const denseLook = 1 << 20

//go:noinline
func newDotDense(loop func(values, y, out []float64), s *Set) func(values, y, out []float64) {
	return func(values, y, out []float64) {
		n := len(y)
		if len(values) != n*len(out) {
			panic("kernels: DotDense: values must have the elements of every column")
		}
		if overlap(out, values) || overlap(out, y) {
			panic("kernels: DotDense: out overlaps values or y")
		}
		raceRead(values)
		raceRead(y)
		raceWrite(out)
		if n == 0 || n > Block {
			for c := range out {
				out[c] = s.Dot(values[c*n:][:n], y)
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

func dotDenseGo(values, y, out []float64) {
	n := len(y)
	for c := range out {
		out[c] = dotGo(values[c*n:][:n], y) + 0
	}
}
