package sparse

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"sync"
)

// journal holds the rows of a matrix as they were read, until it is known how many entries each column has. It
// is a sequence of records in chunks that never move, so nothing is copied while it grows. A record is a header
// and a value:
//
//	header   16·step + 4·form + class, in 1, 2, 3 or 5 bytes for class 0 to 3
//	value    for form 0, 1 byte: a small integer
//	         for form 1, 8 bytes: any float64
//
// Step 0 starts a row, and its value is the label; step d > 0 is an entry d columns after the last one, the
// first counting from column −1. So a record is mostly shorter than its text, and never more than three times
// as long. It is written and read without branches on its length.
//
// A record of step 0 and form 2 has no value and stands for the next slab.
type journal struct {
	chunks      [][]byte // all but the last are cut where their records end
	last        []byte   // the last chunk
	used        int      // end of the records in last
	n           int
	nnz         int64
	held        int64 // bytes of the chunks
	skipColumns int32 // number of leading columns to leave out; they have no entries
	slabs       []slab
}

// slab is n rows of a matrix: either stored in full, column by column, with labels of 0, or as nonzeros, row by
// row, with labels.
type slab struct {
	n      int
	values []float64

	// Only where rows are stored as nonzeros:
	labels  []float64
	ends    []int32 // end of each row in columns and values
	columns []int32
}

// full reports whether rows are stored in full.
func (s *slab) full() bool { return s.labels == nil }

// column returns the values of a column, where rows are stored in full.
func (s *slab) column(j int) []float64 { return s.values[j*s.n:][:s.n] }

// bytes returns the memory that the slab holds, in bytes.
func (s *slab) bytes() int64 {
	return int64(8*len(s.values) + 8*len(s.labels) + 4*len(s.ends) + 4*len(s.columns))
}

const (
	recordReach = 16 // bytes from the start of a record that reading or writing it may touch
	firstChunk  = 4 << 10
	lastChunk   = 256 << 10
)

const (
	formInteger = iota
	formFloat
	formSlab
)

// headerSizes and headerMasks are the length of a header of each class, and the mask of its bits; classes maps
// the bit length of a step to a class; valueSizes is the length of a value of each form.
var (
	headerSizes = [4]int{1, 2, 3, 5}
	headerMasks = [4]uint64{1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<40 - 1}
	classes     = [32]uint8{
		0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
		2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
	}
	valueSizes = [4]int{1, 8, 0, 0}
)

// row starts a row.
func (g *journal) row(label float64) {
	g.n++
	g.put(0, label)
}

// entry adds a nonzero to the row, step columns after the last one.
func (g *journal) entry(step int, v float64) {
	g.nnz++
	g.put(step, v)
}

func (g *journal) put(step int, v float64) {
	if len(g.last)-g.used < recordReach {
		g.grow()
	}
	if small := int8(v); math.Float64bits(float64(small)) == math.Float64bits(v) { // by bits: −0 is no integer
		g.record(step, formInteger, uint64(small))
	} else {
		g.record(step, formFloat, math.Float64bits(v))
	}
}

// nextFloat is the header of a float64 in the column after the last one.
const nextFloat = 1<<4 | formFloat<<2

// full adds a row given by all its values, with a label of 0.
func (g *journal) full(values []float64) {
	g.row(0)
	stored := -1
	for j, v := range values {
		if v == 0 {
			continue
		}
		if j == stored+1 && len(g.last)-g.used >= recordReach {
			if small := int8(v); float64(small) == v {
				g.last[g.used], g.last[g.used+1] = 1<<4, byte(small)
				g.used += 2
			} else {
				g.last[g.used] = nextFloat
				binary.LittleEndian.PutUint64(g.last[g.used+1:], math.Float64bits(v))
				g.used += 9
			}
			g.nnz++
		} else {
			g.entry(j-stored, v)
		}
		stored = j
	}
}

