package support

import (
	"cmp"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// bands is a copy of some columns of a store, band of rows after band of rows and, within each, column after column. The
// part of a vector that belongs to a band stays in a first-level cache, where the whole vector over the rows does not.
// Products with a list of columns use the copy while it has most of these columns and few others. They read columns that
// it lacks from the store; a column too many costs a few products with zero.
//
// When to copy anew is a ski rental: once products have cost as much extra as a copy
// costs, so that at worst that cost is paid twice.
type bands struct {
	position []int32 // column → its position in the copy, -1: not in it
	list     []int32
	count    int     // number of bands
	entries  int64   // number of entries of all columns
	start    []int64 // band by band: where each column begins; one more at the end
	index    []int32 // compact row of each entry
	values   []float64

	v         []float64 // coefficients by position
	part      []float64 // products of one band
	sums      []float64 // products by position
	extraCost float64   // extra cost of products since the copy was made
	reader    *System   // the system that last looked its columns up, and that v belongs to

	bandTask   bandTask
	updateTask bandUpdateTask
	dotTask    bandDotTask
}

const (
	bandRows = 4096 // rows in a band: 32 KiB of a vector

	bandsValue    = 3.0 // cost of a copy, per entry
	bandedValue   = 0.5 // cost of an entry in a band, the mean of an update and a dot product
	unbandedValue = 0.8 // cost of an entry elsewhere, likewise
)

// forget empties the copy.
func (b *bands) forget() {
	for _, j := range b.list {
		b.position[j] = -1
	}
	b.list, b.entries, b.extraCost = b.list[:0], 0, 0
}

// copyColumns makes b a copy of the columns listed.
func (b *bands) copyColumns(c *Columns, list []int32) {
	b.forget()
	if b.position == nil {
		_, p := c.view.Dims()
		b.position = make([]int32, p)
		for j := range b.position {
			b.position[j] = -1
		}
	}
	size := len(list)
	b.list, b.count = append(b.list, list...), (c.m+bandRows-1)/bandRows
	slices.SortFunc(b.list, func(i, j int32) int { return cmp.Or(cmp.Compare(c.Length(i), c.Length(j)), cmp.Compare(i, j)) })
	b.v, b.part, b.sums = resize(b.v, size), resize(b.part, size), resize(b.sums, size)
	clear(b.v)
	for k, j := range b.list {
		b.position[j] = int32(k)
		b.entries += int64(c.Length(j))
	}
	cost := float64(bandsValue * float64(b.entries))
	c.work += cost
	team := c.view.Team()
	parts := team.Few(cost)
	b.start = resize(b.start, b.count*size+1)
	b.start[0] = 0
	b.bandTask = bandTask{b, c, false}
	team.Do(parts, &b.bandTask)
	pace := c.view.Kernels().Pace()
	for k, n := range b.start[1:] {
		pace.Did(1)
		b.start[k+1] = b.start[k] + n
	}
	if entries := int(b.entries); cap(b.values) < entries {
		b.index = kernels.Undefined[int32](entries + entries/4)
		b.values = kernels.Undefined[float64](entries + entries/4)
	}
	b.index, b.values = b.index[:b.entries], b.values[:b.entries]
	b.bandTask.counted = true
	team.Do(parts, &b.bandTask)
}

// column returns where band k has its entries of the column at a position.
func (b *bands) column(k, at int) (from, to int64) {
	start := b.start[k*len(b.list)+at:]
	return start[0], start[1]
}

// bandTask is the task of [bands.copyColumns], done twice: it counts the entries of columns in every band, and then copies them.
type bandTask struct {
	b       *bands
	c       *Columns
	counted bool
}

// Part implements [team.Task]. Every part has some of the columns.
func (t *bandTask) Part(k, of int) {
	b, c := t.b, t.c
	size, pace := len(b.list), c.view.Kernels().Pace()
	for at := size * k / of; at < size*(k+1)/of; at++ {
		rows, values := c.Column(b.list[at])
		pace.Did(len(rows))
		for band := range b.count {
			n := len(rows)
			if t.counted {
				from, to := b.column(band, at)
				n = copy(b.index[from:to], rows)
				copy(b.values[from:to], values)
			} else {
				if band < b.count-1 {
					n = sparse.Before(rows, (band+1)*bandRows, c.m)
				}
				b.start[band*size+at+1] = int64(n)
			}
			rows, values = rows[n:], values[n:]
		}
	}
}

// bandUpdateTask sets u to the columns of the copy times b.v.
type bandUpdateTask struct {
	b *bands
	k *kernels.Set
	u []float64
}

// Part implements [team.Task]. Every part has some of the bands.
func (t *bandUpdateTask) Part(k, of int) {
	b, size := t.b, len(t.b.list)
	for band := b.count * k / of; band < b.count*(k+1)/of; band++ {
		start := b.start[band*size:]
		t.k.Clear(t.u[band*bandRows : min((band+1)*bandRows, len(t.u))])
		t.k.AxpySpans(b.v, start[:size], start[1:size+1], b.index, b.values, t.u)
	}
}

// bandDotTask sets b.sums to the dot products of the columns of the copy with u.
type bandDotTask struct {
	b *bands
	k *kernels.Set
	u []float64
}

// Part implements [team.Task]. Every part has some of the columns.
func (t *bandDotTask) Part(k, of int) {
	b, size := t.b, len(t.b.list)
	from, to := size*k/of, size*(k+1)/of
	part, sums := b.part[from:to], b.sums[from:to]
	t.k.Clear(sums)
	for band := range b.count {
		t.k.DotColumns(b.start[band*size+from:][:to-from+1], b.index, b.values, t.u, part)
		t.k.Axpy(1, part, sums)
	}
}
