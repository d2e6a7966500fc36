package cd

import "math"

// maxStalled is the number of outer iterations in a row without a record, most of them
// at a tighter inner tolerance each, after which the gap is taken to be as small as
// rounding allows.
const (
	maxStalled = 12
	progress   = 1e-3 // a decrease, relative to that which the tolerance leaves
	hopeless   = 1e-7 // and relative to the gap: 100,000 of them would take off a hundredth
)

// record is the last outer iteration, or the last certificate of an SVM, that got further. Beside the one just
// before, numbers that rounding moves up and down would get further for ever.
type record struct {
	columns        int // of the largest working set
	gap, objective float64
}

// unreached is the record before any of an SVM.
var unreached = record{gap: math.Inf(1), objective: math.Inf(1)}

// advance reports whether another one gets further: with more columns than any before, half the gap, or an
// objective lower by what matters.
func (r *record) advance(columns int, gap, objective, matters float64) bool {
	if columns > r.columns || gap <= 0.5*r.gap || r.objective-objective > matters {
		*r = record{max(columns, r.columns), gap, objective}
		return true
	}
	return false
}
