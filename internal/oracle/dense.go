package oracle

import "math"

func sqrt1m2(rho float64) float64 { return math.Sqrt(1 - rho*rho) }

// SolveDense solves A·x = b by Gaussian elimination with partial pivoting and two steps of iterative
// refinement. ok is false if a pivot vanishes to working precision. A and b are not modified.
func SolveDense(a [][]float64, b []float64) (x []float64, ok bool) {
	n := len(b)
	lu := make([][]float64, n)
	row := make([]int, n)
	largest := 0.0
	for i := range lu {
		lu[i] = append([]float64(nil), a[i]...)
		row[i] = i
		for _, v := range a[i] {
			largest = math.Max(largest, math.Abs(v))
		}
	}
	for k := range n {
		pivot := k
		for i := k + 1; i < n; i++ {
			if math.Abs(lu[i][k]) > math.Abs(lu[pivot][k]) {
				pivot = i
			}
		}
		lu[k], lu[pivot] = lu[pivot], lu[k]
		row[k], row[pivot] = row[pivot], row[k]
		if math.Abs(lu[k][k]) <= 1e-13*largest {
			return nil, false
		}
		for i := k + 1; i < n; i++ {
			lu[i][k] /= lu[k][k]
			for j := k + 1; j < n; j++ {
				lu[i][j] -= lu[i][k] * lu[k][j]
			}
		}
	}
	x = make([]float64, n)
	for range 3 {
		r := make([]float64, n)
		for i := range r {
			var sum Sum
			sum.Add(b[row[i]])
			for j, v := range a[row[i]] {
				sum.AddProduct(-v, x[j])
			}
			r[i] = sum.Value()
		}
		for i := range n {
			for j := range i {
				r[i] -= lu[i][j] * r[j]
			}
		}
		for i := n - 1; i >= 0; i-- {
			for j := i + 1; j < n; j++ {
				r[i] -= lu[i][j] * r[j]
			}
			r[i] /= lu[i][i]
			x[i] += r[i]
		}
	}
	return x, true
}

// Eigenvalues returns the eigenvalues of a symmetric matrix, unordered, by cyclic Jacobi rotations. A is not
// modified.
func Eigenvalues(a [][]float64) []float64 {
	n := len(a)
	m := make([][]float64, n)
	for i := range m {
		m[i] = append([]float64(nil), a[i]...)
	}
	for range 60 {
		off, all := 0.0, 0.0
		for i := range m {
			for j, v := range m[i] {
				all += v * v
				if i != j {
					off += v * v
				}
			}
		}
		if off <= 1e-32*all {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				if m[p][q] == 0 {
					continue
				}
				theta := (m[q][q] - m[p][p]) / (2 * m[p][q])
				t := 1 / (math.Abs(theta) + math.Hypot(theta, 1))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Hypot(t, 1)
				s := t * c
				for k := range n {
					m[k][p], m[k][q] = c*m[k][p]-s*m[k][q], s*m[k][p]+c*m[k][q]
				}
				for k := range n {
					m[p][k], m[q][k] = c*m[p][k]-s*m[q][k], s*m[p][k]+c*m[q][k]
				}
			}
		}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = m[i][i]
	}
	return out
}

// Sum is a compensated sum (Neumaier), so that the oracle's rounding errors do not obscure what it measures.
type Sum struct{ head, tail float64 }

// Add adds v.
func (s *Sum) Add(v float64) {
	t := s.head + v
	if math.Abs(s.head) >= math.Abs(v) {
		s.tail += (s.head - t) + v
	} else {
		s.tail += (v - t) + s.head
	}
	s.head = t
}

// AddProduct adds a·b without rounding the product.
func (s *Sum) AddProduct(a, b float64) {
	p := a * b
	s.Add(p)
	s.tail += math.FMA(a, b, -p)
}

// Value returns the sum.
func (s *Sum) Value() float64 { return s.head + s.tail }
