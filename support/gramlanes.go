package support

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed-45b9a24c/pare/kernels"
)

// lanes computes rows of the Gram matrix of sparse columns that are long. Eight neighbours of the
// list, a chunk, are spread out side by side, and every column that meets them passes
// over its entries once for all of them.
type lanes struct {
	order      []int32         // rows of G, those of new columns last
	chunks     []chunk         // of the order
	fresh      int             // of them, the first of new columns
	cross      bool            // new columns do not meet one another
	next       atomic.Int64    // chunks that have been spread, or are about to be
	group      int             // chunks that are met together
	workspaces []laneWorkspace // one for each part
	ends       []int32         // row of G × blocks: where in its column a block ends
}

// laneWorkspace is what products with some chunks are computed in.
type laneWorkspace struct {
	z        []float64              // a chunk, spread over the compact rows of a block, interleaved
	together []spreadChunk          // chunks that are met block by block
	passing  []passing              // columns that meet the chunks spread, one after the other
	products []float64              // of them with their chunks, eight each
	from, to []int64                // what columns of the order have in a block, of the store
	met      int                    // products
	part     [kernels.Lanes]float64 // of a product, of a block
	unpacked looseColumn
}

// passing are columns of the order, one after the other, and where their products are.
type passing struct{ from, to, at int }

// spreadChunk is a chunk to be spread out, and what passes it.
type spreadChunk struct {
	chunk
	first, last int
}

// chunk is at most eight of the order.
type chunk struct {
	from, to int
	values   int  // of their columns
	spread   bool // for new columns of fewer values
}

const (
	// spreading is the price of a value to be spread out and taken away again, in values
	// that pass.
	spreading = 4
	// laneRows are the rows of a block, eight values each of which stay in a cache, and are little memory to begin with.
	laneRows = 4096
	// mostTogether is how many chunks are met block by block, so that what columns have in a block comes from
	// a cache but for the first of them; of several threads each takes about sharesEach groups.
	mostTogether = 16
	sharesEach   = 4
)

// laneRows computes the rows from first on, but for what columns that are counted have with one another.
func (g *Gram) laneRows(first int) {
	l, size := &g.lanes, len(g.list)
	if len(g.counts.rows) == size { // all are counted
		return
	}
	g.divide()
	// Those that are counted meet the others held,
	l.order = l.order[:0]
	g.line(0, first, false)
	held := len(l.order)
	g.line(first, size, true)
	g.meet(held, true)
	// and the others meet all.
	l.order = l.order[:held]
	g.line(0, size, true)
	held = len(l.order)
	g.line(first, size, false)
	g.meet(held, false)
}

// line appends rows of G to the order: of columns that are counted, or of the others.
func (g *Gram) line(from, to int, counted bool) {
	for a := from; a < to; a++ {
		if g.counts.place[a] >= 0 == counted {
			g.lanes.order = append(g.lanes.order, int32(a))
		}
	}
}

// meet computes the entries that columns of the order have with those before, held of which are not new. Cross
// leaves out what new ones have with one another.
func (g *Gram) meet(held int, cross bool) {
	l := &g.lanes
	fresh := len(l.order) - held
	if fresh == 0 || held == 0 && cross {
		return
	}
	l.chunks = l.chunks[:0]
	before := g.split(0, held)
	l.fresh, l.cross = len(l.chunks), cross
	values := g.split(held, len(l.order))
	// A column that is held and one that is new meet with either spread; the shorter
	// one had better pass.
	old, added := l.chunks[:l.fresh], l.chunks[l.fresh:]
	for k := range old {
		c := &old[k]
		gain := -spreading * c.values
		for _, d := range added {
			gain += max(0, c.values-d.values)
		}
		c.spread = gain > 0
	}
	l.next.Store(0)
	team := g.columns.view.Team()
	parts := team.Few(meetCost(several{fresh, values}, several{held, before}, cross))
	for len(l.workspaces) < parts {
		l.workspaces = append(l.workspaces, laneWorkspace{z: make([]float64, kernels.Lanes*min(laneRows, g.columns.whole.m))})
	}
	l.group = min(max(1, len(l.chunks)/(sharesEach*parts)), mostTogether)
	if parts == 1 {
		l.group = mostTogether
	}
	team.Do(parts, (*meeting)(g))
}

// meeting spreads chunks, some after the others.
type meeting Gram

// Part implements [team.Task]. The last chunks meet most columns, and are the first to go.
func (m *meeting) Part(k, _ int) {
	g, l := (*Gram)(m), &m.lanes
	w := &l.workspaces[k]
	for {
		at := len(l.chunks) - int(l.next.Add(int64(l.group)))
		if at <= -l.group {
			return
		}
		w.together, w.passing, w.met = w.together[:0], w.passing[:0], 0
		for last := at + l.group - 1; last >= max(0, at); last-- {
			l.gather(last, w)
		}
		g.spreadProducts(w)
	}
}

