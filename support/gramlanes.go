package support

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed-45b9a24c/pare/kernels"
)

// lanes computes rows of the Gram matrix of sparse columns that are long. Eight neighbours in the
// order, a chunk, are spread: scattered into a dense array, side by side. Every column whose products
// with them are needed then passes over its entries once for all eight. The rows of X are taken in blocks.
type lanes struct {
	order      []int32         // rows of G, those of new columns last
	chunks     []chunk         // of the order
	firstNew   int             // index of the first chunk of new columns
	crossOnly  bool            // products of new columns with one another are left out
	taken      atomic.Int64    // number of chunks that parts have taken
	group      int             // number of chunks that a part takes at a time
	workspaces []laneWorkspace // one for each part
	ends       []int32         // row of G × blocks: which entry of its column ends a block
}

// laneWorkspace is the workspace of one part.
type laneWorkspace struct {
	z        []float64              // a chunk, spread over the compact rows of a block, interleaved
	spreads  []spreadChunk          // the chunks that are spread one after the other in each block
	passing  []passing              // the columns that pass these chunks, chunk by chunk
	products []float64              // of passing columns with their chunks, eight each
	from, to []int64                // position in the order → entries of the column in a block, in the store
	passed   int                    // number of columns that pass
	part     [kernels.Lanes]float64 // products of one column in one block
	buffer   columnBuffer
}

// passing are neighbours in the order that pass a chunk; at is the number of the first one's products.
type passing struct{ from, to, at int }

// spreadChunk is a chunk to be spread, and the range of passing that passes it.
type spreadChunk struct {
	chunk
	first, last int
}

// chunk is at most eight neighbours in the order.
type chunk struct {
	from, to int
	values   int  // number of values of its columns
	spread   bool // of held columns: whether it is spread for chunks of new columns with fewer values
}

const (
	// spreadCost is the cost of spreading a value and erasing it again, in units of the cost of a
	// value that passes.
	spreadCost = 4
	// laneRows is the number of rows in a block: eight values for each of them stay in a cache and need little memory.
	laneRows = 4096
	// mostInGroup is the largest number of chunks in a group. In each block, the first chunk brings the entries of
	// passing columns into a cache, where the others find them. With several threads, each takes about sharesEach groups.
	mostInGroup = 16
	sharesEach  = 4
)

// laneRows computes the rows from first on, except for products of counted columns with one another.
func (g *Gram) laneRows(first int) {
	l, size := &g.lanes, len(g.list)
	if len(g.counts.rows) == size { // all columns are counted
		return
	}
	g.findBlockEnds()
	// New columns that are counted: products with held columns that are not.
	l.order = l.order[:0]
	g.appendOrder(0, first, false)
	held := len(l.order)
	g.appendOrder(first, size, true)
	g.laneProducts(held, true)
	// New columns that are not counted: products with all columns.
	l.order = l.order[:held]
	g.appendOrder(0, size, true)
	held = len(l.order)
	g.appendOrder(first, size, false)
	g.laneProducts(held, false)
}

// appendOrder appends rows of G, from ≤ a < to, to the order: those of counted columns, or those of columns that are not counted.
func (g *Gram) appendOrder(from, to int, counted bool) {
	for a := from; a < to; a++ {
		if g.counts.position[a] >= 0 == counted {
			g.lanes.order = append(g.lanes.order, int32(a))
		}
	}
}

// laneProducts computes the products of new columns with the columns before them in the order, of which the first held columns
// are not new. cross leaves out products of new columns with one another.
func (g *Gram) laneProducts(held int, cross bool) {
	l := &g.lanes
	fresh := len(l.order) - held
	if fresh == 0 || held == 0 && cross {
		return
	}
	l.chunks = l.chunks[:0]
	before := g.splitChunks(0, held)
	l.firstNew, l.crossOnly = len(l.chunks), cross
	values := g.splitChunks(held, len(l.order))
	// The product of a held and a new column can be computed with either of them spread. It
	// is cheaper if the shorter one passes.
	old, added := l.chunks[:l.firstNew], l.chunks[l.firstNew:]
	for k := range old {
		c := &old[k]
		gain := -spreadCost * c.values
		for _, d := range added {
			gain += max(0, c.values-d.values)
		}
		c.spread = gain > 0
	}
	l.taken.Store(0)
	team := g.columns.view.Team()
	parts := team.Few(laneCost(batchSize{fresh, values}, batchSize{held, before}, cross))
	for len(l.workspaces) < parts {
		l.workspaces = append(l.workspaces, laneWorkspace{z: make([]float64, kernels.Lanes*min(laneRows, g.columns.allRows.m))})
	}
	l.group = min(max(1, len(l.chunks)/(sharesEach*parts)), mostInGroup)
	if parts == 1 {
		l.group = mostInGroup
	}
	team.Do(parts, (*laneTask)(g))
}

