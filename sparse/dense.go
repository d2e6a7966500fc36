package sparse

import (
	"math/bits"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Dense is a dense matrix stored by columns. What views have computed of it, such as [View.Single], stays with
// it.
type Dense struct {
	n, p   int
	order  []int32
	values []float64 // value (i, j) at j·n + i

	transposed transposed
	singles    singles
	moments    momentsCache
}

// NewDense returns the n × p matrix with value (i, j) at columnMajor[j·n + i]; for values by rows, take the
// [Transpose] of NewDense(p, n, byRows). The values are checked and copied. Errors are [*outcome.Error]: Shape
// for a length other than n·p, NonFinite for a NaN or an infinity (with its row and column), Limit for
// dimensions beyond [MaxDim].
func NewDense(n, p int, columnMajor []float64) (*Dense, error) {
	if err := checkDims(n, p); err != nil {
		return nil, err
	}
	if hi, size := bits.Mul64(uint64(n), uint64(p)); hi != 0 || size != uint64(len(columnMajor)) {
		return nil, outcome.Errorf(outcome.Shape, "%d values for a %d × %d matrix", len(columnMajor), n, p)
	}
	for k, v := range columnMajor {
		if !finite(v) {
			return nil, nonFinite(k%n, k/n, v)
		}
	}
	m := newDense(n, p)
	(*kernels.Set)(nil).Copy(m.values, columnMajor) // in pieces
	return m, nil
}

func newDense(n, p int) *Dense {
	m := &Dense{n: n, p: p, order: make([]int32, p), values: make([]float64, n*p)}
	for j := range m.order {
		m.order[j] = int32(j)
	}
	return m
}

// Compact returns the smaller of the two forms of m: dense where at least half of its entries are nonzero (8
// bytes per entry, instead of 12 per nonzero, and no indices to follow), m itself otherwise.
func Compact(m *CSC) Matrix {
	if size := int64(m.n) * int64(m.p); size == 0 || 2*m.NNZ() < size {
		return m
	}
	d := newDense(m.n, m.p)
	for _, j := range m.order {
		_, dense := d.Column(int(j))
		rows, values := m.Column(int(j))
		for k, i := range rows {
			dense[i] = values[k]
		}
	}
	return d
}

// Compressed returns m in compressed columns: m itself if it is a [CSC].
func Compressed(m Matrix) *CSC {
	if csc, ok := m.(*CSC); ok {
		return csc
	}
	n, p := m.Dims()
	columns, rows := make([]int32, p), make([]int32, n)
	for j := range columns {
		columns[j] = int32(j)
	}
	for i := range rows {
		rows[i] = int32(i)
	}
	return build(n, p, columns, func(j int) ([]int32, []float64) {
		_, values := m.Column(j)
		return rows, values
	})
}

// Nonzeros returns the number of entries of m that are not 0.
func Nonzeros(m Matrix) int64 {
	if csc, ok := m.(*CSC); ok {
		return csc.NNZ()
	}
	_, values := m.Arrays()
	nnz := int64(0)
	for _, v := range values {
		if v != 0 {
			nnz++
		}
	}
	return nnz
}

// Dims returns the number of rows n and of columns p.
func (m *Dense) Dims() (n, p int) { return m.n, m.p }

// NNZ returns n·p: every entry is stored.
func (m *Dense) NNZ() int64 { return int64(len(m.values)) }

// Column returns nil rows and the n values of column j. It panics unless
// 0 ≤ j < p. Read only.
func (m *Dense) Column(j int) (rows []int32, values []float64) {
	if uint(j) >= uint(m.p) {
		panic("sparse: column index out of range")
	}
	a, b := j*m.n, (j+1)*m.n
	return nil, m.values[a:b:b]
}

// Arrays implements [Matrix].
func (m *Dense) Arrays() (rows []int32, values []float64) { return nil, m.values }

// Span implements [Matrix].
func (m *Dense) Span(j int) (from, to int64) { return int64(j) * int64(m.n), int64(j+1) * int64(m.n) }

// Order returns 0, 1, …, p−1. Read only.
func (m *Dense) Order() []int32 { return m.order }

// Place returns j.
func (m *Dense) Place(j int) int { return j }

// Stored implements [Matrix].
func (m *Dense) Stored(from, to int) (first, end int64) {
	return int64(from) * int64(m.n), int64(to) * int64(m.n)
}

// Bytes returns the memory that the matrix holds, in bytes, without its transpose and without what views keep
// with it.
func (m *Dense) Bytes() int64 { return 4*int64(len(m.order)) + 8*int64(len(m.values)) }

var (
	_ Matrix = (*CSC)(nil)
	_ Matrix = (*Dense)(nil)
)
