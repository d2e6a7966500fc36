package sparse

import (
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// CSC is a sparse matrix in compressed columns: see the package comment for a
// drawing. It holds nonzeros only, with rows strictly increasing inside a
// column and every value finite; its constructors are the only places that
// check this, and everything downstream, assembly included, relies on it.
//
// Internally, nonempty columns are stored by increasing length, so that loops over short columns rarely
// mispredict their own end. The methods always take the user's column index j.
type CSC struct {
	n, p int

	order  []int32 // order[s] is the column stored in slot s
	colPtr []int64 // slot s holds entries colPtr[s]:colPtr[s+1]
	rows   []int32
	values []float64

	// slots[j] is the slot of column j, −1 if it is empty. Where p is far beyond the number of entries, a table
	// of p elements would dwarf the data: then slots is parallel to few, a directory of the nonempty columns.
	slots     []int32
	directory *directory

	transposed transposed
	moments    momentsCache
	uniform    uniform
}

// NewCSC returns the n × p matrix whose column j has the entries
// rows[k], values[k] for colPtr[j] ≤ k < colPtr[j+1]. Everything is checked and
// copied, the arguments are not kept, and explicit zeros are dropped.
//
// Errors are [*outcome.Error]: Shape for arrays that are not such a matrix
// (pointers that decrease, rows out of range, out of order or repeated), with
// the column and row at fault; NonFinite for a NaN or an infinity; Limit for
// dimensions beyond [MaxDim].
func NewCSC(n, p int, colPtr []int64, rows []int32, values []float64) (*CSC, error) {
	if err := validate(n, p, colPtr, rows, values); err != nil {
		return nil, err
	}
	columns := []int32{}
	for j := range p {
		if colPtr[j] < colPtr[j+1] {
			columns = append(columns, int32(j))
		}
	}
	return build(n, p, columns, func(j int) ([]int32, []float64) {
		return rows[colPtr[j]:colPtr[j+1]], values[colPtr[j]:colPtr[j+1]]
	}), nil
}

func validate(n, p int, colPtr []int64, rows []int32, values []float64) error {
	if err := checkDims(n, p); err != nil {
		return err
	}
	if len(colPtr) != p+1 {
		return outcome.Errorf(outcome.Shape, "%d column pointers for %d columns, want one more than columns", len(colPtr), p)
	}
	if len(rows) != len(values) {
		return outcome.Errorf(outcome.Shape, "%d rows for %d values", len(rows), len(values))
	}
	if colPtr[0] != 0 || colPtr[p] != int64(len(rows)) {
		return outcome.Errorf(outcome.Shape, "column pointers run from %d to %d, want 0 to %d", colPtr[0], colPtr[p], len(rows))
	}
	for j := range p {
		start, end := colPtr[j], colPtr[j+1]
		// end is checked against the last pointer before it is used: a later
		// decrease would otherwise let this column run past the arrays.
		if start > end || end > int64(len(rows)) {
			return columnError(j, "column pointers go from %d to %d of %d entries", start, end, len(rows))
		}
		previous := int32(-1)
		for k := start; k < end; k++ {
			i := rows[k]
			if i < 0 || int(i) >= n {
				return entryError(int(i), j, "row index outside [0, %d)", n)
			}
			if i <= previous {
				return entryError(int(i), j, "row index after %d: rows must increase within a column", previous)
			}
			if !finite(values[k]) {
				return nonFinite(int(i), j, values[k])
			}
			previous = i
		}
	}
	return nil
}

func columnError(j int, format string, args ...any) error {
	e := outcome.Errorf(outcome.Shape, format, args...)
	e.HasColumn, e.Column = true, j
	return e
}

func entryError(i, j int, format string, args ...any) error {
	e := outcome.Errorf(outcome.Shape, format, args...)
	e.HasRow, e.Row, e.HasColumn, e.Column = true, i, true, j
	return e
}

// build copies the nonzeros of the columns listed (increasing, not nil) into a new matrix. It calls column
// twice for each of them, and both calls must return the same entries: rows increasing and in range, values
// finite.
func build(n, p int, columns []int32, column func(j int) ([]int32, []float64)) *CSC {
	lengths := make([]int32, len(columns))
	for k, j := range columns {
		_, values := column(int(j))
		for _, v := range values {
			if v != 0 {
				lengths[k]++
			}
		}
	}
	m := allocate(n, p, columns, lengths)
	for s, j := range m.order {
		at := m.colPtr[s]
		rows, values := column(int(j))
		for k, v := range values {
			if v != 0 {
				m.rows[at], m.values[at] = rows[k], v
				at++
			}
		}
	}
	return m
}

// tabulated reports whether a table over all p columns is small beside nnz entries.
func tabulated(p int, nnz int64) bool { return int64(p) <= 2*nnz+1<<18 }

// allocate lays out a matrix whose column columns[k] has lengths[k] entries, and leaves rows and values to be
// filled in. columns is increasing; nil stands for 0, 1, …, p−1. The matrix keeps both arguments and overwrites
// lengths.
func allocate(n, p int, columns, lengths []int32) *CSC {
	longest, nonempty, nnz := int32(0), 0, int64(0)
	for _, l := range lengths {
		longest = max(longest, l)
		nnz += int64(l)
		if l > 0 {
			nonempty++
		}
	}
	m := &CSC{
		n: n, p: p,
		order:  make([]int32, nonempty),
		colPtr: make([]int64, nonempty+1),
		rows:   kernels.Undefined[int32](int(nnz)),
		values: kernels.Undefined[float64](int(nnz)),
		slots:  lengths,
	}

	// A stable counting sort: first[l] is the next slot of a column of length l.
	first := make([]int32, int(longest)+2)
	for _, l := range lengths {
		if l > 0 {
			first[l+1]++
		}
	}
	for l := range longest {
		first[l+1] += first[l]
	}
	for k, l := range lengths {
		if l == 0 {
			lengths[k] = -1
			continue
		}
		s := first[l]
		first[l]++
		j := int32(k)
		if columns != nil {
			j = columns[k]
		}
		m.order[s], m.colPtr[s+1], m.slots[k] = j, int64(l), s
	}
	for s := range nonempty {
		m.colPtr[s+1] += m.colPtr[s]
	}
	switch {
	case columns == nil:
	case !tabulated(p, nnz):
		m.directory = newDirectory(p, columns)
	default:
		m.slots = make([]int32, p)
		for j := range m.slots {
			m.slots[j] = -1
		}
		for s, j := range m.order {
			m.slots[j] = int32(s)
		}
	}
	return m
}

// slot returns the slot of column j, −1 if it is empty.
func (m *CSC) slot(j int) int32 {
	if uint(j) >= uint(m.p) {
		panic("sparse: column index out of range")
	}
	if k := m.slotIndex(j); k >= 0 {
		return m.slots[k]
	}
	return -1
}

// slotIndex returns the index in slots of column j, where 0 ≤ j < p; −1 if the directory does not list it.
func (m *CSC) slotIndex(j int) int {
	if m.directory == nil {
		return j
	}
	return m.directory.find(j)
}

// Dims returns the number of rows n and of columns p.
func (m *CSC) Dims() (n, p int) { return m.n, m.p }

// NNZ returns the number of nonzeros.
func (m *CSC) NNZ() int64 { return int64(len(m.rows)) }

// Column returns the row indices and the values of column j. It panics unless
// 0 ≤ j < p. Read only.
func (m *CSC) Column(j int) (rows []int32, values []float64) {
	s := m.slot(j)
	if s < 0 {
		return m.rows[:0:0], m.values[:0:0]
	}
	a, b := m.colPtr[s], m.colPtr[s+1]
	return m.rows[a:b:b], m.values[a:b:b]
}

// Order returns the nonempty columns by length, then index. Read only.
func (m *CSC) Order() []int32 { return m.order }

// Place implements [Matrix].
func (m *CSC) Place(j int) int { return int(m.slot(j)) }

// Arrays implements [Matrix].
func (m *CSC) Arrays() (rows []int32, values []float64) { return m.rows, m.values }

// Span implements [Matrix].
func (m *CSC) Span(j int) (from, to int64) {
	s := m.slot(j)
	if s < 0 {
		return 0, 0
	}
	return m.colPtr[s], m.colPtr[s+1]
}

// Stored implements [Matrix].
func (m *CSC) Stored(from, to int) (first, end int64) { return m.colPtr[from], m.colPtr[to] }

// Bytes returns the memory that the matrix holds, in bytes, without its transpose and without what views keep
// with it.
func (m *CSC) Bytes() int64 {
	int32s := len(m.order) + len(m.rows) + len(m.slots)
	if m.directory != nil {
		int32s += len(m.directory.columns) + len(m.directory.blocks)
	}
	return 4*int64(int32s) + 8*int64(len(m.colPtr)) + 8*int64(len(m.values))
}
