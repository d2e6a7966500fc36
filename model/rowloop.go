package model

import "github.com/seed-45b9a24c/pare/loss"

// Loops over the rows of a state, divided by rows among the threads of the view's team.

// rowCost is the modelled cost of a row in such a loop, in nanoseconds.
const rowCost = 3.0

// rowLoop is a loop over the rows of a state.
type rowLoop struct {
	f        *Rowwise
	s        *State
	quantity rowQuantity
	out      []float64 // the result; nil for residuals and balancedResiduals, which set the state
	dual     loss.Dual // for divergences
}

// rowQuantity is what a [rowLoop] computes.
type rowQuantity int

const (
	residuals         rowQuantity = iota // predictions, residuals and weighted residuals
	balancedResiduals                    // residuals times the factor of their sign, and weighted residuals
	lossValues                           // ℓ
	curvatures                           // sᵢℓ″
	divergences                          // sᵢ times the divergence at a dual point
)

// byRows runs a loop over rows on the team of the view.
func (f *Rowwise) byRows(s *State, of rowQuantity, out []float64, dual loss.Dual) {
	s.loop = rowLoop{f, s, of, out, dual}
	team := f.view.Team()
	team.Do(team.Cuts(rowCost*float64(len(f.y))), &s.loop)
	s.loop = rowLoop{}
}

// Part implements [team.Task].
func (t *rowLoop) Part(k, of int) {
	f, s, n := t.f, t.s, len(t.f.y)
	set, weights := f.view.Kernels(), f.view.Weights()
	first, end := n*k/of, n*(k+1)/of
	for from, to := range set.Pieces(end - first) {
		from, to := first+from, first+to
		y, m := f.y[from:to], s.Prediction[from:to]
		var out []float64
		switch t.quantity {
		case residuals:
			out = s.Residual[from:to]
			intercept := s.Intercept
			for i, v := range s.Linear[from:to] {
				m[i] = v + intercept
			}
			f.loss.Slope(set, y, m, out)
		case balancedResiduals:
			out = s.Residual[from:to]
			for i, r := range out {
				out[i] = r * s.balance[loss.Side(r)]
			}
		case lossValues:
			f.loss.Value(set, y, m, t.out[from:to])
			continue
		case curvatures:
			out = t.out[from:to]
			f.loss.Curvature(set, y, m, out)
		case divergences:
			out = t.out[from:to]
			at := t.dual
			at.Slope = s.Residual[from:to]
			f.loss.Divergence(set, y, m, at, out)
		}
		if weights == nil {
			continue
		}
		weighted := out
		if t.quantity <= balancedResiduals {
			weighted = s.Weighted[from:to]
		}
		set.Product(weighted, weights[from:to], out)
	}
}
