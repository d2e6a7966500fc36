package sparse

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// NewTriplets returns the n × p matrix with values[k] added at (rows[k], columns[k]), in any order: entries
// that repeat are summed in the order given, as in the coordinate formats of other programs. The arguments are
// not kept. Errors are [*outcome.Error]: Shape for lengths that differ or an index out of range, and NonFinite,
// both with row and column; Limit; or the cause of the context, once that has ended.
func NewTriplets(ctx context.Context, n, p int, rows, columns []int32, values []float64) (*CSC, error) {
	if err := checkDims(n, p); err != nil {
		return nil, err
	}
	if len(rows) != len(values) || len(columns) != len(values) {
		return nil, outcome.Errorf(outcome.Shape, "%d rows and %d columns for %d values", len(rows), len(columns), len(values))
	}
	for k, j := range columns {
		switch i := rows[k]; {
		case j < 0 || int(j) >= p || i < 0 || int(i) >= n:
			return nil, entryError(int(i), int(j), "the entry is outside the %d × %d matrix", n, p)
		case !finite(values[k]):
			return nil, nonFinite(int(i), int(j), values[k])
		}
	}
	m := layout(n, p, columns)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	next := slices.Clone(m.colPtr)
	for k, j := range columns {
		at := &next[m.slot(int(j))]
		m.rows[*at], m.values[*at] = rows[k], values[k]
		*at++
	}
	less := false // some triplets repeat or are zero
	ends := next
	for s := range m.order {
		a, b := m.colPtr[s], m.colPtr[s+1]
		ends[s] = a + int64(orderRows(m.rows[a:b], m.values[a:b]))
		less = less || ends[s] < b || slices.Contains(m.values[a:b], 0)
	}
	if less {
		nonempty := slices.Clone(m.order)
		slices.Sort(nonempty)
		whole := m
		m = build(n, p, nonempty, func(j int) ([]int32, []float64) {
			s := whole.slot(j)
			return whole.rows[whole.colPtr[s]:ends[s]], whole.values[whole.colPtr[s]:ends[s]]
		})
	}
	for s, j := range m.order { // a sum may overflow
		for k := m.colPtr[s]; k < m.colPtr[s+1]; k++ {
			if v := m.values[k]; !finite(v) {
				return nil, &outcome.Error{
					Kind: outcome.NonFinite, HasRow: true, Row: int(m.rows[k]), HasColumn: true, Column: int(j),
					Message: fmt.Sprintf("the entries at this position sum to %g", v),
				}
			}
		}
	}
	return m, nil
}

// layout returns a matrix with room for one entry per element of columns, which may repeat and be in any order.
func layout(n, p int, columns []int32) *CSC {
	if tabulated(p, int64(len(columns))) {
		lengths := make([]int32, p)
		for _, j := range columns {
			lengths[j]++
		}
		return allocate(n, p, nil, lengths)
	}
	nonempty := slices.Clone(columns)
	sortIndices(nonempty)
	nonempty = slices.Compact(nonempty)
	few, lengths := newDirectory(p, nonempty), make([]int32, len(nonempty))
	for _, j := range columns {
		lengths[few.find(int(j))]++
	}
	return allocate(n, p, nonempty, lengths)
}

// orderRows sorts the entries of a column by row, sums those of the same row, and returns how many remain.
func orderRows(rows []int32, values []float64) int {
	ascending := true
	for k := 1; k < len(rows); k++ {
		ascending = ascending && rows[k] > rows[k-1]
	}
	if ascending {
		return len(rows)
	}
	order := make([]int, len(rows))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(rows[a]) - int(rows[b]) })
	oldRows, old := slices.Clone(rows), slices.Clone(values)
	at := -1
	for _, k := range order {
		if at >= 0 && rows[at] == oldRows[k] {
			values[at] += old[k]
			continue
		}
		at++
		rows[at], values[at] = oldRows[k], old[k]
	}
	return at + 1
}
