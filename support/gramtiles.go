package support

import "github.com/seed-45b9a24c/pare/kernels"

// tiles computes rows of the Gram matrix of dense columns by products of 8 × 8 columns at
// a time. The values of new columns in a block of rows of X are interleaved by eights and stay
// in the second-level cache, while every column is read once for all new columns.
type tiles struct {
	x [kernels.Lanes][]float64 // eight columns, in a block of rows
	y []float64                // new columns in the block, a panel for every eight
}

const (
	tileRows      = 256 // largest number of rows in a block
	tileBand      = 256 // new columns at a time, whole tiles
	rowsPerPanel  = 16  // rows for each panel, where panels are few: memory for more would cost more than passes it saves
	leastTileRows = 64  // least number of rows: with fewer, to look up the columns would cost as much as the products
)

// denseRows computes the rows from first on. An entry is the sum of products in the order
// of the rows of X, whatever columns are held. Tiles at the end reach beyond the last column,
// where G has room.
func (g *Gram) denseRows(first int) {
	size := len(g.list)
	for b := range size {
		clear(g.g[b*g.stride+first:][:size-first])
	}
	pace := g.k.Pace()
	for band := first; band < size; band += tileBand {
		above := min(band+tileBand, size)
		rows := min(tileRows, max(leastTileRows, panels(above-band)*rowsPerPanel))
		for from := 0; from < g.columns.m; from += rows {
			g.tileProducts(band, above, from, min(from+rows, g.columns.m))
			pace.Did(rows * above)
		}
	}
	for a := first; a < size; a++ {
		for b := range a {
			g.g[a*g.stride+b] = g.g[b*g.stride+a]
		}
	}
}

// panels returns the number of panels that hold that many columns.
func panels(columns int) int { return (columns + kernels.Lanes - 1) / kernels.Lanes }

// tileProducts adds to the upper triangle of G the products, in the rows from ≤ i < to of X, of
// the columns band ≤ a < above with one another and with the columns before them.
func (g *Gram) tileProducts(band, above, from, to int) {
	const size = kernels.Lanes
	t, height := &g.tiles, size*(to-from)
	if need := panels(above-band) * height; need > len(t.y) {
		t.y = g.columns.undefined(need)
	}
	panel := func(a int) []float64 { return t.y[(a-band)/size*height:][:height] }
	for a := band; a < above; a += size {
		g.loadTile(a, above, from, to)
		interleave(&t.x, panel(a))
	}
	for b := 0; b < above; b += size {
		g.loadTile(b, above, from, to)
		for a := band + max(0, b-band)/size*size; a < above; a += size {
			g.k.AddTile(&t.x, panel(a), g.stride, g.g[b*g.stride+a:])
		}
	}
}

// loadTile sets x to the values of eight held columns, from row a of G on, in the rows from ≤ i < to.
// Where fewer than eight are left below above, it repeats the last one.
func (g *Gram) loadTile(a, above, from, to int) {
	for i := range g.tiles.x {
		first, _ := g.columns.Entries(g.list[min(a+i, above-1)])
		g.tiles.x[i] = g.columns.values[int(first)+from : int(first)+to]
	}
}

// interleave sets y to eight vectors side by side.
func interleave(x *[kernels.Lanes][]float64, y []float64) {
	n := len(x[0])
	x0, x1, x2, x3 := x[0], x[1][:n], x[2][:n], x[3][:n]
	x4, x5, x6, x7 := x[4][:n], x[5][:n], x[6][:n], x[7][:n]
	for k := range x0 {
		row := (*[kernels.Lanes]float64)(y[kernels.Lanes*k:])
		row[0], row[1], row[2], row[3] = x0[k], x1[k], x2[k], x3[k]
		row[4], row[5], row[6], row[7] = x4[k], x5[k], x6[k], x7[k]
	}
}
