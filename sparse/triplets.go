package sparse

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// NewTriplets returns the n × p matrix with values[k] added at (rows[k], columns[k]), in any
// order: entries that repeat are summed, as in the coordinate formats of other programs, in
// the order given. The arguments are not kept. Errors are [*outcome.Error]: Shape for
// lengths that differ or an index out of range, with its row and column; NonFinite; Limit;
// or the cause of the context at its end.
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
			return nil, entryError(int(i), int(j), "an entry outside a %d × %d matrix", n, p)
		case !finite(values[k]):
			return nil, nonFinite(int(i), int(j), values[k])
		}
	}
	nonempty := slices.Clone(columns)
	sortIndices(nonempty)
	nonempty = slices.Compact(nonempty)
	if nonempty == nil {
		nonempty = []int32{}
	}
	of := places(nonempty, p, len(values))
	start := make([]int64, len(nonempty)+1)
	for _, j := range columns {
		start[of(j)+1]++
	}
	for k := range nonempty {
		start[k+1] += start[k]
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	next := slices.Clone(start)
	sorted, numbers := make([]int32, len(values)), make([]float64, len(values))
	for k, j := range columns {
		at := &next[of(j)]
		sorted[*at], numbers[*at] = rows[k], values[k]
		*at++
	}
	ends := make([]int64, len(nonempty))
	for k := range nonempty {
		a, b := start[k], start[k+1]
		ends[k] = a + int64(orderRows(sorted[a:b], numbers[a:b]))
	}
	m := build(n, p, nonempty, func(j int) ([]int32, []float64) {
		k := of(int32(j))
		return sorted[start[k]:ends[k]], numbers[start[k]:ends[k]]
	})
	for _, v := range m.values { // a sum may overflow
		if !finite(v) {
			return nil, outcome.Errorf(outcome.NonFinite, "entries at the same place sum to %g", v)
		}
	}
	return m, nil
}

// places returns what finds the place of a column in a list of them, ascending.
func places(columns []int32, p, nnz int) func(j int32) int32 {
	if !tabulated(p, int64(nnz)) {
		few := newDirectory(p, columns)
		return func(j int32) int32 { return int32(few.find(int(j))) }
	}
	all := make([]int32, p)
	for k, j := range columns {
		all[j] = int32(k)
	}
	return func(j int32) int32 { return all[j] }
}

// orderRows sorts the entries of a column by row, sums those of the same row, and returns
// how many are left.
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
