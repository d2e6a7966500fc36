package support

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Gram caches the matrix G = X̃ᵀdiag(s)X̃ of the columns it has been asked to
// hold, extended column by column and never rebuilt. It proposes steps;
// certificates come from X. Not safe for concurrent use.
type Gram struct {
	columns *Columns
	k       *kernels.Set
	total   float64 // N

	slot     []int32 // column → its row in G, -1: not held
	list     []int32 // row of G → column
	stride   int
	g        []float64 // stride × stride
	z        []float64 // 8 columns spread over compact rows, interleaved
	met      []int     // entries of each column in the blocks of rows met
	products [kernels.Lanes]float64
	sums     [][kernels.Lanes]float64

	most int // columns

	x, y [kernels.TileColumns][]float64 // dense columns that meet
	tile [kernels.TileColumns * kernels.TileColumns]float64
}

// NewGram returns an empty cache over a store of columns, which has one at most:
// it empties when the store does.
func NewGram(columns *Columns) *Gram {
	g := &Gram{columns: columns, k: columns.view.Kernels(), total: columns.view.Total(), most: LargestGram}
	_, p := columns.view.Dims()
	g.slot = make([]int32, p)
	for j := range g.slot {
		g.slot[j] = -1
	}
	columns.gram = g
	return g
}

// Columns returns the store.
func (g *Gram) Columns() *Columns { return g.columns }

// Limit sets the number of columns that may be held, which saves memory where it is
// less than [LargestGram]; 0 means that.
func (g *Gram) Limit(most int) {
	if g.most = most; most <= 0 {
		g.most = LargestGram
	}
}

// Fits reports whether so many more columns are within the limit.
func (g *Gram) Fits(missing int) bool { return len(g.list)+missing <= g.most }

// FitsWith reports whether the columns listed can be held besides those that are.
func (g *Gram) FitsWith(columns []int32) bool {
	missing := 0
	for _, j := range columns {
		if g.slot[j] < 0 {
			missing++
		}
	}
	return g.Fits(missing)
}

// Size returns the number of columns held.
func (g *Gram) Size() int { return len(g.list) }

// Missing returns how many of the columns are not held, and their values.
func (g *Gram) Missing(columns []int32) (count, values int) {
	for _, j := range columns {
		if g.slot[j] < 0 {
			count++
			values += g.columns.Length(j)
		}
	}
	return count, values
}

// Values returns the number of values of the columns held.
func (g *Gram) Values() (values int) {
	for _, j := range g.list {
		values += g.columns.Length(j)
	}
	return values
}

func (g *Gram) clear() {
	for _, j := range g.list {
		g.slot[j] = -1
	}
	g.list = g.list[:0]
}

// Slot returns the row of G that belongs to a held column.
func (g *Gram) Slot(j int32) int { return int(g.slot[j]) }

// Row returns row k of G, one entry per held column. Read only; valid until the
// next Hold.
func (g *Gram) Row(k int) []float64 { return g.g[k*g.stride:][:len(g.list)] }

// Storage returns G itself: row k begins at k·stride. Read only; valid until the
// next Hold.
func (g *Gram) Storage() (values []float64, stride int) { return g.g, g.stride }

// Hold computes the rows of G that are missing for the columns of the list,
// which the store must hold.
func (g *Gram) Hold(columns []int32) {
	first := len(g.list)
	for _, j := range columns {
		if g.slot[j] < 0 {
			g.slot[j] = int32(len(g.list))
			g.list = append(g.list, j)
		}
	}
	if len(g.list) > g.stride {
		g.widen(first)
	}
	if g.columns.dense {
		g.denseRows(first)
		return
	}
	for at := first; at < len(g.list); at += kernels.Lanes {
		g.sparseRows(at, min(at+kernels.Lanes, len(g.list)))
	}
}

// set writes an entry and its mirror image.
func (g *Gram) set(a, b int, v float64) {
	g.g[a*g.stride+b] = v
	g.g[b*g.stride+a] = v
}