// gather adds a chunk to those that are met together, with the columns that are to meet it.
func (l *lanes) gather(at int, w *laneWorkspace) {
	c, first := l.chunks[at], len(w.passing)
	if at < l.fresh {
		if !c.spread {
			return
		}
		for _, d := range l.chunks[l.fresh:] {
			if d.values < c.values {
				w.pass(d, first)
			}
		}
	} else {
		for _, d := range l.chunks[:l.fresh] {
			if !d.spread || c.values >= d.values {
				w.pass(d, first)
			}
		}
		if !l.cross {
			for _, d := range l.chunks[l.fresh : at+1] {
				w.pass(d, first)
			}
		}
	}
	w.together = append(w.together, spreadChunk{c, first, len(w.passing)})
}

// split appends the chunks that part of the order makes, and returns their values.
func (g *Gram) split(from, to int) (values int) {
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

// pass adds a chunk to those that pass.
func (w *laneWorkspace) pass(c chunk, first int) {
	if last := len(w.passing) - 1; last >= first && w.passing[last].to == c.from {
		w.passing[last].to = c.to
	} else {
		w.passing = append(w.passing, passing{c.from, c.to, w.met})
	}
	w.met += c.to - c.from
}

// spreadProducts computes the entries that the columns which pass have with those of their chunks.
func (g *Gram) spreadProducts(w *laneWorkspace) {
	order := g.lanes.order
	w.products = resize(w.products, kernels.Lanes*w.met)
	clear(w.products)
	w.from, w.to = resize(w.from, len(order)), resize(w.to, len(order))
	for block := range g.blocks() {
		first := block * laneRows
		g.cut(block, w)
		for _, c := range w.together {
			written := 0
			for i, a := range order[c.from:c.to] {
				rows, values := g.part(int(a), block, &w.unpacked)
				spread(w.z[i:], first, rows, values)
				written += len(rows)
			}
			for _, p := range w.passing[c.first:c.last] {
				g.meetBlock(p, block, w)
			}
			if written > laneRows { // one by one they take longer
				clear(w.z)
				continue
			}
			for i, a := range order[c.from:c.to] {
				rows, _ := g.part(int(a), block, &w.unpacked)
				erase(w.z[i:], first, rows)
			}
		}
	}
	g.takeProducts(w)
}

// takeProducts makes entries of the products that have been computed.
func (g *Gram) takeProducts(w *laneWorkspace) {
	order := g.lanes.order
	for _, c := range w.together {
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

// cut notes where in the store the columns of the order that it holds have their values of a block.
func (g *Gram) cut(block int, w *laneWorkspace) {
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

// meetBlock adds what columns have with the chunk spread, of a block.
func (g *Gram) meetBlock(p passing, block int, w *laneWorkspace) {
	first, products := block*laneRows, w.products[kernels.Lanes*p.at:][:kernels.Lanes*(p.to-p.from)]
	if !g.columns.Partial() {
		rows, values := g.columns.Storage()
		g.k.AddLanes(w.from[p.from:p.to], w.to[p.from:p.to], rows, values, w.z, first, products)
		return
	}
	for _, a := range g.lanes.order[p.from:p.to] {
		if rows, values := g.part(int(a), block, &w.unpacked); len(rows) > 0 {
			g.k.DotLanes(values, rows, w.z, first, &w.part)
			for i, v := range w.part {
				products[i] += v
			}
		}
		products = products[kernels.Lanes:]
	}
}

// spread writes what a column has from a row on into a lane of z.
func spread(z []float64, first int, rows []int32, values []float64) {
	values = values[:len(rows)]
	for k, i := range rows {
		z[kernels.Lanes*(int(i)-first)] = values[k]
	}
}

// erase takes it away again.
func erase(z []float64, first int, rows []int32) {
	for _, i := range rows {
		z[kernels.Lanes*(int(i)-first)] = 0
	}
}

func (g *Gram) blocks() int { return max(1, (g.columns.m+laneRows-1)/laneRows) }

// divide notes where blocks end in the columns that it has not seen: in the store's, or in X's
// where the store does not hold them.
func (g *Gram) divide() {
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
				last = c.from(last)
			}
			more, _ := slices.BinarySearch(rows[end:], int32(last))
			end += more
			l.ends = append(l.ends, int32(end))
		}
	}
}

// part returns what a column has in a block, w is for one that is not held.
func (g *Gram) part(at, block int, w *looseColumn) (rows []int32, values []float64) {
	ends := g.lanes.ends[at*g.blocks():]
	from := 0
	if block > 0 {
		from = int(ends[block-1])
	}
	to, j, c := int(ends[block]), g.list[at], g.columns
	if !c.Held(j) {
		return c.looseValues(c.slot[j], from, to, w)
	}
	rows, values = c.Column(j)
	return rows[from:to], values[from:to]
}
