package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Factor is a Cholesky factorisation A = L·Lᵀ that grows and shrinks by one row
// at a time. For a row that depends on the rows before it, it gives the linear
// combination. Ready once Kernels is set. Not safe for concurrent use.
type Factor struct {
	Kernels *kernels.Set
	Floor   float64 // the share of its diagonal entry up to which [Factor.Append] refuses a pivot; 0: zero to working precision

	rows, stride int
	l            []float64 // row i at i·stride
}

// Reset empties the factor and makes room for size rows.
func (f *Factor) Reset(size int) {
	f.rows, f.stride = 0, size
	if size*size > len(f.l) {
		f.l = make([]float64, size*size)
	}
}

// Take factorises an s × s matrix with its rows and columns in the given order, which lists all of
// them. It stops before the first row that depends on the rows before it, and returns the number of
// rows held. [Factor.Null] is defined only after [Factor.Append] has refused that row, too.
func (f *Factor) Take(a []float64, s int, order []int) (rows int) {
	f.Reset(s)
	for i, r := range order {
		row, from := f.row(i), a[r*s:][:s]
		for j, c := range order[:i+1] {
			row[j] = from[c]
		}
	}
	f.rows = Cholesky(f.Kernels, f.l, s)
	return f.rows
}

// Rows returns the number of rows held.
func (f *Factor) Rows() int { return f.rows }

func (f *Factor) row(i int) []float64 { return f.l[i*f.stride:][:i+1] }

// Append adds a row to A: its entries with the rows held, and its diagonal. It
// returns false, and holds no more rows than before, where the new row depends on
// the rows held, to working precision; [Factor.Null] then gives the combination.
func (f *Factor) Append(a []float64) bool {
	row := f.row(f.rows)
	copy(row, a)
	for j := range f.rows {
		other := f.row(j)
		row[j] = (row[j] - f.Kernels.Dot(row[:j], other[:j])) / other[j]
	}
	pivot := row[f.rows] - f.Kernels.Dot(row[:f.rows], row[:f.rows])
	if !(pivot > max(pivotFloor, f.Floor)*row[f.rows]) {
		return false
	}
	row[f.rows] = math.Sqrt(pivot)
	f.rows++
	return true
}

// Null sets v, of length Rows()+1, to a vector that the matrix with the row just
// refused maps to zero. Its last entry, that row's, is 1.
func (f *Factor) Null(v []float64) {
	copy(v, f.l[f.rows*f.stride:][:f.rows])
	for i := f.rows - 1; i >= 0; i-- {
		row := f.row(i)
		v[i] /= row[i]
		f.Kernels.Axpy(-v[i], row[:i], v[:i])
	}
	f.Kernels.Scal(-1, v[:f.rows])
	v[f.rows] = 1
}

// Solve solves A·x = b in place of b, one entry for each row held.
func (f *Factor) Solve(b []float64) {
	f.Forward(b, 0)
	f.Backward(b)
}

// Forward solves L·x = b in place of b, one entry for each row held. The entries before from are
// solved already.
func (f *Factor) Forward(b []float64, from int) {
	for i := from; i < f.rows; i++ {
		row := f.row(i)
		b[i] = (b[i] - f.Kernels.Dot(row[:i], b[:i])) / row[i]
	}
}

// Backward solves Lᵀ·x = b in place of b, one entry for each row held.
func (f *Factor) Backward(b []float64) {
	for i := f.rows - 1; i >= 0; i-- {
		row := f.row(i)
		b[i] /= row[i]
		f.Kernels.Axpy(-b[i], row[:i], b[:i])
	}
}

// Remove takes row r out of A.
func (f *Factor) Remove(r int) {
	f.rows--
	for i := r; i < f.rows; i++ {
		copy(f.l[i*f.stride:][:i+2], f.l[(i+1)*f.stride:][:i+2])
	}
	// Rows from r on reach one past the diagonal: rotate that entry away.
	for c := r; c < f.rows; c++ {
		at := f.l[c*f.stride+c:][:2]
		length := math.Sqrt(math.FMA(at[0], at[0], at[1]*at[1]))
		cos, sin := at[0]/length, at[1]/length
		for i := c; i < f.rows; i++ {
			pair := f.l[i*f.stride+c:][:2]
			x, y := pair[0], pair[1]
			pair[0] = math.FMA(cos, x, sin*y)
			pair[1] = math.FMA(cos, y, -sin*x)
		}
	}
}
