package bilevel

import (
	"slices"

	"github.com/seed-45b9a24c/pare/sparse"
)

// Begin makes the next evaluation begin at a predictor's coefficients, by the columns of X,
// instead of at the null model: a start, on which solutions depend within their tolerance
// only. Inner problems that have no coefficients of their own begin as they would. The
// slices are kept.
func (p *Problem) Begin(at []Solution) {
	if p.spec.Iterate == nil && (p.spec.Blocked == nil || p.spec.Blocked.Count <= 1) {
		p.begin = &at[0]
	}
}

// Begin is [Problem.Begin] with a predictor for each class.
func (m *Multiclass) Begin(at []Solution) {
	m.begin = at
	for _, f := range m.folds {
		f.led = true
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