// denseRows computes the rows from first on, by tiles as far as they go.
func (g *Gram) denseRows(first int) {
	const size = kernels.TileColumns
	a := first
	for ; a+size <= len(g.list); a += size {
		g.take(a, &g.x)
		b := 0
		for ; b < a+size && b+size <= len(g.list); b += size {
			g.take(b, &g.y)
			g.k.DotTile(&g.x, &g.y, &g.tile)
			for i, v := range g.tile {
				g.set(a+i/size, b+i%size, v)
			}
		}
		for ; b < a+size; b++ {
			_, other := g.columns.Column(g.list[b])
			for i, values := range g.x {
				g.set(a+i, b, g.k.Dot(other, values))
			}
		}
	}
	for ; a < len(g.list); a++ {
		_, values := g.columns.Column(g.list[a])
		for b := range a + 1 {
			_, other := g.columns.Column(g.list[b])
			g.set(a, b, g.k.Dot(other, values))
		}
	}
}

// take sets out to the values of the held columns from row at on.
func (g *Gram) take(at int, out *[kernels.TileColumns][]float64) {
	for i := range out {
		_, out[i] = g.columns.Column(g.list[at+i])
	}
}

const (
	// blockRows is how many rows are met at a time: eight columns spread over them fill
	// half a megabyte, and stay in a cache of the second level.
	blockRows = 1 << 13
	// blockValues is how many entries a column has in a block on average, at least.
	blockValues = 128
)

// block returns how many rows to meet at a time for the first columns held.
func (g *Gram) block(columns int) int {
	values := 0
	for _, j := range g.list[:columns] {
		values += g.columns.Length(j)
	}
	blocks := max(1, min((g.columns.m+blockRows-1)/blockRows, values/(columns*blockValues)))
	return (g.columns.m + blocks - 1) / blocks
}

// sparseRows computes the rows from ≤ a < to, at most one per lane: the columns
// are spread out side by side, a block of rows at a time, and every held column meets
// all of them in one pass over its entries.
func (g *Gram) sparseRows(from, to int) {
	if len(g.z) == 0 {
		g.z = make([]float64, kernels.Lanes*g.columns.m)
	}
	g.met, g.sums = resize(g.met, to), resize(g.sums, to)
	clear(g.met)
	clear(g.sums)
	size := g.block(to)
	for end := size; ; end += size {
		for a := from; a < to; a++ {
			rows, values := g.entries(a, end)
			for k, i := range rows {
				g.z[kernels.Lanes*int(i)+a-from] = values[k]
			}
		}
		for b := range to {
			rows, values := g.entries(b, end)
			g.k.DotLanes(values, rows, g.z, &g.products)
			for l, v := range g.products {
				g.sums[b][l] += v
			}
			if b < from {
				g.met[b] += len(rows)
			}
		}
		for a := from; a < to; a++ {
			rows, _ := g.entries(a, end)
			for _, i := range rows {
				g.z[kernels.Lanes*int(i)+a-from] = 0
			}
			g.met[a] += len(rows)
		}
		if end >= g.columns.m {
			break
		}
	}
	for b, sums := range g.sums {
		mean := g.columns.total * g.columns.Mean(g.list[b])
		for a := max(from, b); a < to; a++ {
			g.set(a, b, math.FMA(-mean, g.columns.Mean(g.list[a]), sums[a-from]))
		}
	}
}

// entries returns what held column k has before row end, and after the rows met.
func (g *Gram) entries(k, end int) (rows []int32, values []float64) {
	rows, values = g.columns.Column(g.list[k])
	rows, values = rows[g.met[k]:], values[g.met[k]:]
	if end < g.columns.m {
		last, _ := slices.BinarySearch(rows, int32(end))
		rows, values = rows[:last], values[:last]
	}
	return rows, values
}

// widen makes room for the whole list, of which the first rows are computed.
func (g *Gram) widen(first int) {
	stride := max(128, 2*g.stride, (len(g.list)+7)&^7)
	wide := make([]float64, stride*stride)
	for k := range first {
		copy(wide[k*stride:], g.g[k*g.stride:][:first])
	}
	g.g, g.stride = wide, stride
}

// Submatrix sets out, s × s row by row, to G_SS/N + ridge·I for held columns S.
func (g *Gram) Submatrix(columns []int32, ridge float64, out []float64) {
	s := len(columns)
	for a, j := range columns {
		row := g.Row(g.Slot(j))
		for b := range s {
			out[a*s+b] = row[g.slot[columns[b]]] / g.total
		}
		out[a*s+a] += ridge
	}
}
