package support

import "github.com/seed-45b9a24c/pare/kernels"

// tall computes rows of the Gram matrix of dense columns under the curvature of a loss from X itself, where X
// has many rows for every column. Such a matrix is small and lasts for one step, and packing columns for
// it, weighted and centred, would cost several times as much as their products. A block of rows at a time is
// centred and weighted in a cache.
type tall struct {
	centre []float64 // row of G → the number by which its column was centred, in units of X
	parts  []tallPart
	first  int // first new row of G
}

// tallPart is a stretch of the rows. It has sums of its own, so that these do not depend on which thread computes it.
type tallPart struct {
	g, sum []float64 // its part of G, and Σw·(x − centre) of the new columns
	x, y   []float64 // for a block of rows: centred columns, and panels of the new columns times the weights
	runs   []run     // of these rows
}

// run is a run of consecutive rows of X: the first of them, and their number.
type run struct{ row, rows int }

const (
	tallRatio     = 64      // least number of rows for each column
	stretchRows   = 1 << 15 // least number of rows in a stretch, unless there is only one
	mostStretches = 16      // largest number of stretches
	tallBlock     = 128     // rows in a block, which stays in a cache
)

// Tall reports whether Gram matrices under the curvature of a loss are computed from X. Columns need not be held for them.
func (c *Columns) Tall() bool {
	_, p := c.view.Dims()
	return c.dense && c.allRows.m >= tallRatio*p
}

// gramFromX reports whether the row of G of column j was computed from X, so that the mean and the norm of j are taken from there.
func (c *Columns) gramFromX(j int32) bool {
	return c.curved && c.Tall() && c.gram != nil && c.gram.slot[j] != 0
}

// tallRows computes the rows from first on.
func (g *Gram) tallRows(first int) {
	c, t, size := g.columns, &g.tall, len(g.list)
	t.first, t.centre = first, t.centre[:first]
	for _, j := range g.list[first:] {
		centre := 0.0
		if scale := c.view.Scale(int(j)); scale > 0 { // else the column is 0
			centre = c.view.Mean(int(j)) / scale
		}
		t.centre = append(t.centre, centre)
	}
	g.tallSums()
	if c.hasMeans() && !g.recentre() { // the correction cancels: sum again, now centred near the means
		g.tallSums()
		g.recentre()
	}
	for b := first; b < size; b++ {
		scale := c.view.Scale(int(g.list[b]))
		for a := range b + 1 {
			g.set(a, b, g.g[a*g.stride+b]*scale*c.view.Scale(int(g.list[a])))
		}
	}
}

// recentre corrects G for new columns centred by their means, and reports whether every column was centred
// near its mean before, so that the correction does not cancel.
func (g *Gram) recentre() (near bool) {
	c, t := g.columns, &g.tall
	near = true
	for b := t.first; b < len(g.list); b++ {
		off := t.shiftedSum(b-t.first) / c.total
		near = near && float64(float64(c.total*off)*off) <= g.g[b*g.stride+b]/2
		for a := t.first; a <= b; a++ {
			g.g[a*g.stride+b] -= float64(t.shiftedSum(a-t.first) * off)
		}
	}
	for b := t.first; b < len(g.list); b++ {
		t.centre[b] += t.shiftedSum(b-t.first) / c.total
	}
	return near
}

// shiftedSum returns Σw·(x − centre) of a new column.
func (t *tall) shiftedSum(k int) (sum float64) {
	for i := range t.parts {
		sum += t.parts[i].sum[k]
	}
	return sum
}

// tallSums sets the upper triangle of the new rows to sums of w·(xₐ − centre)·(x_b − centre).
func (g *Gram) tallSums() {
	t, size := &g.tall, len(g.list)
	stretches := max(1, min(g.columns.weightedRows()/stretchRows, mostStretches))
	for len(t.parts) < stretches {
		t.parts = append(t.parts, tallPart{})
	}
	t.parts = t.parts[:stretches]
	g.columns.view.Team().Do(stretches, (*tallTask)(g))
	for a := range size {
		for b := max(a, t.first); b < size; b++ {
			var sum float64
			for i := range t.parts {
				sum += t.parts[i].g[a*g.stride+b-t.first]
			}
			g.g[a*g.stride+b] = sum
		}
	}
}

