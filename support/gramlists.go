package support

import "math"

// rowLists computes rows of the Gram matrix of sparse columns from lists of the entries
// that the columns held have in each row: a new column adds up the lists of its rows.
// What columns do not share costs nothing, and those that a new one does not meet are not
// looked at. Columns that [lanes] has taken in are listed when a list is first wanted.
type rowLists struct {
	lists   []rowList // by row
	slots   []int32   // rows of G, ascending in a list
	values  []float64
	listed  int     // rows of G whose columns are in the lists
	entries int     // of theirs
	missed  float64 // what lists would have saved since the last column was listed

	more  []int32   // row → entries to come
	means []float64 // row of G → x̄_j
	done  []int     // entries of a column to come that are in the lists
	spans listSpans

	together listsTogether
}

// listSpans are where the lists begin and end of the rows that a column has.
type listSpans struct{ from, to []int64 }

// rowList is where the list of a row is: size entries, and room for more.
type rowList struct {
	from       int64
	size, room int32
}

// listBlock is the number of entries of lists that are worked on at a time: as many stay
// in a cache of 1 MiB.
const listBlock = 1 << 16

// listRows computes the rows from first on. An entry is the sum of products in the order of
// the rows of X, whatever columns are held.
func (g *Gram) listRows(first int, cost float64) {
	l, pace := &g.lists, g.k.Pace()
	coming := g.list[l.listed:]
	l.reserve(g.columns, coming)
	l.means = resize(l.means, len(g.list))
	for a, j := range g.list {
		l.means[a] = g.columns.Mean(j)
	}
	if parts := g.columns.view.Team().Few(sharedLists * cost); parts > 1 {
		g.listTogether(first, parts)
		return
	}
	for a := first; a < len(g.list); a++ {
		clear(g.g[a*g.stride:][:a+1])
	}
	l.done = resize(l.done, len(coming))
	clear(l.done)
	m := g.columns.m
	for end := 0; end < m; {
		end = l.block(end, m)
		for k, j := range coming {
			a := l.listed + k
			rows, values := g.columns.Column(j)
			rows, values = rows[l.done[k]:], values[l.done[k]:]
			n := l.list(a, rows, values, int32(end))
			pace.Did(n)
			l.done[k] += n
			if a >= first && n > 0 {
				g.k.AxpySpans(values[:n], l.spans.from[:n], l.spans.to[:n], l.slots, l.values, g.g[a*g.stride:][:a+1])
			}
		}
	}
	l.listed, l.missed = len(g.list), 0
	for a := first; a < len(g.list); a++ {
		g.centre(a)
	}
	for first < len(g.list) {
		first = g.mirror(first)
	}
}

// block returns where the block of rows ends that begins at a row.
func (l *rowLists) block(from, m int) int { return min(m, from+1+m/(1+l.entries/listBlock)) }

// list adds the n entries of a column that lie before row end, and notes where the lists
// of their rows are.
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
		l.lists, l.more = make([]rowList, c.whole.m), make([]int32, c.whole.m)
	}
	before := l.entries
	for _, j := range coming {
		rows, _ := c.Column(j)
		for _, i := range rows {
			l.more[i]++
		}
		l.entries += len(rows)
	}
	if l.entries-before >= len(l.lists) { // row after row, then, so that they lie like that
		for i := range l.lists {
			l.widen(i)
		}
		clear(l.more)
		return
	}
	for _, j := range coming {
		rows, _ := c.Column(j)
		for _, i := range rows {
			l.widen(int(i))
		}
	}
	for _, j := range coming {
		rows, _ := c.Column(j)
		for _, i := range rows {
			l.more[i] = 0
		}
	}
}

// widen makes room for the entries to come of row i, at the end of all lists or, where that
// is full, with all of them moved to where there is room for theirs.
func (l *rowLists) widen(i int) {
	list := &l.lists[i]
	need := list.size + l.more[i]
	switch {
	case need <= list.room:
	case len(l.slots)+int(roomFor(need)) > cap(l.slots):
		l.relocate()
	default:
		l.move(list, need, l.slots, l.values)
	}
}

// relocate moves all lists to new storage, with room for the entries to come.
func (l *rowLists) relocate() {
	total := 0
	for i, list := range l.lists {
		total += int(roomFor(list.size + l.more[i]))
	}
	slots, values := l.slots, l.values
	l.slots, l.values = make([]int32, 0, total+total/2), make([]float64, 0, total+total/2)
	for i := range l.lists {
		l.move(&l.lists[i], l.lists[i].size+l.more[i], slots, values)
	}
}

// move makes a list the last one, with room for so many entries, from where it was.
func (l *rowLists) move(list *rowList, need int32, slots []int32, values []float64) {
	at := len(l.slots)
	list.room = roomFor(need)
	end := at + int(list.room)
	l.slots, l.values = l.slots[:end], l.values[:end]
	copy(l.slots[at:], slots[list.from:][:list.size])
	copy(l.values[at:], values[list.from:][:list.size])
	list.from = int64(at)
}

// roomFor is the room of a list of n entries.
func roomFor(n int32) int32 { return n + n/4 }

// forget empties the lists.
func (l *rowLists) forget() {
	if l.listed > 0 {
		for i := range l.lists {
			l.lists[i].size = 0
		}
	}
	l.listed, l.entries, l.missed = 0, 0, 0
}

// centre takes the means from the products of a row with those before.
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

// mirrored is how many rows are mirrored at once: a cache line of columns.
const mirrored = 8

// mirror completes the columns above the diagonal that belong to some rows from first on, and returns
// where those end.
func (g *Gram) mirror(first int) (above int) {
	above = min(first+mirrored, len(g.list))
	for b := range above {
		row := g.g[b*g.stride:]
		for a := max(first, b+1); a < above; a++ {
			row[a] = g.g[a*g.stride+b]
		}
	}
	return above
}
