package exact

import "slices"

// singular is the ratio of a pivot to its diagonal entry, as a negative power of 2, below which the pivot
// counts as 0. With data of 53 bits, nonzero pivots are far above it.
const singular = 300

// factor is the Cholesky factor of A = L·Lᵀ, or of its leading regular part.
type factor struct {
	l    [][]*Number
	rows int
}

// factorise stops at the first row that depends linearly on those before it.
func factorise(a [][]*Number) (f factor, regular bool) {
	t := zero()
	for i, given := range a {
		row := vector(i + 1)
		for j := range i {
			row[j].Set(given[j])
			for k := range j {
				row[j].Sub(row[j], t.Mul(row[k], f.l[j][k]))
			}
			row[j].Quo(row[j], f.l[j][j])
		}
		row[i].Set(given[i])
		for k := range i {
			row[i].Sub(row[i], t.Mul(row[k], row[k]))
		}
		f.l = append(f.l, row)
		if row[i].Sign() <= 0 || below(row[i], given[i], singular) {
			return f, false
		}
		row[i].Sqrt(row[i])
		f.rows++
	}
	return f, true
}

// solve returns A⁻¹b.
func (f factor) solve(b []*Number) []*Number {
	x, t := vector(len(b)), zero()
	for i := range b {
		x[i].Set(b[i])
		for k := range i {
			x[i].Sub(x[i], t.Mul(f.l[i][k], x[k]))
		}
		x[i].Quo(x[i], f.l[i][i])
	}
	f.back(x)
	return x
}

// back solves Lᵀx = b in place.
func (f factor) back(x []*Number) {
	t := zero()
	for i := range slices.Backward(x) {
		for k := i + 1; k < len(x); k++ {
			x[i].Sub(x[i], t.Mul(f.l[k][i], x[k]))
		}
		x[i].Quo(x[i], f.l[i][i])
	}
}

// null returns v ≠ 0 with A·v = 0 after factorise has stopped; v is 1 at the row where it stopped.
func (f factor) null(size int) []*Number {
	v := vector(size)
	for j := range f.rows {
		v[j].Neg(f.l[f.rows][j])
	}
	f.back(v[:f.rows])
	v[f.rows].SetInt64(1)
	return v
}
