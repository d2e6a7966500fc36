// Package support is linear algebra on a support: the symmetric system that
// implicit differentiation and Newton steps solve on the s columns where the
// penalty is differentiable, and what serves it: compact copies of columns, their
// Gram matrix, factorisations and conjugate gradients.
package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// System is the operator A = X̃_Sᵀdiag(w)X̃_S/N + α₂I on columns S that a store
// holds (Bertrand et al., appendix A; with an intercept the columns are centred,
// which eliminates its row). It implements [Operator]; it is not safe for
// concurrent use.
//
// A product is two passes over the entries of X̂_S: an update of u = X̃_S·v for each
// column, and dot products with it. Where many products are expected, a copy of
// the entries by rows makes dot products of the first pass too, which read where
// an update also writes.
type System struct {
	columns *Columns
	k       *kernels.Set
	list    []int32
	ridge   float64
	byRows  bool
	u       []float64 // compact rows: X̃_S·v

	// Of sparse columns, by position in the list:
	from, to []int64   // in the store
	means    []float64 // to carry
	// By row, the shortest first: what mixes lengths mispredicts its branches.
	order    []int32 // rank → row; rows without entries are left out
	start    []int64 // rank → first entry
	position []int32 // of each entry in the list
	values   []float64
	ranked   []float64 // u by rank
	next     []int64   // row → where its next entry goes
	count    []int32   // length → rows
}

// manyProducts is the number of products that a copy by rows pays for itself in.
const manyProducts = 24

// Reset makes a the system of the columns listed (kept, not copied), which the
// store must hold, for about as many products as expected.
func (a *System) Reset(columns *Columns, list []int32, ridge float64, products int) {
	a.columns, a.k, a.list, a.ridge = columns, columns.view.Kernels(), list, ridge
	a.u = resize(a.u, columns.m)
	if columns.dense {
		return
	}
	s := len(list)
	a.from, a.to, a.means = resize(a.from, s), resize(a.to, s), resize(a.means, s)
	for i, j := range list {
		a.from[i], a.to[i] = columns.Entries(j)
		a.means[i] = columns.Mean(j)
	}
	if a.byRows = products >= manyProducts; a.byRows {
		a.arrange()
	}
}

// arrange copies the entries of the columns by rows.
func (a *System) arrange() {
	c := a.columns
	a.next = resize(a.next, c.m)
	clear(a.next)
	entries := 0
	for i := range a.list {
		for _, row := range c.index[a.from[i]:a.to[i]] {
			a.next[row]++
		}
		entries += int(a.to[i] - a.from[i])
	}
	a.rank()
	at := int64(0)
	for k, row := range a.order {
		a.start[k] = at
		a.next[row], at = at, at+a.next[row]
	}
	a.start[len(a.order)] = at
	a.position, a.values = resize(a.position, entries), resize(a.values, entries)
	for i := range a.list {
		rows, values := c.index[a.from[i]:a.to[i]], c.values[a.from[i]:a.to[i]]
		for at, row := range rows {
			k := a.next[row]
			a.position[k], a.values[k] = int32(i), values[at]
			a.next[row]++
		}
	}
}

// rank lists the rows that have entries, by their number in next.
func (a *System) rank() {
	longest := int64(len(a.list))
	a.count = resize(a.count, int(longest)+2)
	clear(a.count)
	for _, length := range a.next {
		a.count[length+1]++
	}
	empty := a.count[1]
	a.count[1] = 0
	for l := range longest {
		a.count[l+2] += a.count[l+1]
	}
	rows := len(a.next) - int(empty)
	a.order, a.start, a.ranked = resize(a.order, rows), resize(a.start, rows+1), resize(a.ranked, rows)
	for row, length := range a.next {
		if length > 0 {
			a.order[a.count[length]] = int32(row)
			a.count[length]++
		}
	}
}

// Apply sets out = A·v.
func (a *System) Apply(v, out []float64) {
	c, total := a.columns, a.columns.view.Total()
	if c.dense {
		clear(a.u)
		for i, j := range a.list {
			_, values := c.Column(j)
			a.k.Axpy(v[i], values, a.u)
		}
		for i, j := range a.list {
			_, values := c.Column(j)
			out[i] = a.k.Dot(values, a.u)
		}
	} else {
		if a.byRows {
			a.k.DotColumns(a.start, a.position, a.values, v, a.ranked)
			clear(a.u)
			for k, row := range a.order {
				a.u[row] = a.ranked[k]
			}
		} else {
			clear(a.u)
			for i, b := range v {
				a.k.AxpyIndexed(b, c.values[a.from[i]:a.to[i]], c.index[a.from[i]:a.to[i]], a.u)
			}
		}
		if shift := a.k.Dot(a.means, v); shift != 0 {
			c.lower(a.u, shift)
		}
		a.k.DotSpans(a.from, a.to, c.index, c.values, a.u, out)
	}
	for i, product := range out {
		out[i] = math.FMA(a.ridge, v[i], product/total)
	}
}

// Diagonal sets out to diag A = ‖X̃_j‖²/N + α₂.
func (a *System) Diagonal(out []float64) {
	total := a.columns.view.Total()
	for i, j := range a.list {
		out[i] = a.columns.Square(j)/total + a.ridge
	}
}

// lower subtracts shift·√w from u.
func (c *Columns) lower(u []float64, shift float64) {
	if c.root != nil {
		c.view.Kernels().Axpy(-shift, c.root, u)
		return
	}
	for i := range u {
		u[i] -= shift
	}
}

// resize returns v with length n, its contents undefined.
func resize[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n+n/4)[:n]
	}
	return v[:n]
}
