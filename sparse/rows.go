package sparse

import (
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Rows returns the matrix of the rows listed, ascending, in their order. It ends with k, which may
// be nil; see [kernels.Set.Until].
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
	// Which rows a column has comes unforeseen: no branch.
	columns := slices.Clone(m.Order())
	slices.Sort(columns)
	lengths := make([]int32, len(columns))
	longest := 0
	for k, j := range columns {
		rows, _ := m.Column(int(j))
		kept := int32(0)
		pace.Did(len(rows))
		for _, i := range rows {
			kept += int32(^uint32(number[i]) >> 31)
		}
		lengths[k], longest = kept, max(longest, len(rows))
	}
	out := allocate(len(list), p, columns, lengths)
	index, value := make([]int32, longest+1), make([]float64, longest+1)
	for s, j := range out.order {
		rows, values := m.Column(int(j))
		kept := 0
		pace.Did(len(rows))
		for at, i := range rows {
			k := number[i]
			index[kept], value[kept] = k, values[at]
			kept += int(^uint32(k) >> 31)
		}
		copy(out.rows[out.colPtr[s]:], index[:kept])
		copy(out.values[out.colPtr[s]:], value[:kept])
	}
	return out
}
