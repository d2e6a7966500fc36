package cd

import "github.com/seed-45b9a24c/pare/support"

// What a solve does outside its sweeps and systems, priced as those are. All of it together is
// [Solution.Work]: what the decisions of this package and of others may follow, where a clock
// would make them differ from run to run.

const (
	rowValue    = 1.0  // one row, where a residual is made or its change measured
	curvedRow   = 12.0 // the same with the exponential and the logarithm of a logistic loss
	sharedRow   = 9.0  // of that, what is no sum over the rows
	regainedRow = 3.0  // one row whose prediction is taken from its working residual
	visitColumn = 2.0  // one column that a pass visits
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

// updatesCost is that of adding columns with so many entries to a vector on the rows.
func (s *Solver) updatesCost(entries int) float64 {
	if s.in.store.Dense() {
		return residualCost(entries, 0, true)
	}
	return float64(updateValue * float64(entries))
}

// payUpdates adds it.
func (s *Solver) payUpdates(entries int) {
	cost := s.updatesCost(entries)
	s.in.work += cost
	s.view.Team().Note(cost)
}

// payDots adds the cost of meeting so many entries of columns of X once.
func (s *Solver) payDots(entries int) {
	s.in.work += residualCost(entries, 0, s.in.store.Dense())
}

// payRows adds the cost of making the state of a point from its linear predictor, which a
// quadratic loss has none of.
func (s *Solver) payRows() {
	rows := float64(len(s.state.Linear))
	s.in.work += float64(curvedRow * rows)
	s.view.Team().Note(sharedRow * rows)
}

// pay adds the cost of meeting the columns of the support once on the engine at hand, at a price
// for each entry.
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
