package sparse

import (
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Rows returns the matrix of the rows listed, ascending, in their order. It stops when the context of k ends
// (see [kernels.Set.Until]); k may be nil.
func Rows(k *kernels.Set, m Matrix, list []int32) Matrix {
	n, p := m.Dims()
	pace := k.Pace()
	if dense, ok := m.(*Dense); ok {
		d := newDense(len(list), p)
		for j := range p {
			_, values := dense.Column(j)
			_, out := d.Column(j)
			for at, i := range list {
				pace.Did(1)
				out[at] = values[i]
			}
		}
		return d
	}
	number := make([]int32, n) // row → its place in the list, -1: not there
	for i := range number {
		pace.Did(1)
		number[i] = -1
	}
	for at, i := range list {
		pace.Did(1)
		number[i] = int32(at)
	}
	if k == nil {
		k = kernels.Available()[0]
	}
	columns := slices.Clone(m.Order())
	slices.Sort(columns)
	lengths, ends := make([]int32, len(columns)), make([]int, len(columns))
	expected := int(float64(m.NNZ()) / float64(max(n, 1)) * float64(len(list)))
	expected += expected / 4 // with room to spare
	index, value := kernels.Undefined[int32](expected), kernels.Undefined[float64](expected)
	at := 0
	for c, j := range columns {
		rows, values := m.Column(int(j))
		index, value = slices.Grow(index[:at], len(rows))[:at+len(rows)], slices.Grow(value[:at], len(rows))[:at+len(rows)]
		kept := k.Pick(number, rows, values, index[at:], value[at:])
		at += kept
		lengths[c], ends[c] = int32(kept), at
	}
	out := allocate(len(list), p, columns, lengths)
	from := 0
	for c, end := range ends {
		pace.Did(end - from)
		to, _ := out.Span(int(columns[c]))
		copy(out.rows[to:], index[from:end])
		copy(out.values[to:], value[from:end])
		from = end
	}
	return out
}
