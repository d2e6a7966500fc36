package cd

import "github.com/seed-45b9a24c/pare/support"

// Prices of what a solve does outside its sweeps and linear systems, in the units of their cost model. The total is
// [Solution.Work]. Decisions, here and in other packages, depend on it and not on a clock, which would make them
// differ from run to run.

const (
	rowValue    = 1.0  // per row: to compute a residual or measure its change
	curvedRow   = 12.0 // per row: the same with the exponential and the logarithm of a logistic loss
	sharedRow   = 9.0  // the part of curvedRow that a team can share: all but the sums over rows
	regainedRow = 3.0  // per row: to recover a prediction from the working residual
	visitColumn = 2.0  // per column that a pass visits
)

// work returns the cost of the solve so far.
func (s *Solver) work() float64 { return s.in.work + s.in.store.Work() }

// entries returns the number of entries of the columns listed.
func (s *Solver) entries(columns []int32) (entries int) {
	for _, j := range columns {
		from, to := s.view.Matrix().Span(int(j))
		entries += int(to - from)
	}
	return entries
}

// entriesMoved returns the number of entries of the columns that a step moves.
func (s *Solver) entriesMoved() (entries int) {
	for k, j := range s.in.columns {
		if s.prox.delta[k] != 0 {
			from, to := s.view.Matrix().Span(int(j))
			entries += int(to - from)
		}
	}
	return entries
}

// updatesCost returns the cost of adding columns with the given number of entries to a vector of n rows.
func (s *Solver) updatesCost(entries int) float64 {
	if s.in.store.Dense() {
		return residualCost(entries, 0, true)
	}
	return float64(updateValue * float64(entries))
}

// payUpdates adds updatesCost to the work, and notes it as work that a team can share.
func (s *Solver) payUpdates(entries int) {
	cost := s.updatesCost(entries)
	s.in.work += cost
	s.view.Team().Note(cost)
}

// payDots adds the cost of products with columns of X that have the given number of entries.
func (s *Solver) payDots(entries int) {
	s.in.work += residualCost(entries, 0, s.in.store.Dense())
}

// payRows adds the cost of computing the state of a point from its linear predictor. A quadratic
// loss keeps no linear predictor, and adds nothing.
func (s *Solver) payRows() {
	rows := float64(len(s.state.Linear))
	s.in.work += float64(curvedRow * rows)
	s.view.Team().Note(sharedRow * rows)
}

// pay adds the cost of one product with the columns of the support on the engine in use, at a
// price per entry.
func (nw *newton) pay(price float64) {
	in := nw.in
	if in.engine == &in.quadratic {
		in.work += gramCost(len(nw.columns), 0, in.gram.Size())
		return
	}
	cost := float64(price * float64(nw.values))
	if in.store.Dense() {
		cost = support.DenseCost(nw.values)
	}
	in.work += cost + float64(denseValue*float64(in.store.Rows()))
}
