package bilevel

import (
	"slices"

	"github.com/seed-45b9a24c/pare/sparse"
)

// beginning is where the lanes begin the next evaluation, instead of at the null model: a start,
// on which solutions depend within their tolerance only.
type beginning struct {
	at       []*Solution // of each lane, or of each class; nil: as it would
	unscaled bool        // by the columns of X, else by those of the views
}

// give makes the beginning that of requests, once.
func (b *beginning) give(requests []LaneRequest) {
	if b.at == nil {
		return
	}
	for i := range requests {
		requests[i].Start, requests[i].Unscaled = b.at[i%len(b.at)], b.unscaled
	}
	*b = beginning{}
}

// Begin makes the next evaluation begin at a predictor's coefficients, by the columns of X.
// Inner problems that have no coefficients of their own begin as they would. The slices are
// kept.
func (p *Problem) Begin(at []*Solution) {
	if p.spec.Iterate == nil && (p.spec.Blocked == nil || p.spec.Blocked.Count <= 1) {
		p.begin = beginning{at[:1], true}
	}
}

// Begin is [Problem.Begin] with a predictor for each class.
func (m *Multiclass) Begin(at []*Solution) { m.beginAt(beginning{at, true}) }

func (m *Multiclass) beginAt(b beginning) {
	m.begin = b
	for _, f := range m.folds {
		f.led = true
	}
}

// BeginEach makes the next evaluation begin at a solution for each lane, those that Solutions has
// returned of a problem that differs in some rows. No fold may hold out what another has trained
// on: held-out rows would be judged by what knows them.
func (p *Problem) BeginEach(at []*Solution) {
	if len(at) == p.lanes {
		p.begin = beginning{at, false}
	}
}

// BeginEach is [Problem.BeginEach], class by class of fold after fold.
func (m *Multiclass) BeginEach(at []*Solution) {
	if len(at) == len(m.folds)*len(m.classes) {
		m.beginAt(beginning{at, false})
	}
}

// in returns the solution, by the columns of X, in the coordinates of a view.
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
