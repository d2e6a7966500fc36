package implicit

import (
	"slices"

	"github.com/seed-45b9a24c/pare/support"
)

// rowSystem solves a system with a ridge by a matrix over the rows, where these are fewer than the columns.
// As with the Gram matrix, conjugate gradients on X start from its solution.
type rowSystem struct {
	list   []int32 // the columns of system
	system *support.RowSystem
	ready  bool
	least  float64 // a lower bound of the smallest eigenvalue of the Jacobi-scaled system
}

// rowReuses is the expected number of strengths that share the matrix over the rows.
const rowReuses = 5

// prepare factorises the system of the columns where that is cheaper than the expected products. It reports
// whether it did.
func (r *rowSystem) prepare(s *Solver, columns []int32, alpha float64) bool {
	rows := float64(s.store.Rows())
	reuses := rowReuses
	if s.curved != nil { // the row weights depend on the point
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
