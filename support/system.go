// Package support is linear algebra on a support: the symmetric system that
// implicit differentiation and Newton steps solve on the s columns where the
// penalty is differentiable, and what it is built from: compact copies of columns, their
// Gram matrix, factorisations and conjugate gradients.
package support

import (
	"github.com/seed-45b9a24c/pare/kernels"
)

// System is the operator A = X̃_Sᵀdiag(w)X̃_S/N + α₂I on columns S that a store
// holds (Bertrand et al., appendix A; with an intercept the columns are centred,
// which eliminates the intercept). It is not safe for concurrent use.
//
// A product takes two passes over the entries of X̂_S: updates that form u = X̃_S·v, then dot
// products with u. Where it pays, both passes use [bands], a copy of the entries in bands of rows
// that the store keeps from one system to the next.
type System struct {
	columns *Columns
	bands   *bands
	k       *kernels.Set
	list    []int32
	ridge   float64
	u       []float64 // X̃_S·v by compact row; memory of the store, valid until another system computes a product

	// Of sparse columns; slices are by position in the list.
	from, to     []int64   // where the entries of the column are in the store
	means        []float64 // [Columns.Mean]
	bandPosition []int32   // position in the bands, -1: not in them
	entries      int       // of all columns; of dense ones, too
	banded       bool      // products use the bands
	extraCost    float64   // extra cost of a pass over one with bands of exactly these columns

	elimination elimination
	following   following

	dotTask    dotTask
	updateTask updateTask
}

// Reset makes a the system of the columns in list, which the store must hold.
// The list is kept, not copied.
func (a *System) Reset(columns *Columns, list []int32, ridge float64) {
	a.reset(columns, &columns.bands, &columns.scratch[0], list, ridge)
}

// reset is [System.Reset] with the given bands and the given vector over the rows.
func (a *System) reset(columns *Columns, bands *bands, scratch *[]float64, list []int32, ridge float64) {
	a.columns, a.bands, a.k, a.list, a.ridge = columns, bands, columns.view.Kernels(), list, ridge
	if cap(*scratch) < columns.m {
		*scratch = columns.view.Floats(columns.m)
	}
	a.u = (*scratch)[:columns.m]
	a.elimination.columnsL = a.elimination.columnsL[:0]
	bands.reader, a.banded = nil, false
	if !columns.dense {
		a.locate()
	} else {
		a.entries = len(list) * columns.m
	}
}

// locate looks up the entries and the means of the listed columns in the store.
func (a *System) locate() {
	s := len(a.list)
	a.from, a.to, a.means = resize(a.from, s), resize(a.to, s), resize(a.means, s)
	a.entries, a.updateTask.of = 0, 0
	for i, j := range a.list {
		a.from[i], a.to[i] = a.columns.Entries(j)
		a.means[i] = a.columns.Mean(j)
		a.entries += a.columns.Length(j)
	}
}

// prepareBands makes the bands anew if that pays, decides whether a pass uses them, and returns the
// cost of the pass.
func (a *System) prepareBands() (cost float64) {
	cost = a.columns.valuesCost(a.entries, SparseValue)
	b := a.bands
	if b.reader != a {
		a.lookUpBands()
	}
	if b.extraCost > float64(bandsValue*float64(a.entries)) {
		b.copyColumns(a.columns, a.list)
		a.lookUpBands()
	}
	b.extraCost += a.extraCost
	return cost + a.extraCost
}

// lookUpBands looks the columns up in the bands and decides whether products use them.
func (a *System) lookUpBands() {
	b := a.bands
	a.bandPosition = resize(a.bandPosition, len(a.list))
	missing := a.entries
	for i, j := range a.list {
		a.bandPosition[i] = -1
		if b.entries == 0 {
			continue
		}
		if a.bandPosition[i] = b.position[j]; a.bandPosition[i] >= 0 {
			missing -= int(a.to[i] - a.from[i])
		}
	}
	least, without := float64(bandedValue*float64(a.entries)), float64(unbandedValue*float64(a.entries))
	with := float64(bandedValue*float64(b.entries)) + float64(unbandedValue*float64(missing))
	a.banded = with < without
	a.extraCost = min(with, without) - least
	clear(b.v)
	b.reader = a
}

