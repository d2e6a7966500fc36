package bilevel

import (
	"slices"

	"github.com/seed-45b9a24c/pare/sparse"
)

// startPoint is where the lanes begin the next evaluation, instead of at the null model. Solutions depend
// on it only within their tolerance.
type startPoint struct {
	solutions []*Solution // one for each lane, or for each class; nil: none
	unscaled  bool        // coefficients are for the columns of X, else for those of the views
}

// setOn sets the start of the requests, and resets b.
func (b *startPoint) setOn(requests []LaneRequest) {
	if b.solutions == nil {
		return
	}
	for i := range requests {
		requests[i].Start, requests[i].Unscaled = b.solutions[i%len(b.solutions)], b.unscaled
	}
	*b = startPoint{}
}

// Begin makes the next evaluation begin at the coefficients of a predictor, for the columns of X.
// It has no effect on problems that are differentiated along iterates or have several scores for a row. The
// slices are kept.
func (p *Problem) Begin(at []*Solution) {
	if p.spec.Iterate == nil && (p.spec.Blocked == nil || p.spec.Blocked.Count <= 1) {
		p.start = startPoint{at[:1], true}
	}
}

// Begin is [Problem.Begin] with a predictor for each class.
func (m *Multiclass) Begin(at []*Solution) { m.setStart(startPoint{at, true}) }

func (m *Multiclass) setStart(b startPoint) {
	m.start = b
	for _, f := range m.folds {
		f.started = true
	}
}

// BeginEach makes the next evaluation begin at one solution for each lane, as returned by Solutions of
// a problem that differs in some rows. No lane may begin at a solution that was trained on rows which
// its fold holds out: the criterion would be evaluated on rows used for training.
func (p *Problem) BeginEach(at []*Solution) {
	if len(at) == p.lanes {
		p.start = startPoint{at, false}
	}
}

// BeginEach is [Problem.BeginEach], with one solution for every class of the first fold, then of the second, and so on.
func (m *Multiclass) BeginEach(at []*Solution) {
	if len(at) == len(m.folds)*len(m.classes) {
		m.setStart(startPoint{at, false})
	}
}

// in returns the solution s, which is for the columns of X, in the coordinates of a view.
func (s *Solution) in(view *sparse.View) *Solution {
	if !view.Scaled() {
		return s
	}
	own := &Solution{s.Support, slices.Clone(s.Coef)}
	for k, j := range s.Support {
		if scale := view.Scale(int(j)); scale > 0 {
			own.Coef[k] /= scale
		} else {
			own.Coef[k] = 0
		}
	}
	return own
}
