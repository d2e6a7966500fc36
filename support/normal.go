package support

import (
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Normal is the matrix X_SᵀX_S of columns S of a matrix, known by its products. The
// SVM's samples are such columns.
//
// Sparse columns are copied, one after the other. A product takes updates that form
// u = X_S·v, then dot products with u. Once the updates have cost as much extra as a
// second copy costs, the entries are copied by rows too, so that both halves are dot
// products. Rows are then ranked by their number of entries: most entries are in few rows,
// so that most reads are from the first-level cache. A dense matrix is not copied. Ready
// once Kernels is set; not safe for concurrent use.
type Normal struct {
	Kernels *kernels.Set

	x         sparse.Matrix
	m         int // rows
	dense     bool
	list      []int32
	scale     []float64 // of rows; nil: 1
	u         []float64 // X_S·v by row; by rank once rows are ranked
	extraCost float64   // extra cost of products without ranks
	work      float64   // see [Normal.Work]

	from   []int64 // position in the list → first entry of the copy; one more at the end
	index  []int32 // row of each entry; its rank once rows are ranked
	values []float64

	ranked bool
	rows   byRow
	rank   []int32 // row → rank, where it has one
}

// Work returns the modelled cost, in nanoseconds, of what has been done with the columns taken.
func (a *Normal) Work() float64 { return a.work }

// passCost returns the cost of one pass over the entries, at a price for each entry of sparse columns.
func (a *Normal) passCost(price float64) float64 {
	if a.dense {
		return DenseCost(len(a.list) * a.m)
	}
	return float64(price * float64(len(a.values)))
}

// rankValue is the cost per entry of the ranks and the copy by rows.
const rankValue = 8.0

// Take makes a the matrix of the columns listed (kept, not copied).
func (a *Normal) Take(x sparse.Matrix, list []int32) { a.scaled(x, list, nil) }

// scaled is [Normal.Take] for a matrix whose rows are multiplied by a scale each (kept, not copied); nil: 1.
// [Normal.Add] ignores the scales.
func (a *Normal) scaled(x sparse.Matrix, list []int32, scale []float64) {
	a.scale = scale
	a.x, a.list, a.ranked, a.extraCost, a.work = x, list, false, 0, 0
	a.m, _ = x.Dims()
	a.u = resize(a.u, a.m)
	index, values := x.Arrays()
	if a.dense = index == nil; a.dense {
		return
	}
	a.from = resize(a.from, len(list)+1)
	a.from[0] = 0
	for k, j := range list {
		from, to := x.Span(int(j))
		a.from[k+1] = a.from[k] + to - from
	}
	entries := int(a.from[len(list)])
	a.index, a.values = resize(a.index, entries), resize(a.values, entries)
	for k, j := range list {
		from, to := x.Span(int(j))
		copy(a.index[a.from[k]:], index[from:to])
		copy(a.values[a.from[k]:], values[from:to])
	}
}

// rankRows ranks the rows and copies the entries by rows.
func (a *Normal) rankRows() {
	r := &a.rows
	a.work += a.passCost(rankValue)
	r.next = resize(r.next, a.m)
	clear(r.next)
	for _, i := range a.index {
		r.next[i]++
	}
	r.rank(len(a.list))
	a.u, a.rank, a.ranked = resize(a.u, len(r.order)), resize(a.rank, a.m), true
	for k, i := range r.order {
		a.rank[i] = int32(k)
	}
	next := r.next[:copy(r.next, r.start[:len(r.order)])] // by rank from here on
	for k := range a.list {
		from, to := a.from[k], a.from[k+1]
		index, values := a.index[from:to], a.values[from:to]
		for e, i := range index {
			rank := a.rank[i]
			index[e] = rank
			at := next[rank]
			r.position[at], r.values[at] = int32(k), values[e]
			next[rank]++
		}
	}
}

// Apply sets out = X_SᵀX_S·v.
func (a *Normal) Apply(v, out []float64) {
	if !a.dense && !a.ranked {
		entries := float64(len(a.values))
		if a.extraCost > float64(rankValue*entries) {
			a.rankRows()
		} else {
			a.extraCost += float64((UpdateValue-SparseValue)*entries) + float64(DenseValue*float64(a.m))
		}
	}
	a.combine(v)
	a.rescale()
	a.dots(out)
}

// Add does w ← w + X_S·v.
func (a *Normal) Add(v, w []float64) {
	a.combine(v)
	if !a.ranked {
		a.Kernels.Axpy(1, a.u, w)
		return
	}
	for k, i := range a.rows.order {
		w[i] += a.u[k]
	}
}

// Gram sets q, size × size for size columns, to the lower triangle of X_SᵀX_S; what is
// above the diagonal is undefined.
func (a *Normal) Gram(q []float64) {
	size := len(a.list)
	a.Kernels.Clear(a.u)
	a.work += float64(float64(size) / 2 * a.passCost(SparseValue))
	for k, j := range a.list {
		row := q[k*size:][:k+1]
		if a.dense {
			_, values := a.x.Column(int(j))
			if a.scale != nil {
				copy(a.u, values)
				a.rescale()
				values = a.u
			}
			for l, other := range a.list[:k+1] {
				_, y := a.x.Column(int(other))
				row[l] = a.Kernels.Dot(values, y)
			}
			continue
		}
		from, to := a.from[k], a.from[k+1]
		for e := from; e < to; e++ {
			at := a.index[e]
			a.u[at] = a.values[e] * a.squaredScale(int(at))
		}
		a.Kernels.DotColumns(a.from[:k+2], a.index, a.values, a.u, row)
		for _, rank := range a.index[from:to] {
			a.u[rank] = 0
		}
	}
}

// rescale multiplies u by the squares of the scales.
func (a *Normal) rescale() {
	if a.scale == nil {
		return
	}
	for at := range a.u {
		a.u[at] *= a.squaredScale(at)
	}
}

// squaredScale returns the squared scale of a row, given by its position in u.
func (a *Normal) squaredScale(at int) float64 {
	switch {
	case a.scale == nil:
		return 1
	case a.ranked:
		at = int(a.rows.order[at])
	}
	return a.scale[at] * a.scale[at]
}

// combine sets u = X_S·v.
func (a *Normal) combine(v []float64) {
	if a.ranked {
		a.work += a.passCost(SparseValue)
		a.Kernels.DotColumns(a.rows.start, a.rows.position, a.rows.values, v, a.u)
		return
	}
	a.work += a.passCost(UpdateValue)
	a.Kernels.Clear(a.u)
	if !a.dense {
		for k, times := range v {
			from, to := a.from[k], a.from[k+1]
			a.Kernels.AxpyIndexed(times, a.values[from:to], a.index[from:to], a.u)
		}
		return
	}
	for k, j := range a.list {
		_, values := a.x.Column(int(j))
		a.Kernels.Axpy(v[k], values, a.u)
	}
}

// dots sets out = X_Sᵀu.
func (a *Normal) dots(out []float64) {
	a.work += a.passCost(SparseValue)
	if !a.dense {
		a.Kernels.DotColumns(a.from, a.index, a.values, a.u, out)
		return
	}
	for k, j := range a.list {
		_, values := a.x.Column(int(j))
		out[k] = a.Kernels.Dot(values, a.u)
	}
}