// slab adds the rows of s, whose number of nonzeros is given. The journal keeps s.
func (g *journal) slab(s slab, nonzeros int) {
	if len(g.last)-g.used < recordReach {
		g.grow()
	}
	g.record(0, formSlab, 0)
	g.slabs = append(g.slabs, s)
	g.n, g.nnz, g.held = g.n+s.n, g.nnz+int64(nonzeros), g.held+s.bytes()
}

// record appends a record to the last chunk, which has room for it.
func (g *journal) record(step, form int, value uint64) {
	class := classes[bits.Len32(uint32(step))&31]
	b := g.last[g.used : g.used+recordReach]
	binary.LittleEndian.PutUint64(b, uint64(step)<<4|uint64(form)<<2|uint64(class))
	i := headerSizes[class]
	binary.LittleEndian.PutUint64(b[i:], value)
	g.used += i + valueSizes[form&3]
}

// grow closes the last chunk and opens another.
func (g *journal) grow() {
	size := firstChunk
	if k := len(g.chunks) - 1; k >= 0 {
		size = min(max(2*len(g.last), firstChunk), lastChunk)
		g.chunks[k] = g.last[:g.used]
	}
	g.last = make([]byte, size)
	g.held += int64(size)
	g.chunks = append(g.chunks, g.last)
	g.used = 0
}

// complete returns the chunks, each as long as its records.
func (g *journal) complete() [][]byte {
	if k := len(g.chunks) - 1; k >= 0 {
		g.chunks[k] = g.last[:g.used]
	}
	return g.chunks
}

// reset removes all rows and keeps the last chunk for reuse.
func (g *journal) reset() {
	if g.last != nil {
		g.chunks = append(g.chunks[:0], g.last)
	}
	g.used, g.n, g.nnz, g.slabs = 0, 0, 0, nil
}

// all yields the columns and values of every row, and sets label to its label. The slices are valid until the
// next row.
func (g *journal) all(label *float64) iter.Seq2[[]int32, []float64] {
	return func(yield func([]int32, []float64) bool) {
		var columns []int32
		var values []float64
		j, started, slabs := int32(-1), false, g.slabs
		for _, chunk := range g.complete() {
			for at := 0; at < len(chunk); {
				step, form, value, size := decode(chunk[at : at+recordReach])
				at += size
				if step != 0 {
					j += step
					columns, values = append(columns, j), append(values, number(form, value))
					continue
				}
				if started && !yield(columns, values) {
					return
				}
				columns, values, j, started = columns[:0], values[:0], -1, form != formSlab
				if started {
					*label = number(form, value)
					continue
				}
				if !slabs[0].each(label, columns, values, yield) {
					return
				}
				slabs = slabs[1:]
			}
		}
		if started {
			yield(columns, values)
		}
	}
}

// each yields the nonzeros of every row and sets label to its label. columns and values are scratch memory. It
// returns false as soon as yield does.
func (s *slab) each(label *float64, columns []int32, values []float64, yield func([]int32, []float64) bool) bool {
	if !s.full() {
		from := int32(0)
		for i, to := range s.ends {
			*label = s.labels[i]
			if !yield(s.columns[from:to], s.values[from:to]) {
				return false
			}
			from = to
		}
		return true
	}
	*label = 0
	for i := range s.n {
		columns, values = columns[:0], values[:0]
		for j, at := int32(0), i; at < len(s.values); j, at = j+1, at+s.n {
			if v := s.values[at]; v != 0 {
				columns, values = append(columns, j), append(values, v)
			}
		}
		if !yield(columns, values) {
			return false
		}
	}
	return true
}

// decode returns the step, form and value of the record at the start of b,
// which has recordReach bytes, and the size of the record.
func decode(b []byte) (step int32, form int, value uint64, size int) {
	header := binary.LittleEndian.Uint64(b)
	size = headerSizes[header&3]
	value = binary.LittleEndian.Uint64(b[size:])
	form = int(header >> 2 & 3)
	return int32(header & headerMasks[header&3] >> 4), form, value, size + valueSizes[form]
}

