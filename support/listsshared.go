package support

import "github.com/seed-45b9a24c/pare/sparse"

// sharedLists is the share of the price of rows by lists that is not spent on room for these.
const sharedLists = 0.85

// listsTogether is what a team makes rows of the Gram matrix by: lists by rows of X, then their sums by
// rows of the matrix, which are mirrored at last. Where a column is in a list is noted in between.
type listsTogether struct {
	first      int
	at         []int   // column to come → its first rank
	ranks      []int32 // of its entries: lists up to them are so long
	workspaces []sumWorkspace
}

// sumWorkspace is that of one part of the sums.
type sumWorkspace struct {
	listSpans
	done []int // entries of each of its columns
}

// listTogether computes the rows from first on by a team, for which lists have room.
func (g *Gram) listTogether(first, parts int) {
	l := &g.lists
	t := &l.together
	t.first, t.at = first, t.at[:0]
	entries := 0
	for _, j := range g.list[l.listed:] {
		t.at = append(t.at, entries)
		entries += g.columns.Length(j)
	}
	t.ranks = resize(t.ranks, entries)
	for len(t.workspaces) < parts {
		t.workspaces = append(t.workspaces, sumWorkspace{})
	}
	team := g.columns.view.Team()
	team.Do(parts, (*listing)(g))
	team.Do(parts, (*summing)(g))
	team.Do(parts, (*mirroring)(g))
	l.listed, l.missed = len(g.list), 0
}

// listing lists the entries of some rows of X.
type listing Gram

// Part implements [team.Task].
func (p *listing) Part(k, of int) {
	g := (*Gram)(p)
	l, m, pace := &g.lists, g.columns.m, g.k.Pace()
	for c, j := range g.list[l.listed:] {
		rows, values := g.columns.Column(j)
		from, to := sparse.Before(rows, m*k/of, m), sparse.Before(rows, m*(k+1)/of, m)
		ranks, slot := l.together.ranks[l.together.at[c]:], int32(l.listed+c)
		pace.Did(to - from)
		for e := from; e < to; e++ {
			list := &l.lists[rows[e]]
			at := list.from + int64(list.size)
			l.slots[at], l.values[at] = slot, values[e]
			list.size++
			ranks[e] = list.size
		}
	}
}

// summing computes every so many rows of the Gram matrix, from first on.
type summing Gram

// Part implements [team.Task].
func (p *summing) Part(k, of int) {
	g := (*Gram)(p)
	l, m, size, pace := &g.lists, g.columns.m, len(g.list), g.k.Pace()
	t := &l.together
	w := &t.workspaces[k]
	w.done = w.done[:0]
	for a := t.first + k; a < size; a += of {
		clear(g.g[a*g.stride:][:a+1])
		w.done = append(w.done, 0)
	}
	for end := 0; end < m; {
		end = l.block(end, m)
		for a := t.first + k; a < size; a += of {
			rows, values := g.columns.Column(g.list[a])
			done := &w.done[(a-t.first)/of]
			ranks := t.ranks[t.at[a-l.listed]:]
			from := *done
			w.from, w.to = w.from[:0], w.to[:0]
			for ; *done < len(rows) && int(rows[*done]) < end; *done++ {
				list := l.lists[rows[*done]].from
				w.from, w.to = append(w.from, list), append(w.to, list+int64(ranks[*done]))
			}
			pace.Did(*done - from)
			if *done > from {
				g.k.AxpySpans(values[from:*done], w.from, w.to, l.slots, l.values, g.g[a*g.stride:][:a+1])
			}
		}
	}
	for a := t.first + k; a < size; a += of {
		g.centre(a)
	}
}

// mirroring completes every so many columns above the diagonal.
type mirroring Gram

// Part implements [team.Task].
func (p *mirroring) Part(k, of int) {
	g := (*Gram)(p)
	for a := g.lists.together.first + mirrored*k; a < len(g.list); a += mirrored * of {
		g.mirror(a)
	}
}
