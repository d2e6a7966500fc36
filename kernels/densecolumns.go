package kernels

import "math"

// denseLook is the number of elements of a dense matrix between two looks. To read them takes
// less than a millisecond. A small problem has fewer, so that its certificates, of one pass
// each, are not cut off.
const denseLook = 1 << 20

// stored is the type of the elements of dense columns.
type stored interface{ float32 | float64 }

// newDenseColumns makes an operation on dense columns, which follow one another, and a vector from a
// loop over at most a block.
//
//go:noinline
func newDenseColumns[T stored](name string, loop func(values []T, y, out []float64), s *Set) func(values []T, y, out []float64) {
	return func(values []T, y, out []float64) {
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
				longDense(s, loop, values[c*n:][:n], y, out[c:c+1])
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

// longDense handles a column with more elements than a block, or without any.
func longDense[T stored](s *Set, loop func(values []T, y, out []float64), x []T, y, out []float64) {
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

// dotDenseBy makes a loop over columns from a loop over the elements of a column.
func dotDenseBy[T stored](dot func(x []T, y []float64) float64) func(values []T, y, out []float64) {
	return func(values []T, y, out []float64) {
		n := len(y)
		for c := range out {
			out[c] = dot(values[c*n:][:n], y) + 0
		}
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

const (
	shortColumn = 128 // largest number of rows of columns that a loop of a Spans operation handles together
	fourColumns = 4   // least number of such columns, for dot products
)

//go:noinline
func newDotDenseSpans(loop func(from []int64, values, y, out []float64), s *Set) func(from []int64, values, y, out []float64) {
	return func(from []int64, values, y, out []float64) {
		n := len(y)
		switch {
		case len(from) != len(out):
			panic("kernels: DotDenseSpans: lengths of from and out differ")
		case overlap(out, values) || overlap(out, y):
			panic("kernels: DotDenseSpans: out overlaps values or y")
		case !within(from, len(values)-n):
			panic("kernels: DotDenseSpans: a column is not within values")
		}
		raceDense(from, values, n)
		raceRead(y)
		raceWrite(out)
		for seen := 0; len(from) > 0; {
			columns := min(len(from), max(1, Block/max(1, n)))
			if loop != nil && n > 0 && n <= shortColumn && columns >= fourColumns {
				loop(from[:columns], values, y, out[:columns])
			} else {
				for c, at := range from[:columns] {
					out[c] = s.Dot(values[at:][:n], y)
				}
			}
			from, out = from[columns:], out[columns:]
			if seen += columns * n; seen >= denseLook || n > Block {
				s.between(len(from))
				seen = 0
			}
		}
	}
}

//go:noinline
func newAxpyDenseSpans(loop func(a []float64, from []int64, values, y []float64), s *Set) func(a []float64, from []int64, values, y []float64) {
	return func(a []float64, from []int64, values, y []float64) {
		n := len(y)
		switch {
		case len(from) != len(a):
			panic("kernels: AxpyDenseSpans: lengths of a and from differ")
		case overlap(a, y) || overlap(values, y):
			panic("kernels: AxpyDenseSpans: y overlaps an operand")
		case !within(from, len(values)-n):
			panic("kernels: AxpyDenseSpans: a column is not within values")
		}
		raceDense(from, values, n)
		raceRead(a)
		raceWrite(y)
		for seen := 0; len(from) > 0; {
			columns := min(len(from), max(1, Block/max(1, n)))
			if loop != nil && n > 0 && n <= shortColumn {
				loop(a[:columns], from[:columns], values, y)
			} else {
				for c, at := range from[:columns] {
					s.Axpy(a[c], values[at:][:n], y)
				}
			}
			a, from = a[columns:], from[columns:]
			if seen += columns * n; seen >= denseLook || n > Block {
				s.between(len(from))
				seen = 0
			}
		}
	}
}

// within reports whether 0 ≤ from[c] ≤ last for every column.
func within(from []int64, last int) bool {
	signs := int64(0)
	for _, at := range from {
		signs |= at | (int64(last) - at)
	}
	return signs >= 0
}
