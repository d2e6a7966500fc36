package support

import "github.com/seed-45b9a24c/pare/kernels"

// tiles computes rows of the Gram matrix of dense columns by 4 × 4 products at a time,
// of tileRows rows: so many of 8 columns fit the first-level cache, and of a panel the
// second. From further away tiles take two to three times as long.
type tiles struct {
	x, y [kernels.TileColumns][]float64 // parts of the columns that meet
	out  [kernels.TileColumns * kernels.TileColumns]float64
}

const (
	tileRows  = 512
	tilePanel = 128 // columns, whole tiles
)

// denseRows computes the rows from first on. An entry is the sum of products of
// tileRows rows, in their order, whatever columns are held.
func (g *Gram) denseRows(first int) {
	size := len(g.list)
	for a := first; a < size; a++ {
		clear(g.g[a*g.stride:][:a+1])
	}
	for from := 0; from < g.columns.m; from += tileRows {
		to := min(from+tileRows, g.columns.m)
		for panel := 0; panel < size; panel += tilePanel {
			for a := first; a < size; a += kernels.TileColumns {
				above := min(a+kernels.TileColumns, size)
				g.meet(a, above, panel, min(above, panel+tilePanel), from, to)
			}
		}
	}
	for a := first; a < size; a++ {
		for b, v := range g.g[a*g.stride:][:a] {
			g.g[b*g.stride+a] = v
		}
	}
}

// meet adds to rows a to above of the lower triangle, at most those of a tile, what
// columns b to right have in common with them in the rows of X given. A tile that more
// than one row of it calls for is worth its price.
func (g *Gram) meet(a, above, b, right, from, to int) {
	const size = kernels.TileColumns
	t := &g.tiles
	if above-a > 1 && b < right {
		g.take(a, above, from, to, &t.x)
		for ; b+1 < right; b += size {
			end := min(b+size, right)
			g.take(b, end, from, to, &t.y)
			g.k.DotTile(&t.x, &t.y, &t.out)
			for i := a; i < above; i++ {
				row := g.g[i*g.stride:]
				for j := b; j < min(end, i+1); j++ {
					row[j] += t.out[size*(i-a)+j-b]
				}
			}
		}
	}
	for ; b < right; b++ {
		y := g.dense(b, from, to)
		for i := max(a, b); i < above; i++ {
			g.g[i*g.stride+b] += g.k.Dot(y, g.dense(i, from, to))
		}
	}
}

// take sets out to the parts of the held columns from row a of G to above, the last one
// again where they are fewer.
func (g *Gram) take(a, above, from, to int, out *[kernels.TileColumns][]float64) {
	for i := range out {
		out[i] = g.dense(min(a+i, above-1), from, to)
	}
}

// dense returns the values of a held dense column in the rows of X given.
func (g *Gram) dense(at, from, to int) []float64 {
	_, values := g.columns.Column(g.list[at])
	return values[from:to]
}
