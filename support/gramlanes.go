package support

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

// lanes computes rows of the Gram matrix of sparse columns that are long. Eight neighbours of the
// list, a chunk, are spread out side by side, and every column that meets them passes
// over its entries once for all of them.
type lanes struct {
	z        []float64 // a chunk, spread over the compact rows of a block, interleaved
	chunks   []chunk
	passing  []int32                  // rows of G of the columns that meet the chunk spread
	products [][kernels.Lanes]float64 // with the chunk
	part     [kernels.Lanes]float64   // of them, of a block
	ends     []int32                  // row of G × blocks: where in its column a block ends
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

// laneRows computes the rows from first on.
func (g *Gram) laneRows(first int) {
	l := &g.lanes
	if len(l.z) == 0 {
		l.z = make([]float64, kernels.Lanes*min(laneRows, g.columns.whole.m))
	}
	l.chunks = l.chunks[:0]
	g.split(0, first)
	fresh := len(l.chunks)
	g.split(first, len(g.list))
	g.divide()
	held, added := l.chunks[:fresh], l.chunks[fresh:]
	// A column that is held and one that is new meet with either spread; the shorter
	// one had better pass.
	for k := range held {
		c := &held[k]
		gain := -spreading * c.values
		for _, d := range added {
			gain += max(0, c.values-d.values)
		}
		if c.spread = gain > 0; !c.spread {
			continue
		}
		l.passing = l.passing[:0]
		for _, d := range added {
			if d.values < c.values {
				l.pass(d)
			}
		}
		g.spreadProducts(*c)
	}
	for k, c := range added {
		l.passing = l.passing[:0]
		for _, d := range held {
			if !d.spread || c.values >= d.values {
				l.pass(d)
			}
		}
		for _, d := range added[:k+1] {
			l.pass(d)
		}
		g.spreadProducts(c)
	}
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
func (l *lanes) pass(c chunk) {
	for b := c.from; b < c.to; b++ {
		l.passing = append(l.passing, int32(b))
	}
}

// spreadProducts computes the entries that the columns which pass have with those of a chunk.
func (g *Gram) spreadProducts(c chunk) {
	l := &g.lanes
	l.products = resize(l.products, len(l.passing))
	clear(l.products)
	for block := range g.blocks() {
		first := block * laneRows
		for a := c.from; a < c.to; a++ {
			rows, values := g.part(a, block)
			spread(l.z[a-c.from:], first, rows, values)
		}
		for k, b := range l.passing {
			if rows, values := g.part(int(b), block); len(rows) > 0 {
				g.k.DotLanes(values, rows, l.z, first, &l.part)
				for i, v := range l.part {
					l.products[k][i] += v
				}
			}
		}
		for a := c.from; a < c.to; a++ {
			rows, _ := g.part(a, block)
			erase(l.z[a-c.from:], first, rows)
		}
	}
	for k, b := range l.passing {
		b := int(b)
		mean := g.columns.total * g.columns.Mean(g.list[b])
		for a := c.from; a < c.to; a++ {
			if a >= b || b >= c.to {
				g.set(a, b, math.FMA(-mean, g.columns.Mean(g.list[a]), l.products[k][a-c.from]))
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

// divide notes where blocks end in the columns that it has not seen.
func (g *Gram) divide() {
	l, blocks := &g.lanes, g.blocks()
	for _, j := range g.list[len(l.ends)/blocks:] {
		rows, _ := g.columns.Column(j)
		end := 0
		for block := range blocks {
			more, _ := slices.BinarySearch(rows[end:], int32((block+1)*laneRows))
			end += more
			l.ends = append(l.ends, int32(end))
		}
	}
}

// part returns what a held column has in a block.
func (g *Gram) part(at, block int) (rows []int32, values []float64) {
	rows, values = g.columns.Column(g.list[at])
	ends := g.lanes.ends[at*g.blocks():]
	from := 0
	if block > 0 {
		from = int(ends[block-1])
	}
	to := int(ends[block])
	return rows[from:to], values[from:to]
}
