package support

import "github.com/seed-45b9a24c/pare/sparse"

// sharedLists is the share of the cost of [Gram.listRows] that is not for making room in the lists.
const sharedLists = 0.85

// teamLists is for rows of the Gram matrix that a team computes by lists. It first fills the lists, by rows of
// X, then sums them, by rows of G, and at last mirrors these. The ranks say where in the lists a column is.
type teamLists struct {
	first      int     // first row of G to compute
	at         []int   // column to be listed → its first rank
	ranks      []int32 // of each entry: length of its list up to the entry
	workspaces []sumWorkspace
}

// sumWorkspace is the workspace of one part of the sums.
type sumWorkspace struct {
	listSpans
	done []int // number of entries of each of its columns that have been summed
}

// listByTeam computes the rows from first on with a team. The lists must have room for the entries.
func (g *Gram) listByTeam(first, parts int) {
	l := &g.lists
	t := &l.team
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
	team.Do(parts, (*listTask)(g))
	team.Do(parts, (*sumTask)(g))
	team.Do(parts, (*mirrorTask)(g))
	l.listed, l.missedSavings = len(g.list), 0
}

// listTask adds the entries in a range of rows of X to the lists.
type listTask Gram

// Part implements [team.Task].
func (p *listTask) Part(k, of int) {
	g := (*Gram)(p)
	l, m, pace := &g.lists, g.columns.m, g.k.Pace()
	for c, j := range g.list[l.listed:] {
		rows, values := g.columns.Column(j)
		from, to := sparse.Before(rows, m*k/of, m), sparse.Before(rows, m*(k+1)/of, m)
		ranks, slot := l.team.ranks[l.team.at[c]:], int32(l.listed+c)
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

// sumTask computes every of-th row of the Gram matrix, from first on.
type sumTask Gram

// Part implements [team.Task].
func (p *sumTask) Part(k, of int) {
	g := (*Gram)(p)
	l, m, size, pace := &g.lists, g.columns.m, len(g.list), g.k.Pace()
	t := &l.team
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

// mirrorTask mirrors every of-th group of rows.
type mirrorTask Gram

// Part implements [team.Task].
func (p *mirrorTask) Part(k, of int) {
	g := (*Gram)(p)
	for a := g.lists.team.first + mirrorRows*k; a < len(g.list); a += mirrorRows * of {
		g.mirror(a)
	}
}
