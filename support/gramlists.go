package support

import "math"

// rowLists computes rows of the Gram matrix of sparse columns from lists: the list of a row of X
// has the entries of the held columns in that row. The products of a new column are the sum of the
// lists of its rows, each times its entry there, so that columns without a row in common with it
// cost nothing. Columns whose products came from [lanes] are listed when lists are used again.
type rowLists struct {
	lists         []rowList // by row of X
	slots         []int32   // row of G of each entry, ascending in a list
	values        []float64
	listed        int     // number of rows of G whose columns are in the lists
	entries       int     // number of entries of these columns
	missedSavings float64 // what lists would have saved since the last column was listed

	incoming      []int32   // row of X → number of entries to be added to its list
	means         []float64 // row of G → x̄_j
	entriesListed []int     // column to be listed → number of its entries that are in the lists
	spans         listSpans

	team teamLists
}

// listSpans says where the lists of the rows of a column begin and end.
type listSpans struct{ from, to []int64 }

// rowList says where the list of a row is: it has size entries, and room for capacity.
type rowList struct {
	from           int64
	size, capacity int32
}

// listBlock is the number of entries of lists that are used at a time: that many stay in
// a cache of 1 MiB.
const listBlock = 1 << 16

// listRows computes the rows from first on, at a modelled cost. An entry is the sum of products in
// the order of the rows of X, whatever columns are held.
func (g *Gram) listRows(first int, cost float64) {
	l, pace := &g.lists, g.k.Pace()
	coming := g.list[l.listed:]
	l.reserve(g.columns, coming)
	l.means = resize(l.means, len(g.list))
	for a, j := range g.list {
		l.means[a] = g.columns.Mean(j)
	}
	if parts := g.columns.view.Team().Few(sharedLists * cost); parts > 1 {
		g.listByTeam(first, parts)
		return
	}
	for a := first; a < len(g.list); a++ {
		clear(g.g[a*g.stride:][:a+1])
	}
	l.entriesListed = resize(l.entriesListed, len(coming))
	clear(l.entriesListed)
	m := g.columns.m
	for end := 0; end < m; {
		end = l.block(end, m)
		for k, j := range coming {
			a := l.listed + k
			rows, values := g.columns.Column(j)
			rows, values = rows[l.entriesListed[k]:], values[l.entriesListed[k]:]
			n := l.list(a, rows, values, int32(end))
			pace.Did(n)
			l.entriesListed[k] += n
			if a >= first && n > 0 {
				g.k.AxpySpans(values[:n], l.spans.from[:n], l.spans.to[:n], l.slots, l.values, g.g[a*g.stride:][:a+1])
			}
		}
	}
	l.listed, l.missedSavings = len(g.list), 0
	for a := first; a < len(g.list); a++ {
		g.centre(a)
	}
	for first < len(g.list) {
		first = g.mirror(first)
	}
}

// block returns the end of the block of rows that begins at row from; m is the number of rows.
func (l *rowLists) block(from, m int) int { return min(m, from+1+m/(1+l.entries/listBlock)) }

// list adds the n entries of a column that lie before row end to the lists, and sets spans to
// the lists of their rows.
func (l *rowLists) list(slot int, rows []int32, values []float64, end int32) (n int) {
	d := &l.spans
	d.from, d.to = resize(d.from, len(rows)), resize(d.to, len(rows))
	for k, i := range rows {
		if i >= end {
			return k
		}
		list := &l.lists[i]
		at := list.from + int64(list.size)
		l.slots[at], l.values[at] = int32(slot), values[k]
		list.size++
		d.from[k], d.to[k] = list.from, at+1
	}
	return len(rows)
}

// reserve makes room for the entries of columns to come.
func (l *rowLists) reserve(c *Columns, coming []int32) {
	if l.lists == nil {
		l.lists, l.incoming = make([]rowList, c.allRows.m), make([]int32, c.allRows.m)
	}
	before := l.entries
	for _, j := range coming {
		rows, _ := c.Column(j)
		for _, i := range rows {
			l.incoming[i]++
		}
		l.entries += len(rows)
	}
	if l.entries-before >= len(l.lists) { // in the order of rows, so that lists lie in memory in that order
		for i := range l.lists {
			l.ensureCapacity(i)
		}
		clear(l.incoming)
		return
	}
	for _, j := range coming {
		rows, _ := c.Column(j)
		for _, i := range rows {
			l.ensureCapacity(int(i))
		}
	}
	for _, j := range coming {
		rows, _ := c.Column(j)
		for _, i := range rows {
			l.incoming[i] = 0
		}
	}
}

// ensureCapacity makes room for the entries to come in the list of row i. It moves the list behind all others
// or, where the storage is full, moves all lists to new storage.
func (l *rowLists) ensureCapacity(i int) {
	list := &l.lists[i]
	need := list.size + l.incoming[i]
	switch {
	case need <= list.capacity:
	case len(l.slots)+int(capacityFor(need)) > cap(l.slots):
		l.relocate()
	default:
		l.move(list, need, l.slots, l.values)
	}
}

// relocate moves all lists to new storage, each with room for its entries to come.
func (l *rowLists) relocate() {
	total := 0
	for i, list := range l.lists {
		total += int(capacityFor(list.size + l.incoming[i]))
	}
	slots, values := l.slots, l.values
	l.slots, l.values = make([]int32, 0, total+total/2), make([]float64, 0, total+total/2)
	for i := range l.lists {
		l.move(&l.lists[i], l.lists[i].size+l.incoming[i], slots, values)
	}
}

// move copies a list, of which slots and values are the present storage, behind all others, with room for need
// entries and some more.
func (l *rowLists) move(list *rowList, need int32, slots []int32, values []float64) {
	at := len(l.slots)
	list.capacity = capacityFor(need)
	end := at + int(list.capacity)
	l.slots, l.values = l.slots[:end], l.values[:end]
	copy(l.slots[at:], slots[list.from:][:list.size])
	copy(l.values[at:], values[list.from:][:list.size])
	list.from = int64(at)
}

// capacityFor returns the room to give a list of n entries.
func capacityFor(n int32) int32 { return n + n/4 }

// forget empties the lists.
func (l *rowLists) forget() {
	if l.listed > 0 {
		for i := range l.lists {
			l.lists[i].size = 0
		}
	}
	l.listed, l.entries, l.missedSavings = 0, 0, 0
}

// centre centres the products of row a of G with the rows up to it.
func (g *Gram) centre(a int) {
	means := g.lists.means
	mean := g.columns.total * means[a]
	if mean == 0 {
		return
	}
	row := g.g[a*g.stride:][:a+1]
	for b, other := range means[:len(row)] {
		row[b] = math.FMA(-mean, other, row[b])
	}
}

// mirrorRows is the number of rows that are mirrored at a time: that many entries of a row are a cache line.
const mirrorRows = 8

// mirror copies up to mirrorRows rows from first on to the columns above the diagonal, and returns the end
// of these rows.
func (g *Gram) mirror(first int) (above int) {
	above = min(first+mirrorRows, len(g.list))
	for b := range above {
		row := g.g[b*g.stride:]
		for a := max(first, b+1); a < above; a++ {
			row[a] = g.g[a*g.stride+b]
		}
	}
	return above
}
