package implicit

import (
	"slices"

	"github.com/seed-45b9a24c/pare/support"
)

// rowSystem solves for a ridge alone where rows are fewer than columns. As the Gram
// matrix does, it proposes; conjugate gradients on X begin there.
type rowSystem struct {
	list   []int32 // columns that system is of
	system *support.RowSystem
	ready  bool
	least  float64 // a bound from below of the smallest eigenvalue of the Jacobi-scaled system
}

// rowReuses is the number of strengths that are expected to share the matrix of the rows.
const rowReuses = 5

// prepare factorises the system of the columns, all that have entries, where that is
// cheaper than the products expected. It reports whether it did.
func (r *rowSystem) prepare(s *Solver, columns []int32, alpha float64) bool {
	rows := float64(s.store.Rows())
	reuses := rowReuses
	if s.curved != nil { // the weights of rows are those of the point
		reuses = 1
	}
	cost := s.store.RowSystemCost(columns)/float64(reuses) + float64(support.FactorValue*rows*rows*rows/6)
	if !s.gram.Fits(s.store.Rows()-s.gram.Size()) || cost > float64(productsExpected*s.store.ProductCost(columns)) {
		return false
	}
	switch {
	case r.system == nil || !slices.Equal(r.list, columns):
		r.list = append(r.list[:0], columns...)
		r.system = support.NewRowSystem(s.store, r.list)
	case s.curved != nil:
		r.system.Update()
	}
	if r.ready = r.system.Factorise(alpha); r.ready {
		s.system.Diagonal(s.res)
		r.least = alpha / slices.Max(s.res)
	}
	return r.ready
}