// Apply sets out = A·v.
func (a *System) Apply(v, out []float64) {
	a.predict(v)
	a.correlate(a.u, out)
	a.k.Axpy(a.ridge, v, out)
}

// correlate sets out = X̃_Sᵀu/N.
func (a *System) correlate(u, out []float64) {
	c, total := a.columns, a.columns.view.Total()
	switch {
	case c.dense:
		c.work += c.valuesCost(a.entries, SparseValue)
		for i, j := range a.list {
			_, values := c.Column(j)
			out[i] = a.k.Dot(values, u)
		}
	case c.bytes > 0:
		c.work += c.valuesCost(a.entries, SparseValue)
		for i, j := range a.list {
			rows, values := c.Column(j)
			out[i] = a.k.DotIndexed(values, rows, u)
		}
	default:
		a.correlateSparse(u, out)
	}
	for i := range out {
		out[i] /= total
	}
}

// correlateSparse is correlate for sparse columns of a store without a bound, before the division by N.
func (a *System) correlateSparse(u, out []float64) {
	c, b := a.columns, a.bands
	cost := a.prepareBands()
	c.work += cost
	team := c.view.Team()
	if !a.banded {
		a.dotTask = dotTask{a, u, out}
		team.Do(team.Parts(cost), &a.dotTask)
		return
	}
	b.dotTask = bandDotTask{b, a.k, u}
	team.Do(team.Parts(cost), &b.dotTask)
	for i, k := range a.bandPosition {
		if k >= 0 {
			out[i] = b.sums[k]
			continue
		}
		from, to := a.from[i], a.to[i]
		out[i] = a.k.DotIndexed(c.values[from:to], c.index[from:to], u)
	}
}

// predict sets u = X̃_S·v.
func (a *System) predict(v []float64) {
	c := a.columns
	switch {
	case c.dense:
		c.work += c.valuesCost(a.entries, DenseValue)
		a.k.Clear(a.u)
		for i, j := range a.list {
			_, values := c.Column(j)
			a.k.Axpy(v[i], values, a.u)
		}
		return
	case c.bytes > 0:
		c.work += c.valuesCost(a.entries, UpdateValue)
		a.k.Clear(a.u)
		for i, j := range a.list {
			rows, values := c.Column(j)
			a.k.AxpyIndexed(v[i], values, rows, a.u)
		}
	default:
		a.predictSparse(v)
	}
	if shift := a.k.Dot(a.means, v); shift != 0 { // centring
		c.subtractShift(a.u, shift)
	}
}

// predictSparse is predict for sparse columns of a store without a bound, before the centring.
func (a *System) predictSparse(v []float64) {
	c, b := a.columns, a.bands
	cost := a.prepareBands()
	c.work += cost
	team := c.view.Team()
	if !a.banded {
		a.updateTask.a, a.updateTask.v = a, v
		parts := team.Few(cost)
		a.updateTask.cut(parts)
		team.Do(parts, &a.updateTask)
		return
	}
	for i, k := range a.bandPosition {
		if k >= 0 {
			b.v[k] = v[i]
		}
	}
	b.updateTask = bandUpdateTask{b, a.k, a.u}
	team.Do(min(team.Few(cost), b.count), &b.updateTask)
	for i, k := range a.bandPosition {
		if k < 0 {
			from, to := a.from[i], a.to[i]
			a.k.AxpyIndexed(v[i], c.values[from:to], c.index[from:to], a.u)
		}
	}
}

// Diagonal sets out to diag A = ‖X̃_j‖²/N + α₂.
func (a *System) Diagonal(out []float64) {
	total := a.columns.view.Total()
	for i, j := range a.list {
		out[i] = a.columns.Square(j)/total + a.ridge
	}
}

// subtractShift subtracts shift·√w from u.
func (c *Columns) subtractShift(u []float64, shift float64) {
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
