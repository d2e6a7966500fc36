package support

import "math"

// GramSystem is the system of some of the columns that a Gram matrix holds, as an
// [Operator]: on that matrix where it is, or on a copy of their rows and columns where rows
// hold so much else that products are better off. It holds until the matrix changes; the
// zero value is ready for Reset. Not safe for concurrent use.
type GramSystem struct {
	gram   *Gram
	list   []int32
	ridge  float64
	v      []float64 // by row of G; 0 off the list
	copied bool
	cost   float64 // of a product
	own    Matrix
}

// Reset makes a the system of the columns listed (kept, not copied), which gram must hold,
// for so many products.
func (a *GramSystem) Reset(gram *Gram, columns []int32, ridge, products float64) {
	a.gram, a.list, a.ridge = gram, columns, ridge
	if _, a.copied = productsCost(len(columns), gram.Size(), products); a.copied {
		a.own.Kernels, a.own.S = gram.k, len(columns)
		a.own.A = resize(a.own.A, a.own.S*a.own.S)
		gram.Submatrix(columns, ridge, a.own.A)
		a.cost = float64(GramValue * float64(a.own.S*a.own.S))
		return
	}
	a.cost = float64(GramValue * float64(len(columns)*gram.Size()))
	a.v = resize(a.v, gram.Size())
	clear(a.v)
}

// Apply implements [Operator].
func (a *GramSystem) Apply(v, out []float64) {
	a.gram.columns.work += a.cost
	if a.copied {
		a.own.Apply(v, out)
		return
	}
	g := a.gram
	for k, j := range a.list {
		a.v[g.slot[j]] = v[k]
	}
	for k, j := range a.list {
		out[k] = math.FMA(a.ridge, v[k], g.k.Dot(g.Row(g.Slot(j)), a.v)/g.total)
	}
}

// Diagonal implements [Operator].
func (a *GramSystem) Diagonal(out []float64) {
	for k, j := range a.list {
		slot := a.gram.Slot(j)
		out[k] = a.gram.Row(slot)[slot]/a.gram.total + a.ridge
	}
}
