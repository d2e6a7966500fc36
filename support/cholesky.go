package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// pivotFloor is the share of its diagonal entry below which a pivot counts as
// zero: the matrix is singular to working precision.
const pivotFloor = 1e-12

// Cholesky factorises a symmetric positive semidefinite s × s matrix, stored row
// by row, in place: A = L·Lᵀ. A is read from the lower triangle. It returns the
// number of rows done, which is s unless the next pivot is zero to working
// precision. Where it is s, L is in the lower triangle and Lᵀ in the upper one;
// otherwise the rows done are rows of L, and the others are undefined.
//
// Rows are taken eight at a time. What is subtracted from a tile of 8 × 8 is the
// product of the rows of L to its left and the columns of Lᵀ above its mirror image.
func Cholesky(k *kernels.Set, a []float64, s int) (rows int) {
	whole, pace := s&^(tile-1), k.Pace()
	for i := 0; i < whole; i += tile {
		pace.Did(i * i)
		for j := 0; j < i; j += tile {
			upper := a[j*s+i:]
			transpose(a[i*s+j:], upper, s)
			k.SubTile(a[j*s:], a[i:], s, j, upper)
			k.SolveTile(a[j*s+j:], s, upper)
			transpose(upper, a[i*s+j:], s)
		}
		if done := diagonalTile(k, a, s, i); done < tile {
			return i + done
		}
	}
	for i := whole; i < s; i++ {
		pace.Did(i * i)
		row := a[i*s:][:i+1]
		for j := 0; j < whole; j += tile {
			k.SubPanel(row[:j], a[j:], s, row[j:])
			forward(a[j*s+j:], s, row[j:][:tile])
		}
		for j := whole; j < i; j++ {
			row[j] = (row[j] - k.Dot(row[:j], a[j*s:][:j])) / a[j*s+j]
		}
		pivot := row[i] - k.Dot(row[:i], row[:i])
		if !(pivot > pivotFloor*row[i]) {
			return i
		}
		row[i] = math.Sqrt(pivot)
		for j, v := range row[:i] {
			a[j*s+i] = v
		}
	}
	return s
}

const tile = kernels.Lanes

// transpose copies a tile to its mirror image.
func transpose(from, to []float64, stride int) {
	for c := range tile {
		row := (*[tile]float64)(to[c*stride:])
		for l := range row {
			row[l] = from[l*stride+c]
		}
	}
}

// diagonalTile factorises the tile on the diagonal that begins at row i, and returns the
// number of its rows before the first zero pivot.
func diagonalTile(k *kernels.Set, a []float64, s, i int) (done int) {
	at := a[i*s+i:]
	var before [tile]float64 // the diagonal of A
	for c := range tile {
		before[c] = at[c*s+c]
		for l := range c {
			at[l*s+c] = at[c*s+l]
		}
	}
	k.SubTile(a[i*s:], a[i:], s, i, at)
	for c := range tile {
		row := (*[tile]float64)(at[c*s:])
		if !(row[c] > pivotFloor*before[c]) {
			return c
		}
		row[c] = math.Sqrt(row[c])
		inverse := 1 / row[c]
		for l := c + 1; l < tile; l++ {
			row[l] *= inverse
		}
		for d := c + 1; d < tile; d++ {
			below, v := (*[tile]float64)(at[d*s:]), row[d]
			for l := d; l < tile; l++ {
				below[l] = math.FMA(-v, row[l], below[l])
			}
			below[c] = v // L
		}
	}
	return tile
}

// CholeskySolve solves L·Lᵀ·x = b in place of b, where [Cholesky] has made l.
func CholeskySolve(k *kernels.Set, l []float64, s int, b []float64) {
	whole := s &^ (tile - 1)
	for i := 0; i < whole; i += tile {
		k.SubPanel(b[:i], l[i:], s, b[i:])
		forward(l[i*s+i:], s, b[i:][:tile])
	}
	for i := whole; i < s; i++ {
		row := l[i*s:][:i+1]
		b[i] = (b[i] - k.Dot(row[:i], b[:i])) / row[i]
	}
	for i := s - 1; i >= whole; i-- {
		b[i] = (b[i] - k.Dot(l[i*s:][i+1:s], b[i+1:s])) / l[i*s+i]
	}
	for i := whole - tile; i >= 0; i -= tile {
		if next := i + tile; next < s {
			k.SubPanel(b[next:s], l[next*s+i:], s, b[i:])
		}
		backward(l[i*s+i:], s, b[i:][:tile])
	}
}

// Padded copies the lower triangle of an s × s matrix to a larger one, with 1 on the rest of the diagonal. Its size, which
// is returned too, is the next multiple of [kernels.Lanes].
func Padded(k *kernels.Set, l []float64, s int) (padded []float64, size int) {
	size = roundUpToLanes(s)
	padded = make([]float64, size*size)
	pace := k.Pace()
	for i := range size {
		pace.Did(size)
		if i < s {
			copy(padded[i*size:], l[i*s:][:i+1])
		} else {
			padded[i*size+i] = 1
		}
	}
	return padded, size
}

// ForwardTiles solves L·X = B in place of B, L and B size × size as [Padded] makes them. It does so for the first columns
// of B, rounded up to whole tiles.
func ForwardTiles(k *kernels.Set, l, b []float64, size, columns int) {
	pace := k.Pace()
	for i := 0; i < columns; i += tile {
		pace.Did(size * size)
		for j := 0; j < size; j += tile {
			t := b[j*size+i:]
			k.SubTile(l[j*size:], b[i:], size, j, t)
			k.SolveTile(l[j*size+j:], size, t)
		}
	}
}

// InverseDiagonal sets out to the diagonal of A⁻¹, where [Cholesky] has made l: entry k is
// ‖L⁻¹eₖ‖², from a forward solve that begins at row k. scratch has s entries too.
func InverseDiagonal(k *kernels.Set, l []float64, s int, out, scratch []float64) {
	whole := s &^ (tile - 1)
	x, pace := scratch, k.Pace()
	for at := range s {
		pace.Did((s - at) * (s - at))
		from := min(at&^(tile-1), whole)
		clear(x[from:])
		x[at] = 1
		for i := from; i < whole; i += tile {
			k.SubPanel(x[from:i], l[from*s+i:], s, x[i:])
			forward(l[i*s+i:], s, x[i:][:tile])
		}
		for i := whole; i < s; i++ {
			row := l[i*s:][:i+1]
			x[i] = (x[i] - k.Dot(row[from:i], x[from:i])) / row[i]
		}
		out[at] = k.Dot(x[from:s], x[from:s])
	}
}

// forward solves L·x = b in place of b, for the tile at l.
func forward(l []float64, stride int, b []float64) {
	for c := range b {
		v := b[c]
		for d, w := range l[c*stride:][:c] {
			v = math.FMA(-w, b[d], v)
		}
		b[c] = v / l[c*stride+c]
	}
}

// backward solves Lᵀ·x = b in place of b, for the tile at l, whose upper triangle
// is Lᵀ.
func backward(l []float64, stride int, b []float64) {
	for c := len(b) - 1; c >= 0; c-- {
		v := b[c]
		for d := c + 1; d < len(b); d++ {
			v = math.FMA(-l[c*stride+d], b[d], v)
		}
		b[c] = v / l[c*stride+c]
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
