package synthetic

import "github.com/seed-45b9a24c/pare/sparse"

// table is a sparse matrix that is built row by row, with its labels.
type table struct {
	y       []float64
	ends    []int64
	columns []int32
	values  []float64
}

func newTable(rows int) *table {
	return &table{y: make([]float64, rows), ends: make([]int64, 0, rows)}
}

func (t *table) add(column int32, value float64) {
	t.columns, t.values = append(t.columns, column), append(t.values, value)
}

func (t *table) endRow() { t.ends = append(t.ends, int64(len(t.columns))) }

func (t *table) row(i int) (columns []int32, values []float64) {
	from := int64(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.columns[from:t.ends[i]], t.values[from:t.ends[i]]
}

// compress sorts the entries into p columns.
func (t *table) compress(p int) (*sparse.CSC, error) {
	starts := make([]int64, p+1)
	for _, j := range t.columns {
		starts[j+1]++
	}
	for j := range p {
		starts[j+1] += starts[j]
	}
	rows, values := make([]int32, len(t.columns)), make([]float64, len(t.columns))
	next := make([]int64, p)
	copy(next, starts)
	for i := range t.ends {
		columns, row := t.row(i)
		for k, j := range columns {
			rows[next[j]], values[next[j]] = int32(i), row[k]
			next[j]++
		}
	}
	return sparse.NewCSC(len(t.ends), p, starts, rows, values)
}
