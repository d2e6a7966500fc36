package support

import "github.com/seed-45b9a24c/pare/sparse"

// rowCopy is a copy of some columns of a store by rows, the shortest first: what
// mixes lengths mispredicts its branches. Products with a list of columns use it
// while it has most of them and little else; a column that it lacks costs an update
// of the result, one too many a few products with zero.
//
// When to copy anew is a ski rental: once products have cost as much more as a copy
// would, so that at worst that is paid twice.
type rowCopy struct {
	byRow
	place   []int32 // column → its position in the copy, -1 where it is not in it
	list    []int32
	entries int

	v      []float64 // coefficients by position
	ranked []float64 // products by rank
	wasted float64   // by products, since the copy was made
	reader *System   // whose coefficients are in v

	ranking ranking
	taking  taking
}

// byRow holds the entries of a list of columns by rows, which are ranked by their
// number of entries.
type byRow struct {
	order    []int32 // rank → row; rows without entries are left out
	start    []int64 // rank → first entry; one more than ranks
	position []int32 // of each entry in the list
	values   []float64

	next  []int64 // row → its number of entries, then the caller's
	count []int32 // length → rows
}

// forget empties the copy.
func (r *rowCopy) forget() {
	for _, j := range r.list {
		r.place[j] = -1
	}
	r.list, r.entries, r.wasted = r.list[:0], 0, 0
}

// take makes r a copy of the columns listed.
func (r *rowCopy) take(c *Columns, list []int32) {
	r.forget()
	if r.place == nil {
		_, p := c.view.Dims()
		r.place = make([]int32, p)
		for j := range r.place {
			r.place[j] = -1
		}
	}
	r.list = append(r.list, list...)
	r.v = resize(r.v, len(list))
	clear(r.v)
	r.next = resize(r.next, c.m)
	for k, j := range list {
		r.place[j] = int32(k)
		rows, _ := c.Column(j)
		r.entries += len(rows)
	}
	cost := float64(copyValue * float64(r.entries))
	c.work += cost
	team := c.view.Team()
	parts := team.Few(sharedCopy * cost)
	r.taking = taking{r, c, false}
	team.Do(parts, &r.taking)
	r.rank(len(list))
	r.ranked = resize(r.ranked, len(r.order))
	for k, i := range r.order {
		r.next[i] = r.start[k]
	}
	r.taking.counted = true
	team.Do(parts, &r.taking)
}

// sharedCopy is the share of the price of a copy that is not spent on ranks.
const sharedCopy = 0.9

// taking is [rowCopy.take]: it counts the entries of rows and, once there are ranks, copies them.
type taking struct {
	r       *rowCopy
	c       *Columns
	counted bool
}

// Part implements [team.Task]. Every part has some of the rows.
func (t *taking) Part(k, of int) {
	r, c := t.r, t.c
	m, pace := c.m, c.view.Kernels().Pace()
	from, to := m*k/of, m*(k+1)/of
	if !t.counted {
		for first, end := range c.view.Kernels().Pieces(to - from) {
			clear(r.next[from+first : from+end])
		}
	}
	for k, j := range r.list {
		rows, values := c.Column(j)
		first, end := 0, len(rows)
		if of > 1 {
			first, end = sparse.Before(rows, from, m), sparse.Before(rows, to, m)
		}
		pace.Did(end - first)
		rows, values = rows[first:end], values[first:end]
		if !t.counted {
			for _, i := range rows {
				r.next[i]++
			}
			continue
		}
		for at, i := range rows {
			to := r.next[i]
			r.position[to], r.values[to] = int32(k), values[at]
			r.next[i]++
		}
	}
}

// rank orders the rows that have entries by their number, longest at most, which is
// in next, and makes room for the entries.
func (r *byRow) rank(longest int) {
	r.count = resize(r.count, longest+2)
	clear(r.count)
	for _, length := range r.next {
		r.count[length+1]++
	}
	rows := len(r.next) - int(r.count[1])
	r.count[1] = 0
	for l := range longest {
		r.count[l+2] += r.count[l+1]
	}
	r.order, r.start = resize(r.order, rows), resize(r.start, rows+1)
	for i, length := range r.next {
		if length > 0 {
			r.order[r.count[length]] = int32(i)
			r.count[length]++
		}
	}
	r.start[0] = 0
	for k, i := range r.order {
		r.start[k+1] = r.start[k] + r.next[i]
	}
	entries := int(r.start[rows])
	r.position, r.values = resize(r.position, entries), resize(r.values, entries)
}

// spread sets u to the columns of the copy times r.v.
func (r *rowCopy) spread(c *Columns, u []float64) {
	c.view.Kernels().Clear(u)
	r.ranking = ranking{r, c, u}
	team := c.view.Team()
	team.Do(team.Parts(c.valuesCost(len(r.values), SparseValue)), &r.ranking)
}
