package cd

// maxStalled is the number of outer iterations in a row without a record, most of them
// at a tighter inner tolerance each, after which the gap is taken to be as small as
// rounding allows.
const (
	maxStalled = 12
	progress   = 1e-3 // a decrease, relative to that which the tolerance leaves
)

// record is the last outer iteration that got further. Beside the one just before, numbers
// that rounding moves up and down would get further for ever.
type record struct {
	columns        int // of the largest working set
	gap, objective float64
}

// advance reports whether the last iteration is one: with more columns than any before,
// half the gap, or an objective lower by what matters.
func (r *record) advance(s *Solver, tol float64) bool {
	gap, objective, columns := s.sol.RelativeGap, s.sol.Objective, len(s.set.columns)
	if columns > r.columns || gap <= 0.5*r.gap || r.objective-objective > float64(progress*tol*s.fit.Null()) {
		*r = record{max(columns, r.columns), gap, objective}
		return true
	}
	return false
}

// boxRecord is [record] for the SVM: the last certificate that got further.
type boxRecord struct{ gap, objective float64 }

// advance reports whether the last certificate is one: with half the gap, or an objective
// lower by what matters.
func (r *boxRecord) advance(sol *SVMSolution, matters float64) bool {
	if sol.Gap <= 0.5*r.gap || r.objective-sol.Objective > matters {
		*r = boxRecord{sol.Gap, sol.Objective}
		return true
	}
	return false
}
