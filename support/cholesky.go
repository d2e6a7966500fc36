package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// pivotFloor is the share of its diagonal entry below which a pivot counts as
// zero: the matrix is singular to working precision.
const pivotFloor = 1e-12

// Cholesky factorises a symmetric positive semidefinite s × s matrix, stored row
// by row, in place: A = L·Lᵀ, L in the lower triangle. It returns the number of
// rows done, which is s unless the next pivot is zero to working precision.
func Cholesky(k *kernels.Set, a []float64, s int) (rows int) {
	for i := range s {
		row := a[i*s:][:i+1]
		for j := range i {
			other := a[j*s:][:j+1]
			row[j] = (row[j] - k.Dot(row[:j], other[:j])) / other[j]
		}
		pivot := row[i] - k.Dot(row[:i], row[:i])
		if !(pivot > pivotFloor*row[i]) {
			return i
		}
		row[i] = math.Sqrt(pivot)
	}
	return s
}

// CholeskySolve solves L·Lᵀ·x = b in place of b, with L from [Cholesky].
func CholeskySolve(k *kernels.Set, l []float64, s int, b []float64) {
	for i := range s {
		row := l[i*s:][:i+1]
		b[i] = (b[i] - k.Dot(row[:i], b[:i])) / row[i]
	}
	backSubstitute(k, l, s, b[:s])
}

// backSubstitute solves Lᵀ·x = b in place of b for the leading len(b) rows.
func backSubstitute(k *kernels.Set, l []float64, s int, b []float64) {
	for i := len(b) - 1; i >= 0; i-- {
		row := l[i*s:][:i+1]
		b[i] /= row[i]
		k.Axpy(-b[i], row[:i], b[:i])
	}
}

// Matrix is a dense symmetric matrix, row by row, as an [Operator].
type Matrix struct {
	Kernels *kernels.Set
	A       []float64
	S       int
}

// Apply sets out = A·v.
func (m *Matrix) Apply(v, out []float64) {
	for i := range m.S {
		out[i] = m.Kernels.Dot(m.A[i*m.S:][:m.S], v)
	}
}

// Diagonal sets out to the diagonal of A.
func (m *Matrix) Diagonal(out []float64) {
	for i := range m.S {
		out[i] = m.A[i*m.S+i]
	}
}
