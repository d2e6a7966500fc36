package sparse

import "slices"

// Transpose returns the matrix whose column i is row i of x, for problems whose
// variables are the samples. A dense matrix stays dense; any other becomes a
// [CSC]. It makes one copy of x, in two passes.
func Transpose(x Matrix) Matrix {
	n, p := x.Dims()
	if d, ok := x.(*Dense); ok {
		t := newDense(p, n)
		for j := range p {
			for i, v := range d.values[j*n : (j+1)*n] {
				t.values[i*p+j] = v
			}
		}
		return t
	}
	columns := slices.Clone(x.Order())
	slices.Sort(columns) // so that the rows of the transpose increase
	lengths := make([]int32, n)
	for _, j := range columns {
		rows, _ := x.Column(int(j))
		for _, i := range rows {
			lengths[i]++
		}
	}
	t := allocate(p, n, nil, lengths)
	next := slices.Clone(t.colPtr)
	for _, j := range columns {
		rows, values := x.Column(int(j))
		for k, i := range rows {
			at := &next[t.slots[i]]
			t.rows[*at], t.values[*at] = j, values[k]
			*at++
		}
	}
	return t
}
