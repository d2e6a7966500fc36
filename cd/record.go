package cd

import "math"

// maxStalled is the number of consecutive outer iterations without progress, most of them
// with a tighter inner tolerance each, after which the gap is taken to be as small as
// rounding allows.
const (
	maxStalled = 12
	progress   = 1e-3 // the least decrease of the objective that counts as progress, relative to the gap that the tolerance allows
	hopeless   = 1e-7 // the same relative to the gap: 100,000 such decreases would remove a hundredth of it
)

// record is the last outer iteration, or the last certificate of an SVM, that made progress. Progress is measured
// against it and not against the previous iteration, since numbers that rounding moves up and down would then
// count as progress for ever.
type record struct {
	columns        int // of the largest working set
	gap, objective float64
}

// unreached is the record before the first certificate of an SVM.
var unreached = record{gap: math.Inf(1), objective: math.Inf(1)}

// advance reports whether an iteration makes progress, and then records it. Progress is a larger working set than
// any before, half the gap, or an objective lower by more than matters.
func (r *record) advance(columns int, gap, objective, matters float64) bool {
	if columns > r.columns || gap <= 0.5*r.gap || r.objective-objective > matters {
		*r = record{max(columns, r.columns), gap, objective}
		return true
	}
	return false
}
