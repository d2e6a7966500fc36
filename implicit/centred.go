package implicit

import "github.com/seed-45b9a24c/pare/support"

const (
	// mostMeanRatio is how many times the centred square of a column the square of its mean may be, before the
	// cancellation in their difference counts.
	mostMeanRatio = 1 << 10
	centredRows   = 512 // rows at a time
)

// losesDigits reports whether the Gram matrix of columns, which subtracts the means from its products, has lost
// digits.
func (s *Solver) losesDigits(columns *support.Columns, e []int32, ridge float64) bool {
	total := s.view.Total()
	for _, j := range e {
		mean := columns.Mean(j)
		if float64(mean*mean*columns.Total()) > float64(mostMeanRatio*(columns.Square(j)+float64(ridge*total))) {
			return true
		}
	}
	return false
}

// centredProducts sets the matrix of the system to products of centred entries. A column so far from 0 has
// non-zero entries in all but a thousandth of the rows, so that dense products take no longer than sparse
// ones.
func (s *Solver) centredProducts(f factored, e []int32, ridge float64) {
	n, _ := s.view.Dims()
	size, total, weights, pace := len(e), s.view.Total(), s.view.Weights(), s.k.Pace()
	if s.curved != nil {
		weights = s.d
	}
	entries, weighted, stored := make([]float64, size*centredRows), make([]float64, centredRows), make([]int, size)
	clear(f.l)
	for first := 0; first < n; first += centredRows {
		count := min(centredRows, n-first)
		for a, j := range e {
			pace.Did(count * (a + 2))
			column := entries[a*centredRows:][:count]
			stored[a] = s.entries(j, f.columns.Centre(j), first, stored[a], column)
			copy(weighted, column)
			if weights != nil {
				for i, w := range weights[first:][:count] {
					weighted[i] *= w
				}
			}
			for b := range a + 1 {
				f.l[a*size+b] += s.k.Dot(weighted[:count], entries[b*centredRows:][:count])
			}
		}
	}
	for a := range size {
		for b := range a + 1 {
			v := f.l[a*size+b] / total
			f.l[a*size+b], f.l[b*size+a] = v, v
		}
		f.l[a*size+a] += ridge
	}
}
