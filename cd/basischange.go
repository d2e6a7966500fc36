package cd

import "slices"

// basisChange replaces columns of the support that nearly depend on others by their remainders: the Gram matrix of
// the support cannot tell such columns from those that they depend on.
type basisChange struct {
	reduction  *reduction // of the unpenalised columns; nil: there are none
	remainders []int      // remainders whose columns are all in the support
	at         []int      // position of an unpenalised column → its position in the support, −1: not there
	by         []float64  // scratch, by remainder used
	row        []float64
}

// any reports whether there are remainders.
func (t *basisChange) any() bool { return t.reduction != nil && len(t.reduction.remainders) > 0 }

// find lists the remainders whose columns are all in a support.
func (t *basisChange) find(columns []int32) {
	t.remainders = t.remainders[:0]
	if !t.any() {
		return
	}
	t.at = t.at[:0]
	for range t.reduction.known {
		t.at = append(t.at, -1)
	}
	for i, j := range columns {
		if k, found := slices.BinarySearch(t.reduction.known, j); found {
			t.at[k] = i
		}
	}
	for l, r := range t.reduction.remainders {
		here := true
		for k, c := range r.combination {
			here = here && (c == 0 || t.at[k] >= 0)
		}
		if here {
			t.remainders = append(t.remainders, l)
		}
	}
	t.by = grow(t.by, len(t.remainders))
}

// position returns the position in the support of the column that remainder l is of.
func (t *basisChange) position(l int) int { return t.at[t.reduction.remainders[l].at] }

// slopes takes slopes along the columns of the support, and replaces those of columns with a remainder by the
// slopes along the remainder.
func (t *basisChange) slopes(v []float64) {
	for i, l := range t.remainders {
		t.by[i] = 0
		for k, c := range t.reduction.remainders[l].combination {
			if c != 0 {
				t.by[i] += float64(c * v[t.at[k]])
			}
		}
	}
	for i, l := range t.remainders {
		v[t.position(l)] = t.by[i]
	}
}

// direction turns a direction along columns and remainders into one along the columns of the support.
func (t *basisChange) direction(d []float64) {
	for i, l := range t.remainders {
		at := t.position(l)
		t.by[i], d[at] = d[at], 0
	}
	for i, l := range t.remainders {
		for k, c := range t.reduction.remainders[l].combination {
			if c != 0 {
				d[t.at[k]] += float64(t.by[i] * c)
			}
		}
	}
}

// system turns the system of the support, s × s and read from the lower triangle, into one with the remainders.
// They are orthogonal to the basis and to one another, which the Gram matrix does not show.
func (t *basisChange) system(a []float64, s int, total float64) {
	if len(t.remainders) == 0 {
		return
	}
	for i := range s {
		for j := range i {
			a[j*s+i] = a[i*s+j]
		}
	}
	for i := range s {
		t.slopes(a[i*s:][:s])
	}
	t.row = grow(t.row, s)
	for _, l := range t.remainders {
		at := t.position(l)
		for i := range s {
			t.row[i] = a[i*s+at]
		}
		for _, k := range t.reduction.basisPositions {
			if t.at[k] >= 0 {
				t.row[t.at[k]] = 0
			}
		}
		for _, other := range t.remainders {
			t.row[t.position(other)] = 0
		}
		t.row[at] = t.reduction.remainders[l].square / total
		for i, v := range t.row {
			a[i*s+at], a[at*s+i] = v, v
		}
	}
}
