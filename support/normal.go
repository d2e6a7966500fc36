package support

import (
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Normal is the matrix X_SᵀX_S of columns S of a sparse matrix, known by products.
// The SVM's samples are such columns.
//
// It copies the columns twice, by rows and by columns, so that both halves of a
// product are dot products. Rows are numbered by their number of entries: most
// entries are in few rows, and so a product finds most of what it reads in the nearest
// cache. Of a dense matrix nothing is copied. Ready once Kernels is set; not safe for
// concurrent use.
type Normal struct {
	Kernels *kernels.Set

	x     sparse.Matrix
	dense bool
	list  []int32
	rows  byRow
	u     []float64 // X_S·v by rank; by row of a dense matrix

	rank   []int32 // row → rank, where it has one
	from   []int64 // position in the list → first entry in the copy by columns; one more
	index  []int32 // rank of each entry
	values []float64
}

// Take makes a the matrix of the columns listed (kept, not copied).
func (a *Normal) Take(x sparse.Matrix, list []int32) {
	a.x, a.list = x, list
	m, _ := x.Dims()
	index, values := x.Arrays()
	if a.dense = index == nil; a.dense {
		a.u = resize(a.u, m)
		return
	}
	r := &a.rows
	r.next = resize(r.next, m)
	clear(r.next)
	a.from = resize(a.from, len(list)+1)
	a.from[0] = 0
	for k, j := range list {
		from, to := x.Span(int(j))
		a.from[k+1] = a.from[k] + to - from
		for _, i := range index[from:to] {
			r.next[i]++
		}
	}
	r.rank(len(list))
	a.u, a.rank = resize(a.u, len(r.order)), resize(a.rank, m)
	for k, i := range r.order {
		a.rank[i] = int32(k)
	}
	next := r.next[:copy(r.next, r.start[:len(r.order)])] // by rank from here on
	entries := int(a.from[len(list)])
	a.index, a.values = resize(a.index, entries), resize(a.values, entries)
	for k, j := range list {
		from, to := x.Span(int(j))
		copy(a.values[a.from[k]:], values[from:to])
		ranks := a.index[a.from[k]:a.from[k+1]]
		for e, i := range index[from:to] {
			rank := a.rank[i]
			ranks[e] = rank
			at := next[rank]
			r.position[at], r.values[at] = int32(k), values[from+int64(e)]
			next[rank]++
		}
	}
}

// Apply sets out = X_SᵀX_S·v.
func (a *Normal) Apply(v, out []float64) {
	a.combine(v)
	a.dots(out)
}

// Add does w ← w + X_S·v.
func (a *Normal) Add(v, w []float64) {
	a.combine(v)
	if a.dense {
		a.Kernels.Axpy(1, a.u, w)
		return
	}
	for k, i := range a.rows.order {
		w[i] += a.u[k]
	}
}

// Project sets out = X_Sᵀw.
func (a *Normal) Project(w, out []float64) {
	if a.dense {
		copy(a.u, w)
	} else {
		for k, i := range a.rows.order {
			a.u[k] = w[i]
		}
	}
	a.dots(out)
}

// Gram sets q, size × size for size columns, to the lower triangle of X_SᵀX_S; what is
// above the diagonal is undefined.
func (a *Normal) Gram(q []float64) {
	size := len(a.list)
	clear(a.u)
	for k, j := range a.list {
		row := q[k*size:][:k+1]
		if a.dense {
			_, values := a.x.Column(int(j))
			for l, other := range a.list[:k+1] {
				_, y := a.x.Column(int(other))
				row[l] = a.Kernels.Dot(values, y)
			}
			continue
		}
		from, to := a.from[k], a.from[k+1]
		for e := from; e < to; e++ {
			a.u[a.index[e]] = a.values[e]
		}
		a.Kernels.DotColumns(a.from[:k+2], a.index, a.values, a.u, row)
		for _, rank := range a.index[from:to] {
			a.u[rank] = 0
		}
	}
}

// combine sets u = X_S·v.
func (a *Normal) combine(v []float64) {
	if !a.dense {
		a.Kernels.DotColumns(a.rows.start, a.rows.position, a.rows.values, v, a.u)
		return
	}
	clear(a.u)
	for k, j := range a.list {
		_, values := a.x.Column(int(j))
		a.Kernels.Axpy(v[k], values, a.u)
	}
}

// dots sets out = X_Sᵀu.
func (a *Normal) dots(out []float64) {
	if !a.dense {
		a.Kernels.DotColumns(a.from, a.index, a.values, a.u, out)
		return
	}
	for k, j := range a.list {
		_, values := a.x.Column(int(j))
		out[k] = a.Kernels.Dot(values, a.u)
	}
}
