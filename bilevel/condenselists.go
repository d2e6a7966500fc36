package bilevel

import (
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// Where many columns are so sparse that most products of their entries would be 0, these columns are not expanded to
// dense ones. Their entries are listed by rows, and the entries of a row are multiplied with one another.

const (
	listedShare  = 4    // a listed column has an entry in at most one of this many rows, on average
	pairValue    = 1.5  // the work of a product of two listed entries of a row
	pairWindows  = 32   // the number of windows of rows in which products are counted
	pairWindow   = 128  // the number of rows of a window
	listedAcross = 0.25 // the work of a product of a listed entry and an entry of a spread column
	listedEntry  = 5    // the work of listing an entry
)

// SumsCost returns the work of summing all products of the columns of X, a target and 1.
func SumsCost(x sparse.Matrix) float64 {
	n, _ := x.Dims()
	cost, _ := sumsCost(n, append(columnsIn(x), column{}))
	return cost
}

// sumsCost returns the work of summing the products of columns and 1, and whether it is less with sparse columns listed.
func sumsCost(n int, columns []column) (cost float64, lists bool) {
	spread, entries := 1, 0
	var few []column
	for _, c := range columns {
		if c.listable(n) {
			few, entries = append(few, c), entries+len(c.rows)
		} else {
			spread++
		}
	}
	cost = support.OuterCost(n, len(columns)+1)
	if len(few) == 0 {
		return cost, false
	}
	apart := support.OuterCost(n, spread) + float64(pairValue*estimatePairs(n, few)) + float64(float64(entries)*(listedEntry+float64(listedAcross*float64(spread))))
	return min(cost, apart), apart < cost
}

// listable reports whether a column of n rows is sparse enough to be listed.
func (c column) listable(n int) bool { return c.rows != nil && len(c.rows) <= n/listedShare }

// estimatePairs estimates the number of products of two entries of the same row, from windows of rows.
func estimatePairs(n int, columns []column) float64 {
	windows := max(1, min(pairWindows, n/pairWindow))
	count, seen, all := make([]int, pairWindow), 0, 0.0
	for w := range windows {
		from := n * w / windows
		end := min(from+pairWindow, n*(w+1)/windows)
		clear(count)
		for _, c := range columns {
			k, _ := slices.BinarySearch(c.rows, int32(from))
			for ; k < len(c.rows) && int(c.rows[k]) < end; k++ {
				count[int(c.rows[k])-from]++
			}
		}
		for _, entries := range count {
			all += float64(entries * (entries + 1) / 2)
		}
		seen += end - from
	}
	return all / float64(seen) * float64(n)
}

// chooseListed chooses which columns are listed and which are spread.
func (c *condenser) chooseListed() {
	c.spreadAll()
	cost, lists := sumsCost(c.n, c.columns)
	if !lists {
		return
	}
	c.cost, c.spread = cost, c.spread[:0]
	for j, column := range c.columns {
		if column.listable(c.n) {
			c.listed = append(c.listed, j)
		} else {
			c.spread = append(c.spread, j)
		}
	}
}

// spreadAll makes all columns spread ones.
func (c *condenser) spreadAll() {
	c.cost, c.listed, c.spread = support.OuterCost(c.n, c.size+1), nil, c.spread[:0]
	for j := range c.size {
		c.spread = append(c.spread, j)
	}
}

// listedFar reports whether the mean of a listed column that varies in the fold is far off; see farOff.
func (c *condenser) listedFar(m foldSums) bool {
	return m.rows > 0 && slices.ContainsFunc(c.listed, func(j int) bool { return m.varies[j] && m.meanFarOff(c.size, j) })
}

// lists holds the entries of the listed columns in a piece, by rows: the entries of row i start at start[i], with ascending
// columns.
type lists struct {
	start         []int32
	columnIndex   []int32 // by entry: the index of its column in listed
	values        []float64
	from          []int     // by listed column: its first entry in the piece
	panel         []float64 // the spread columns and 1, row by row, in the order of the sorted piece
	rowsWithEntry []int     // by listed column: the number of rows of the fold that have an entry
}

// list lists the entries of the rows first … end − 1.
func (d *sortedPiece) list(first, end int) {
	l := &d.lists
	if len(d.listed) == 0 {
		return
	}
	l.start = append(l.start[:0], make([]int32, end-first+1)...)
	l.from = l.from[:0]
	for _, j := range d.listed {
		rows := d.condenser.columns[j].rows
		k, _ := slices.BinarySearch(rows, int32(first))
		l.from = append(l.from, k)
		for ; k < len(rows) && int(rows[k]) < end; k++ {
			l.start[int(rows[k])-first+1]++
		}
	}
	for i := range end - first {
		l.start[i+1] += l.start[i]
	}
	entries := int(l.start[end-first])
	if l.columnIndex = slices.Grow(l.columnIndex[:0], entries)[:entries]; cap(l.values) < entries {
		l.values = make([]float64, entries+entries/2)
	}
	l.values = l.values[:entries]
	for at, j := range d.listed {
		c := d.condenser.columns[j]
		for k := l.from[at]; k < len(c.rows) && int(c.rows[k]) < end; k++ {
			next := &l.start[int(c.rows[k])-first]
			l.columnIndex[*next], l.values[*next] = int32(at), c.values[k]
			*next++
		}
	}
	copy(l.start[1:], l.start[:end-first]) // start[i] is the end of row i by now, which is where the next row starts
	l.start[0] = 0
	if l.panel == nil {
		l.panel, l.rowsWithEntry = make([]float64, (len(d.spread)+1)*len(d.order)), make([]int, len(d.listed))
	}
}

// setPanel sets the panel to the rows from … to − 1 of the spread columns and 1.
func (l *lists) setPanel(d *sortedPiece, from, to int) {
	whole := len(d.spread) + 1
	for k := range whole {
		values := d.ones
		if k < len(d.spread) {
			values = d.columns[k]
		}
		for t, v := range values[from:to] {
			l.panel[t*whole+k] = v
		}
	}
}

// sumBlocks holds the sums of products before they are assembled into one matrix.
type sumBlocks struct {
	ofSpread []float64 // of the spread columns and 1: the lower triangle
	ofListed []float64 // of the listed columns: the lower triangle; then, for each of them, its products with the spread columns and 1
	recent   []float64 // like ofListed, for the latest rows only; added to ofListed from time to time, so that no sum has many terms
	pending  int       // the number of rows in recent
}

// addListed adds the products of listed columns in the rows from … to − 1 in the order of the sorted piece.
func (b *foldSums) addListed(d *sortedPiece, from, to int) {
	l, whole, listed := &d.lists, len(d.spread)+1, len(d.listed)
	first := b.rows == 0
	if first {
		b.ofSpread, b.ofListed, b.recent = make([]float64, whole*whole), make([]float64, listed*(listed+whole)), make([]float64, listed*(listed+whole))
	}
	if listed == 0 {
		return
	}
	l.setPanel(d, from, to)
	if first {
		i := d.order[from]
		for k := l.start[i]; k < l.start[i+1]; k++ {
			b.first[d.listed[l.columnIndex[k]]] = l.values[k]
		}
	}
	clear(l.rowsWithEntry)
	across := b.recent[listed*listed:]
	for t, i := range d.order[from:to] {
		places, values := l.columnIndex[l.start[i]:l.start[i+1]], l.values[l.start[i]:l.start[i+1]]
		weight, panel := d.weights[from+t], l.panel[t*whole:][:whole]
		for k, at := range places {
			v := values[k]
			j := d.listed[at]
			b.varies[j] = b.varies[j] || v != b.first[j]
			l.rowsWithEntry[at]++
			v *= weight
			row := b.recent[int(at)*listed:][:at+1]
			for k, other := range places[:k+1] {
				row[other] += float64(v * values[k])
			}
			row = across[int(at)*whole:][:whole]
			for k, other := range panel {
				row[k] += float64(v * other)
			}
		}
	}
	for at, j := range d.listed {
		b.varies[j] = b.varies[j] || b.first[j] != 0 && l.rowsWithEntry[at] < to-from
	}
	if b.pending += to - from; b.pending >= pieceRows {
		b.flush(d.k)
	}
}

// flush adds the sums of the latest rows to ofListed.
func (b *sumBlocks) flush(k *kernels.Set) {
	k.Axpy(1, b.recent, b.ofListed)
	clear(b.recent)
	b.pending = 0
}

// assemble sets sums to one matrix made of the blocks.
func (b *foldSums) assemble(c *condenser) {
	if b.rows == 0 {
		return
	}
	if len(c.listed) == 0 {
		b.sums, b.sumBlocks = b.ofSpread, sumBlocks{}
		return
	}
	b.flush(c.k)
	whole, columns := c.size+1, append(slices.Clone(c.spread), c.size)
	b.sums = make([]float64, whole*whole)
	for k, i := range columns {
		for l, j := range columns[:k+1] {
			b.sums[i*whole+j] = b.ofSpread[k*len(columns)+l]
		}
	}
	across := b.ofListed[len(c.listed)*len(c.listed):]
	for k, i := range c.listed {
		for l, j := range c.listed[:k+1] {
			b.sums[i*whole+j] = b.ofListed[k*len(c.listed)+l]
		}
		for l, j := range columns {
			b.sums[max(i, j)*whole+min(i, j)] = across[k*len(columns)+l]
		}
	}
	b.sumBlocks = sumBlocks{}
}
