package sparse

import "slices"

// transposed is the transpose of a matrix, once it has been requested.
type transposed struct {
	once   once
	matrix Matrix
}

// Transpose returns the matrix whose column i is row i of x, for problems whose
// variables are the samples. A dense matrix stays dense; any other becomes a
// [CSC]. It is made at the first call and stays with x.
func Transpose(x Matrix) Matrix {
	switch x := x.(type) {
	case *Dense:
		x.transposed.once.Do(func() { x.transposed.matrix = transposeDense(x) })
		return x.transposed.matrix
	case *CSC:
		x.transposed.once.Do(func() { x.transposed.matrix = transposeSparse(x) })
		return x.transposed.matrix
	default:
		return transposeSparse(x)
	}
}

// tileSide is the side of the square tiles in which a dense matrix is transposed: what a tile reads and writes fits
// in the cache.
const tileSide = 32

func transposeDense(x *Dense) *Dense {
	n, p := x.Dims()
	t := newDense(p, n)
	for first := 0; first < p; first += tileSide {
		for top := 0; top < n; top += tileSide {
			for j := first; j < min(first+tileSide, p); j++ {
				column := x.values[j*n:]
				for i := top; i < min(top+tileSide, n); i++ {
					t.values[i*p+j] = column[i]
				}
			}
		}
	}
	return t
}

func transposeSparse(x Matrix) *CSC {
	n, p := x.Dims()
	columns := slices.Clone(x.Order())
	slices.Sort(columns) // so that the rows of the transpose increase
	lengths := make([]int32, n)
	rows, values := x.Arrays()
	for _, i := range rows {
		lengths[i]++
	}
	t := allocate(p, n, nil, lengths)
	next := make([]int64, n) // row → where its next entry goes
	for i, s := range t.slots {
		if s >= 0 {
			next[i] = t.colPtr[s]
		}
	}
	type span struct{ from, to int64 }
	spans := make([]span, len(columns))
	for k, j := range columns {
		spans[k].from, spans[k].to = x.Span(int(j))
	}
	band := bandRows(n, len(columns), len(rows))
	for last := band; ; last += band {
		for k, j := range columns {
			s := &spans[k]
			at := s.from
			for ; at < s.to && int(rows[at]) < last; at++ {
				to := &next[rows[at]]
				t.rows[*to], t.values[*to] = j, values[at]
				*to++
			}
			s.from = at
		}
		if last >= n {
			return t
		}
	}
}

// bandRows returns how many rows of the matrix are transposed at a time. Each row has a place to write to, and
// few enough of these stay in the cache; but every band visits every column.
func bandRows(n, columns, entries int) int {
	const (
		fewest  = 1 << 13 // rows
		perLook = 4       // entries of a column that a band should have
	)
	bands := max(1, entries/(perLook*max(1, columns)))
	return max(fewest, (n+bands-1)/bands)
}
