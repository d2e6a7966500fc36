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
	chunks  []chunk
	fresh   int          // of them, the first of new columns
	next    atomic.Int64 // of them, to be spread
	benches []bench      // one for each part
	ends    []int32      // row of G × blocks: where in its column a block ends
}

// bench is what it takes to have columns meet a chunk.
type bench struct {
	z        []float64                // a chunk, spread over the compact rows of a block, interleaved
	passing  []int32                  // rows of G of the columns that meet the chunk spread
	products [][kernels.Lanes]float64 // with the chunk
	part     [kernels.Lanes]float64   // of them, of a block
	lent     lent
}

// chunk is at most eight rows of G.
type chunk struct {
	from, to int
	values   int  // of their columns
	spread   bool // for new columns of fewer values
}

const (
	// spreading is the price of a value to be spread out and taken away again, in values
	// that pass.
	spreading = 4
	// laneRows are the rows of a block, eight values each of which stay in a cache of 1 MiB.
	laneRows = 8192
)

// laneRows computes the rows from first on, at the price given.
func (g *Gram) laneRows(first int, cost float64) {
	l := &g.lanes
	l.chunks = l.chunks[:0]
	g.split(0, first)
	l.fresh = len(l.chunks)
	g.split(first, len(g.list))
	g.divide()
	// A column that is held and one that is new meet with either spread; the shorter
	// one had better pass.
	held, added := l.chunks[:l.fresh], l.chunks[l.fresh:]
	for k := range held {
		c := &held[k]
		gain := -spreading * c.values
		for _, d := range added {
			gain += max(0, c.values-d.values)
		}
		c.spread = gain > 0
	}
	l.next.Store(0)
	team := g.columns.view.Team()
	parts := team.Few(cost)
	for len(l.benches) < parts {
		l.benches = append(l.benches, bench{z: make([]float64, kernels.Lanes*min(laneRows, g.columns.whole.m))})
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
		g.meetChunk(at, &l.benches[k])
	}
}

// meetChunk has the columns pass that are to meet a chunk.
func (g *Gram) meetChunk(at int, w *bench) {
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
		for _, d := range l.chunks[l.fresh : at+1] {
			w.pass(d)
		}
	}
	g.spreadProducts(c, w)
}

// split appends the chunks that rows from to below to of G make.
func (g *Gram) split(from, to int) {
	for ; from < to; from += kernels.Lanes {
		c := chunk{from: from, to: min(from+kernels.Lanes, to)}
		for _, j := range g.list[c.from:c.to] {
			c.values += g.columns.Length(j)
		}
		g.lanes.chunks = append(g.lanes.chunks, c)
	}
}

// pass adds a chunk to those that pass.
func (w *bench) pass(c chunk) {
	for b := c.from; b < c.to; b++ {
		w.passing = append(w.passing, int32(b))
	}
}

// spreadProducts computes the entries that the columns which pass have with those of a chunk.
func (g *Gram) spreadProducts(c chunk, w *bench) {
	w.products = resize(w.products, len(w.passing))
	clear(w.products)
	for block := range g.blocks() {
		first := block * laneRows
		for a := c.from; a < c.to; a++ {
			rows, values := g.part(a, block, &w.lent)
			spread(w.z[a-c.from:], first, rows, values)
		}
		for k, b := range w.passing {
			if rows, values := g.part(int(b), block, &w.lent); len(rows) > 0 {
				g.k.DotLanes(values, rows, w.z, first, &w.part)
				for i, v := range w.part {
					w.products[k][i] += v
				}
			}
		}
		for a := c.from; a < c.to; a++ {
			rows, _ := g.part(a, block, &w.lent)
			erase(w.z[a-c.from:], first, rows)
		}
	}
	for k, b := range w.passing {
		b := int(b)
		mean := g.columns.total * g.columns.Mean(g.list[b])
		for a := c.from; a < c.to; a++ {
			if a >= b || b >= c.to {
				g.set(a, b, math.FMA(-mean, g.columns.Mean(g.list[a]), w.products[k][a-c.from]))
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
func (g *Gram) part(at, block int, w *lent) (rows []int32, values []float64) {
	ends := g.lanes.ends[at*g.blocks():]
	from := 0
	if block > 0 {
		from = int(ends[block-1])
	}
	to, j, c := int(ends[block]), g.list[at], g.columns
	if !c.Held(j) {
		return c.lend(c.slot[j], from, to, w)
	}
	rows, values = c.Column(j)
	return rows[from:to], values[from:to]
}