// weightedRows returns the number of rows with weights: all of X, or those of the subsample.
func (c *Columns) weightedRows() int { return len(c.givenWeights) }

// tallTask is the task of [Gram.tallSums]: a part is a stretch.
type tallTask Gram

// Part implements [team.Task].
func (m *tallTask) Part(k, of int) {
	g := (*Gram)(m)
	p, rows := &g.tall.parts[k], g.columns.weightedRows()
	size := (len(g.list) + kernels.Lanes - 1) / kernels.Lanes * kernels.Lanes
	fresh := (len(g.list) - g.tall.first + kernels.Lanes - 1) / kernels.Lanes * kernels.Lanes
	p.g, p.sum = resize(p.g, size*g.stride), resize(p.sum, fresh)
	p.x, p.y = resize(p.x, size*tallBlock), resize(p.y, fresh*tallBlock)
	clear(p.g)
	clear(p.sum)
	pace := g.k.Pace()
	end := rows * (k + 1) / of
	for from := rows * k / of; from < end; from += tallBlock {
		p.add(g, from, min(from+tallBlock, end))
		pace.Did(tallBlock * size)
	}
}

// add adds the products in the rows from ≤ i < to.
func (p *tallPart) add(g *Gram, from, to int) {
	const lanes = kernels.Lanes
	c, t, rows := g.columns, &g.tall, to-from
	weights := c.givenWeights[from:to]
	column := func(a int) []float64 { return p.x[a*tallBlock:][:rows] }
	panel := func(a int) []float64 { return p.y[a*tallBlock:][:lanes*rows] } // of eight new columns from a on
	p.listRuns(c, from, to)
	for a, j := range g.list {
		_, values := c.view.Matrix().Column(int(j))
		x, at := column(a), 0
		for _, r := range p.runs {
			at += copy(x[at:], values[r.row:][:r.rows])
		}
		if t.centre[a] != 0 {
			g.k.Subtract(t.centre[a], x)
		}
		if a >= t.first {
			p.sum[a-t.first] += g.k.Dot(weights, x)
		}
	}
	var eight [lanes][]float64
	take := func(a int) {
		for i := range eight {
			eight[i] = column(min(a+i, len(g.list)-1))
		}
	}
	for a := t.first; a < len(g.list); a += lanes {
		take(a)
		interleaveWeighted(&eight, weights, panel(a-t.first))
	}
	for b := 0; b < len(g.list); b += lanes {
		take(b)
		for a := t.first + max(0, b-t.first)/lanes*lanes; a < len(g.list); a += lanes {
			g.k.AddTile(&eight, panel(a-t.first), g.stride, p.g[b*g.stride+a-t.first:])
		}
	}
}

// listRuns divides the rows in use from ≤ i < to into runs.
func (p *tallPart) listRuns(c *Columns, from, to int) {
	p.runs = p.runs[:0]
	if !c.drawn {
		p.runs = append(p.runs, run{from, to - from})
		return
	}
	for _, i := range c.sourceRow[from:to] {
		if last := len(p.runs) - 1; last >= 0 && p.runs[last].row+p.runs[last].rows == int(i) {
			p.runs[last].rows++
			continue
		}
		p.runs = append(p.runs, run{int(i), 1})
	}
}

// interleaveWeighted is [interleave] for vectors multiplied by the weights.
func interleaveWeighted(x *[kernels.Lanes][]float64, weights, y []float64) {
	n := len(weights)
	x0, x1, x2, x3 := x[0][:n], x[1][:n], x[2][:n], x[3][:n]
	x4, x5, x6, x7 := x[4][:n], x[5][:n], x[6][:n], x[7][:n]
	for k, w := range weights {
		row := (*[kernels.Lanes]float64)(y[kernels.Lanes*k:])
		row[0], row[1], row[2], row[3] = w*x0[k], w*x1[k], w*x2[k], w*x3[k]
		row[4], row[5], row[6], row[7] = w*x4[k], w*x5[k], w*x6[k], w*x7[k]
	}
}