// laneTask is the task of [Gram.laneProducts]: each part takes one group of chunks after another.
type laneTask Gram

// Part implements [team.Task]. The last chunks have the most products, and are taken first.
func (m *laneTask) Part(k, _ int) {
	g, l := (*Gram)(m), &m.lanes
	w := &l.workspaces[k]
	for {
		at := len(l.chunks) - int(l.taken.Add(int64(l.group)))
		if at <= -l.group {
			return
		}
		w.spreads, w.passing, w.passed = w.spreads[:0], w.passing[:0], 0
		for last := at + l.group - 1; last >= max(0, at); last-- {
			l.addToGroup(last, w)
		}
		g.spreadProducts(w)
	}
}

// addToGroup adds a chunk to the group of a workspace, with the columns that have to pass it.
func (l *lanes) addToGroup(at int, w *laneWorkspace) {
	c, first := l.chunks[at], len(w.passing)
	if at < l.firstNew {
		if !c.spread {
			return
		}
		for _, d := range l.chunks[l.firstNew:] {
			if d.values < c.values {
				w.pass(d, first)
			}
		}
	} else {
		for _, d := range l.chunks[:l.firstNew] {
			if !d.spread || c.values >= d.values {
				w.pass(d, first)
			}
		}
		if !l.crossOnly {
			for _, d := range l.chunks[l.firstNew : at+1] {
				w.pass(d, first)
			}
		}
	}
	w.spreads = append(w.spreads, spreadChunk{c, first, len(w.passing)})
}

// splitChunks divides part of the order into chunks, which it appends, and returns their number of values.
func (g *Gram) splitChunks(from, to int) (values int) {
	for ; from < to; from += kernels.Lanes {
		c := chunk{from: from, to: min(from+kernels.Lanes, to)}
		for _, a := range g.lanes.order[c.from:c.to] {
			c.values += g.columns.Length(g.list[a])
		}
		g.lanes.chunks = append(g.lanes.chunks, c)
		values += c.values
	}
	return values
}

// pass adds the columns of a chunk to passing, for the spread chunk whose range of passing begins at first.
func (w *laneWorkspace) pass(c chunk, first int) {
	if last := len(w.passing) - 1; last >= first && w.passing[last].to == c.from {
		w.passing[last].to = c.to
	} else {
		w.passing = append(w.passing, passing{c.from, c.to, w.passed})
	}
	w.passed += c.to - c.from
}

// spreadProducts computes the products of the chunks in a workspace with the columns that pass them.
func (g *Gram) spreadProducts(w *laneWorkspace) {
	order := g.lanes.order
	w.products = resize(w.products, kernels.Lanes*w.passed)
	clear(w.products)
	w.from, w.to = resize(w.from, len(order)), resize(w.to, len(order))
	for block := range g.blocks() {
		first := block * laneRows
		g.setBlockSpans(block, w)
		for _, c := range w.spreads {
			written := 0
			for i, a := range order[c.from:c.to] {
				rows, values := g.blockEntries(int(a), block, &w.buffer)
				spread(w.z[i:], first, rows, values)
				written += len(rows)
			}
			for _, p := range w.passing[c.first:c.last] {
				g.addBlockProducts(p, block, w)
			}
			if written > laneRows { // to erase the values one by one would take longer
				clear(w.z)
				continue
			}
			for i, a := range order[c.from:c.to] {
				rows, _ := g.blockEntries(int(a), block, &w.buffer)
				erase(w.z[i:], first, rows)
			}
		}
	}
	g.writeProducts(w)
}

