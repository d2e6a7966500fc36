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
	next       atomic.Int64    // chunk to be spread
	workspaces []laneWorkspace // one for each part
	ends       []int32         // row of G × blocks: where in its column a block ends
}

// laneWorkspace is what products with a chunk are computed in.
type laneWorkspace struct {
	z        []float64                // a chunk, spread over the compact rows of a block, interleaved
	passing  []int32                  // of the order: columns that meet the chunk spread
	products [][kernels.Lanes]float64 // with the chunk
	part     [kernels.Lanes]float64   // of them, of a block
	unpacked looseColumn
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
	team.Do(parts, (*meeting)(g))
}

// meeting spreads chunks, one after the other.
type meeting Gram

// Part implements [team.Task]. The last chunks meet most columns, and are the first to go.
func (m *meeting) Part(k, _ int) {
	g, l := (*Gram)(m), &m.lanes
	for {
		at := len(l.chunks) - int(l.next.Add(1))
		if at < 0 {
			return
		}
		g.meetChunk(at, &l.workspaces[k])
	}
}

// meetChunk has the columns pass that are to meet a chunk.
func (g *Gram) meetChunk(at int, w *laneWorkspace) {
	l := &g.lanes
	c := l.chunks[at]
	w.passing = w.passing[:0]
	if at < l.fresh {
		if !c.spread {
			return
		}
		for _, d := range l.chunks[l.fresh:] {
			if d.values < c.values {
				w.pass(d)
			}
		}
	} else {
		for _, d := range l.chunks[:l.fresh] {
			if !d.spread || c.values >= d.values {
				w.pass(d)
			}
		}
		if !l.cross {
			for _, d := range l.chunks[l.fresh : at+1] {
				w.pass(d)
			}
		}
	}
	g.spreadProducts(c, w)
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
func (w *laneWorkspace) pass(c chunk) {
	for b := c.from; b < c.to; b++ {
		w.passing = append(w.passing, int32(b))
	}
}

// spreadProducts computes the entries that the columns which pass have with those of a chunk.
func (g *Gram) spreadProducts(c chunk, w *laneWorkspace) {
	order := g.lanes.order
	w.products = resize(w.products, len(w.passing))
	clear(w.products)
	for block := range g.blocks() {
		first := block * laneRows
		for i, a := range order[c.from:c.to] {
			rows, values := g.part(int(a), block, &w.unpacked)
			spread(w.z[i:], first, rows, values)
		}
		for k, at := range w.passing {
			if rows, values := g.part(int(order[at]), block, &w.unpacked); len(rows) > 0 {
				g.k.DotLanes(values, rows, w.z, first, &w.part)
				for i, v := range w.part {
					w.products[k][i] += v
				}
			}
		}
		for i, a := range order[c.from:c.to] {
			rows, _ := g.part(int(a), block, &w.unpacked)
			erase(w.z[i:], first, rows)
		}
	}
	for k, at := range w.passing {
		at, b := int(at), int(order[at])
		mean := g.columns.total * g.columns.Mean(g.list[b])
		for i, a := range order[c.from:c.to] {
			if c.from+i >= at || at >= c.to {
				g.set(int(a), b, math.FMA(-mean, g.columns.Mean(g.list[a]), w.products[k][i]))
			}
		}
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
