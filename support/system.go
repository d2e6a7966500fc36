// Package support is linear algebra on a support: the symmetric system that
// implicit differentiation and Newton steps solve on the s columns where the
// penalty is differentiable, and what serves it: compact copies of columns, their
// Gram matrix, factorisations and conjugate gradients.
package support

import (
	"github.com/seed-45b9a24c/pare/kernels"
)

// System is the operator A = X̃_Sᵀdiag(w)X̃_S/N + α₂I on columns S that a store
// holds (Bertrand et al., appendix A; with an intercept the columns are centred,
// which eliminates its row). It is not safe for concurrent use.
//
// A product is two passes over the entries of X̂_S: one for u = X̃_S·v, one of dot
// products with it. The first is an update of u for each column, or by rows, from a
// copy of the entries that the store keeps from one system to the next, dot products
// too, which read where an update also writes.
type System struct {
	columns *Columns
	rows    *rowCopy
	k       *kernels.Set
	list    []int32
	ridge   float64
	u       []float64 // compact rows: X̃_S·v, of the store, valid until another system multiplies

	// Of sparse columns, by position in the list, those eliminated left out:
	from, to []int64   // in the store
	means    []float64 // to carry
	place    []int32   // in the copy by rows, -1: not there
	entries  int       // of dense columns, too
	useRows  bool
	waste    float64 // of a product, over one with a copy of these very columns

	block     block
	following following

	collecting collecting
	updating   updating
}

// Reset makes a the system of the columns listed (kept, not copied), which the
// store must hold.
func (a *System) Reset(columns *Columns, list []int32, ridge float64) {
	a.reset(columns, &columns.rows, &columns.scratch[0], list, ridge)
}

// reset is Reset with a copy and a vector over the rows of its own.
func (a *System) reset(columns *Columns, rows *rowCopy, scratch *[]float64, list []int32, ridge float64) {
	a.columns, a.rows, a.k, a.list, a.ridge = columns, rows, columns.view.Kernels(), list, ridge
	if cap(*scratch) < columns.m {
		*scratch = columns.view.Floats(columns.m)
	}
	a.u = (*scratch)[:columns.m]
	a.block.columns = a.block.columns[:0]
	rows.reader = nil
	if !columns.dense {
		a.locate()
	} else {
		a.entries = len(list) * columns.m
	}
}

// locate notes where the columns of the list are.
func (a *System) locate() {
	s := len(a.list)
	a.from, a.to, a.means = resize(a.from, s), resize(a.to, s), resize(a.means, s)
	a.entries, a.updating.of = 0, 0
	for i, j := range a.list {
		a.from[i], a.to[i] = a.columns.Entries(j)
		a.means[i] = a.columns.Mean(j)
		a.entries += a.columns.Length(j)
	}
}

// consult decides whether the copy by rows is of use.
func (a *System) consult() {
	rows := a.rows
	a.place = resize(a.place, len(a.list))
	missing := a.entries
	for i, j := range a.list {
		a.place[i] = -1
		if rows.entries == 0 {
			continue
		}
		if a.place[i] = rows.place[j]; a.place[i] >= 0 {
			missing -= int(a.to[i] - a.from[i])
		}
	}
	least, updates := float64(SparseValue*float64(a.entries)), float64(UpdateValue*float64(a.entries))
	with := float64(SparseValue*float64(rows.entries)) + float64(UpdateValue*float64(missing))
	a.useRows = with < updates
	a.waste = min(with, updates) - least
	clear(rows.v)
	rows.reader = a
}

// Apply sets out = A·v.
func (a *System) Apply(v, out []float64) {
	a.spread(v)
	a.collect(a.u, out)
	a.k.Axpy(a.ridge, v, out)
}

// collect sets out = X̃_Sᵀu/N.
func (a *System) collect(u, out []float64) {
	c, total := a.columns, a.columns.view.Total()
	c.work += c.valuesCost(a.entries, SparseValue)
	switch {
	case c.dense:
		for i, j := range a.list {
			_, values := c.Column(j)
			out[i] = a.k.Dot(values, u)
		}
	case c.Partial():
		for i, j := range a.list {
			rows, values := c.Column(j)
			out[i] = a.k.DotIndexed(values, rows, u)
		}
	default:
		a.collecting = collecting{a, u, out}
		team := c.view.Team()
		team.Do(team.Parts(c.valuesCost(a.entries, SparseValue)), &a.collecting)
	}
	for i := range out {
		out[i] /= total
	}
}

// spread sets u = X̃_S·v.
func (a *System) spread(v []float64) {
	c, rows := a.columns, a.rows
	if c.dense {
		c.work += c.valuesCost(a.entries, DenseValue)
		a.k.Clear(a.u)
		for i, j := range a.list {
			_, values := c.Column(j)
			a.k.Axpy(v[i], values, a.u)
		}
		return
	}
	if c.bytes > 0 {
		a.spreadHeld(v)
		return
	}
	if rows.reader != a {
		a.consult()
	}
	if rows.wasted > float64(copyValue*float64(a.entries)) {
		rows.take(c, a.list)
		a.consult()
	}
	rows.wasted += a.waste
	cost := a.waste + c.valuesCost(a.entries, SparseValue)
	c.work += cost
	if !a.useRows {
		a.updating.a, a.updating.v = a, v
		team := c.view.Team()
		parts := team.Few(cost)
		a.updating.cut(parts)
		team.Do(parts, &a.updating)
	} else {
		for i, b := range v {
			if k := a.place[i]; k >= 0 {
				rows.v[k] = b
			}
		}
		rows.spread(c, a.u)
		for i, b := range v {
			if a.place[i] < 0 {
				a.k.AxpyIndexed(b, c.values[a.from[i]:a.to[i]], c.index[a.from[i]:a.to[i]], a.u)
			}
		}
	}
	a.centre(v)
}

// spreadHeld is spread of a store with a bound.
func (a *System) spreadHeld(v []float64) {
	c := a.columns
	c.work += c.valuesCost(a.entries, UpdateValue)
	a.k.Clear(a.u)
	for i, j := range a.list {
		rows, values := c.Column(j)
		a.k.AxpyIndexed(v[i], values, rows, a.u)
	}
	a.centre(v)
}

// centre takes from u = X_S·v what its columns have on average.
func (a *System) centre(v []float64) {
	if shift := a.k.Dot(a.means, v); shift != 0 {
		a.columns.lower(a.u, shift)
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
	c.view.Kernels().Subtract(shift, u)
}

// resize returns v with length n, its contents undefined.
func resize[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n+n/4)[:n]
	}
	return v[:n]
}