// writeProducts centres the products that have been computed and writes them to G.
func (g *Gram) writeProducts(w *laneWorkspace) {
	order := g.lanes.order
	for _, c := range w.spreads {
		for _, p := range w.passing[c.first:c.last] {
			products := w.products[kernels.Lanes*p.at:]
			for at := p.from; at < p.to; at++ {
				b := int(order[at])
				mean := g.columns.total * g.columns.Mean(g.list[b])
				for i, a := range order[c.from:c.to] {
					if c.from+i >= at || at >= c.to {
						g.set(int(a), b, math.FMA(-mean, g.columns.Mean(g.list[a]), products[i]))
					}
				}
				products = products[kernels.Lanes:]
			}
		}
	}
}

// setBlockSpans sets from and to of a workspace for a block; they are valid for columns that the store holds.
func (g *Gram) setBlockSpans(block int, w *laneWorkspace) {
	c, blocks := g.columns, g.blocks()
	for k, a := range g.lanes.order {
		start, _ := c.Entries(g.list[a])
		ends := g.lanes.ends[int(a)*blocks:][:blocks]
		w.from[k], w.to[k] = start, start+int64(ends[block])
		if block > 0 {
			w.from[k] += int64(ends[block-1])
		}
	}
}

// addBlockProducts adds the part of one block to the products of passing columns with the chunk that is spread.
func (g *Gram) addBlockProducts(p passing, block int, w *laneWorkspace) {
	first, products := block*laneRows, w.products[kernels.Lanes*p.at:][:kernels.Lanes*(p.to-p.from)]
	if !g.columns.Partial() {
		rows, values := g.columns.Storage()
		g.k.AddLanes(w.from[p.from:p.to], w.to[p.from:p.to], rows, values, w.z, first, products)
		return
	}
	for _, a := range g.lanes.order[p.from:p.to] {
		if rows, values := g.blockEntries(int(a), block, &w.buffer); len(rows) > 0 {
			g.k.DotLanes(values, rows, w.z, first, &w.part)
			for i, v := range w.part {
				products[i] += v
			}
		}
		products = products[kernels.Lanes:]
	}
}

// spread writes entries of a column into a lane of z, which begins at row first.
func spread(z []float64, first int, rows []int32, values []float64) {
	values = values[:len(rows)]
	for k, i := range rows {
		z[kernels.Lanes*(int(i)-first)] = values[k]
	}
}

// erase sets the same entries of the lane to 0.
func erase(z []float64, first int, rows []int32) {
	for _, i := range rows {
		z[kernels.Lanes*(int(i)-first)] = 0
	}
}

func (g *Gram) blocks() int { return max(1, (g.columns.m+laneRows-1)/laneRows) }

// findBlockEnds notes where blocks end in columns that are new to it: in the copy of a column, or in X's
// column where the store does not hold it.
func (g *Gram) findBlockEnds() {
	l, c, blocks := &g.lanes, g.columns, g.blocks()
	for _, j := range g.list[len(l.ends)/blocks:] {
		var rows []int32
		held := c.Held(j)
		if held {
			rows, _ = c.Column(j)
		} else {
			rows, _ = c.view.Matrix().Column(int(j))
		}
		end := 0
		for block := range blocks {
			last := (block + 1) * laneRows
			if !held {
				last = c.firstRow(last)
			}
			more, _ := slices.BinarySearch(rows[end:], int32(last))
			end += more
			l.ends = append(l.ends, int32(end))
		}
	}
}

// blockEntries returns the entries of a column in a block; w is memory for a column that is not held.
func (g *Gram) blockEntries(at, block int, w *columnBuffer) (rows []int32, values []float64) {
	ends := g.lanes.ends[at*g.blocks():]
	from := 0
	if block > 0 {
		from = int(ends[block-1])
	}
	to, j, c := int(ends[block]), g.list[at], g.columns
	if !c.Held(j) {
		return c.unheldValues(c.slot[j], from, to, w)
	}
	rows, values = c.Column(j)
	return rows[from:to], values[from:to]
}
