package support

import "math"

// GramSystem is the system of some of the columns that a Gram matrix holds, as an
// [Operator]. Products use that matrix in place or, where other columns take up so much of its
// rows that this is cheaper, a copy of the submatrix. It is valid until the matrix changes; the
// zero value is ready for Reset. Not safe for concurrent use.
type GramSystem struct {
	gram   *Gram
	list   []int32
	ridge  float64
	v      []float64 // by row of G; 0 off the list
	copied bool
	cost   float64 // of a product
	copy   Matrix

	product gramProduct
}

// Reset makes a the system of the columns listed (kept, not copied), which gram must hold,
// for an expected number of products.
func (a *GramSystem) Reset(gram *Gram, columns []int32, ridge, products float64) {
	a.gram, a.list, a.ridge = gram, columns, ridge
	if _, a.copied = productsCost(len(columns), gram.Size(), products); a.copied {
		a.copy.Kernels, a.copy.S = gram.k, len(columns)
		a.copy.A = resize(a.copy.A, a.copy.S*a.copy.S)
		gram.Submatrix(columns, ridge, a.copy.A)
		a.cost = float64(GramValue * float64(a.copy.S*a.copy.S))
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
		a.copy.Apply(v, out)
		return
	}
	g := a.gram
	for k, j := range a.list {
		a.v[g.Slot(j)] = v[k]
	}
	a.product.a, a.product.by, a.product.out = a, v, out
	team := g.columns.view.Team()
	team.Do(team.Parts(a.cost), &a.product)
}

// gramProduct is a product with the matrix in place.
type gramProduct struct {
	a       *GramSystem
	by, out []float64
}

// Part implements [team.Task].
func (p *gramProduct) Part(k, of int) {
	a, g, size := p.a, p.a.gram, len(p.out)
	from, to := size*k/of, size*(k+1)/of
	for at, j := range a.list[from:to] {
		i := from + at
		p.out[i] = math.FMA(a.ridge, p.by[i], g.k.Dot(g.Row(g.Slot(j)), a.v)/g.total)
	}
}

// Diagonal implements [Operator].
func (a *GramSystem) Diagonal(out []float64) {
	for k, j := range a.list {
		slot := a.gram.Slot(j)
		out[k] = a.gram.Row(slot)[slot]/a.gram.total + a.ridge
	}
}