// number returns the float64 that a value of this form stands for.
func number(form int, value uint64) float64 {
	if form == formInteger {
		return float64(int8(value))
	}
	return math.Float64frombits(value)
}

// matrix sorts the journal into the columns of a matrix with p columns, on the given number of threads, and
// returns it with the labels. Once the context has ended, it returns the context's cause.
func (g *journal) matrix(ctx context.Context, p, threads int) (*CSC, []float64, error) {
	columns, lengths, err := g.lengths(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	m := allocate(g.n, p, columns, lengths)
	y := make([]float64, g.n)

	// During the sort, slots holds where the next entry of each column goes.
	shares := m.splitColumns(max(1, min(threads, int(g.nnz/leastPerThread))))
	for s, j := range m.order {
		m.slots[m.slotIndex(int(j))] = int32(uint32(m.colPtr[s]))
	}
	g.complete()
	var beside sync.WaitGroup
	for _, share := range shares[1:] {
		beside.Go(func() { _ = g.sort(ctx, m, share, nil) }) // the context is checked below
	}
	err = g.sort(ctx, m, shares[0], y)
	beside.Wait()
	if err = cmp.Or(err, context.Cause(ctx)); err != nil {
		return nil, nil, err
	}
	for s, j := range m.order {
		m.slots[m.slotIndex(int(j))] = int32(s)
	}
	return m, y, nil
}

// leastPerThread is the number of entries that justifies another thread.
const leastPerThread = 1 << 16

// columnRange is a range of columns, given by their indices in slots.
type columnRange struct{ from, to int }

func (s columnRange) contains(c int) bool { return uint(c-s.from) < uint(s.to-s.from) }

// splitColumns cuts the columns into ranges with about equal numbers of entries.
func (m *CSC) splitColumns(parts int) []columnRange {
	shares := make([]columnRange, parts)
	c, entries := 0, int64(0)
	for k := range shares {
		shares[k].from = c
		for ; c < len(m.slots) && (k == parts-1 || entries < int64(k+1)*m.NNZ()/int64(parts)); c++ {
			if s := m.slots[c]; s >= 0 {
				entries += m.colPtr[s+1] - m.colPtr[s]
			}
		}
		shares[k].to = c
	}
	return shares
}

// sort copies the entries of a share of the columns to their places in m, and the labels where labels is not
// nil. Several goroutines may do so at once, each for its own columns.
func (g *journal) sort(ctx context.Context, m *CSC, columns columnRange, labels []float64) error {
	next := m.slots
	i, j := int32(-1), int32(-1)-g.skipColumns
	slabs := g.slabs
	for _, chunk := range g.chunks {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		for at := 0; at < len(chunk); {
			step, form, value, size := decode(chunk[at : at+recordReach])
			at += size
			if step == 0 && form == formSlab {
				if err := context.Cause(ctx); err != nil {
					return err
				}
				slabs[0].sort(m, columns, i+1, g.skipColumns)
				if labels != nil {
					copy(labels[i+1:], slabs[0].labels)
				}
				i, slabs = i+int32(slabs[0].n), slabs[1:]
				continue
			}
			if step == 0 {
				i++
				j = -1 - g.skipColumns
				if labels != nil {
					labels[i] = number(form, value)
				}
				continue
			}
			j += step
			if c := m.slotIndex(int(j)); columns.contains(c) {
				k := uint32(next[c])
				next[c] = int32(k + 1)
				m.rows[k], m.values[k] = i, number(form, value)
			}
		}
	}
	return nil
}

// sort is [journal.sort] for a slab whose first row is row from of the matrix. before is subtracted from its
// columns.
func (s *slab) sort(m *CSC, columns columnRange, from, before int32) {
	if s.full() {
		s.sortFull(m, columns, from)
		return
	}
	next, rows, values, first := m.slots, m.rows, m.values[:len(m.rows)], int32(0)
	for i, end := range s.ends {
		of := s.columns[first:end]
		for at, v := range s.values[first:end][:len(of)] {
			if c := m.slotIndex(int(of[at] - before)); columns.contains(c) {
				k := uint32(next[c])
				next[c] = int32(k + 1)
				rows[k], values[k] = from+int32(i), v
			}
		}
		first = end
	}
}

// sortFull is sort for rows stored in full, which come only without columns to leave out.
func (s *slab) sortFull(m *CSC, columns columnRange, from int32) {
	next := m.slots
	for j := 0; j*s.n < len(s.values); j++ {
		c := -1 // index in slots of a column that has nonzeros
		for i, v := range s.column(j) {
			if v == 0 {
				continue
			}
			if c < 0 {
				if c = m.slotIndex(j); !columns.contains(c) {
					break
				}
			}
			k := uint32(next[c])
			next[c] = int32(k + 1)
			m.rows[k], m.values[k] = from+int32(i), v
		}
	}
}

// lengths counts the entries of every column. Where a table of all p columns would dwarf the data, columns
// lists the nonempty ones in increasing order (not nil, even if empty), parallel to lengths; else columns is
// nil.
func (g *journal) lengths(ctx context.Context, p int) (columns, lengths []int32, err error) {
	var all []int32 // the columns of all entries
	table := tabulated(p, g.nnz)
	if table {
		lengths = make([]int32, p)
	} else {
		all = make([]int32, 0, g.nnz)
	}
	j := int32(-1) - g.skipColumns
	for _, chunk := range g.complete() {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		for at := 0; at < len(chunk); {
			step, _, _, size := decode(chunk[at : at+recordReach])
			at += size
			j += step
			switch {
			case step == 0:
				j = -1 - g.skipColumns
			case table:
				lengths[j]++
			default:
				all = append(all, j)
			}
		}
	}
	for k := range g.slabs {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		switch s := &g.slabs[k]; {
		case table:
			s.count(lengths, g.skipColumns)
		default:
			all = s.list(all, g.skipColumns)
		}
	}
	if table {
		return nil, lengths, nil
	}
	columns, lengths = countDistinct(all)
	return columns, lengths, nil
}

// count adds the number of nonzeros of every column to lengths, whose first element is for column before.
func (s *slab) count(lengths []int32, before int32) {
	for _, j := range s.columns {
		lengths[j-before]++
	}
	if !s.full() {
		return
	}
	for j := 0; j*s.n < len(s.values); j++ {
		for _, v := range s.column(j) {
			if v != 0 {
				lengths[j]++
			}
		}
	}
}

// list appends the column of every nonzero, minus before.
func (s *slab) list(all []int32, before int32) []int32 {
	for _, j := range s.columns {
		all = append(all, j-before)
	}
	if !s.full() {
		return all
	}
	for j := 0; j*s.n < len(s.values); j++ {
		for _, v := range s.column(j) {
			if v != 0 {
				all = append(all, int32(j))
			}
		}
	}
	return all
}

// countDistinct sorts indices and returns the distinct ones, in increasing order, with how often each occurs.
func countDistinct(all []int32) (distinct, times []int32) {
	sortIndices(all)
	n := 0
	for k, j := range all {
		if k == 0 || j != all[k-1] {
			n++
		}
	}
	distinct, times = make([]int32, 0, n), make([]int32, n)
	for k, j := range all {
		if k == 0 || j != all[k-1] {
			distinct = append(distinct, j)
		}
		times[len(distinct)-1]++
	}
	return distinct, times
}

// sortIndices is a radix sort of nonnegative indices: three passes over 11 bits each, from the lowest.
func sortIndices(a []int32) {
	from, to := a, make([]int32, len(a))
	for shift := 0; shift < 33; shift += 11 {
		var start [1 << 11]int
		for _, j := range from {
			start[j>>shift&(1<<11-1)]++
		}
		sum := 0
		for d, count := range start {
			start[d] = sum
			sum += count
		}
		for _, j := range from {
			d := j >> shift & (1<<11 - 1)
			to[start[d]] = j
			start[d]++
		}
		from, to = to, from
	}
	copy(a, from)
}
