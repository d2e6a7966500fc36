package support

// rowCopy is a copy of some columns of a store by rows, the shortest first: what
// mixes lengths mispredicts its branches. Products with a list of columns use it
// while it has most of them and little else; a column that it lacks costs an update
// of the result, one too many a few products with zero.
//
// When to copy anew is a ski rental: once products have cost as much more as a copy
// would, so that at worst that is paid twice.
type rowCopy struct {
	place    []int32 // column → its position in the copy, -1 where it is not in it
	list     []int32
	entries  int
	order    []int32 // rank → row; rows without entries are left out
	start    []int64 // rank → first entry
	position []int32 // of each entry in the list
	values   []float64

	v      []float64 // coefficients by position
	ranked []float64 // products by rank
	next   []int64   // row → where its next entry goes
	count  []int32   // length → rows
	wasted float64   // by products, since the copy was made
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
	clear(r.next)
	for k, j := range list {
		r.place[j] = int32(k)
		rows, _ := c.Column(j)
		for _, i := range rows {
			r.next[i]++
		}
		r.entries += len(rows)
	}
	r.rank()
	at := int64(0)
	for k, i := range r.order {
		r.start[k] = at
		r.next[i], at = at, at+r.next[i]
	}
	r.start[len(r.order)] = at
	r.position, r.values = resize(r.position, r.entries), resize(r.values, r.entries)
	for k, j := range list {
		rows, values := c.Column(j)
		for at, i := range rows {
			to := r.next[i]
			r.position[to], r.values[to] = int32(k), values[at]
			r.next[i]++
		}
	}
}

// rank orders the rows that have entries by their number, which is in next.
func (r *rowCopy) rank() {
	longest := len(r.list)
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
	r.order, r.start, r.ranked = resize(r.order, rows), resize(r.start, rows+1), resize(r.ranked, rows)
	for i, length := range r.next {
		if length > 0 {
			r.order[r.count[length]] = int32(i)
			r.count[length]++
		}
	}
}

// spread sets u to the columns of the copy times r.v.
func (r *rowCopy) spread(c *Columns, u []float64) {
	c.view.Kernels().DotColumns(r.start, r.position, r.values, r.v, r.ranked)
	clear(u)
	for k, i := range r.order {
		u[i] = r.ranked[k]
	}
}
