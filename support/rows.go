package support

// byRow holds the entries of a list of columns by rows, which are ranked by their
// number of entries.
type byRow struct {
	order    []int32 // rank → row; rows without entries are left out
	start    []int64 // rank → first entry; one more than ranks
	position []int32 // of each entry in the list
	values   []float64

	next  []int64 // row → its number of entries; after rank free for the caller
	count []int32 // length → number of rows
}

// rank orders the rows that have entries by their number of entries, which next has and
// which is at most longest, and makes room for the entries.
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
