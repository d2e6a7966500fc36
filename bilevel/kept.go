package bilevel

import (
	"slices"

	"github.com/seed-45b9a24c/pare/sparse"
)

// kept is a solution that a lane remembers: its coefficients, and how they move with λ
// where that is followed.
type kept struct {
	logLambda []float64
	support   []int32
	coef      []float64
	tangent   tangent
}

// find returns the solution kept at λ, nil where there is none.
func find(known []kept, logLambda []float64) *kept {
	for i := range known {
		if slices.Equal(known[i].logLambda, logLambda) {
			return &known[i]
		}
	}
	return nil
}

// remember keeps a solution found at λ, in place of an earlier one.
func remember(known []kept, logLambda []float64, support []int32, coef []float64, t tangent) []kept {
	own := kept{slices.Clone(logLambda), slices.Clone(support), slices.Clone(coef), tangent{t.lambda, slices.Clone(t.coef)}}
	if at := find(known, logLambda); at != nil {
		*at = own
		return known
	}
	return append(known, own)
}

func (l *penalised) keep(logLambda []float64) {
	l.known = remember(l.known, logLambda, l.last.Support, l.last.Coef, l.tangent)
}

func (l *penalised) recall(logLambda []float64) {
	if at := find(l.known, logLambda); at != nil {
		l.solver.MoveTo(at.support, at.coef)
		l.tangent = tangent{at.tangent.lambda, slices.Clone(at.tangent.coef)}
	}
}

func (l *classLane) keep(logLambda []float64) {
	l.known = remember(l.known, logLambda, l.support, l.coef, l.tangent)
}

func (l *classLane) recall(logLambda []float64) {
	if at := find(l.known, logLambda); at != nil {
		l.support, l.coef = append(l.support[:0], at.support...), append(l.coef[:0], at.coef...)
		l.tangent = tangent{at.tangent.lambda, slices.Clone(at.tangent.coef)}
	}
}

// Mean returns what the solutions kept at λ have in common: columns in more than half
// of the folds, ascending, with their mean coefficients in the coordinates of the views.
// It is a start for the same problem on all rows; nothing where nothing was kept.
func (p *Problem) Mean(logLambda []float64) (columns []int32, coef []float64) {
	count, sum := map[int32]int{}, map[int32]float64{}
	for _, l := range p.lanes {
		one, ok := l.(*penalised)
		if !ok {
			return nil, nil
		}
		at := find(one.known, logLambda)
		if at == nil {
			return nil, nil
		}
		for k, j := range at.support {
			count[j]++
			sum[j] += at.coef[k]
		}
	}
	for j, times := range count {
		if 2*times > len(p.lanes) {
			columns = append(columns, j)
		}
	}
	slices.Sort(columns)
	for _, j := range columns {
		coef = append(coef, sum[j]/float64(count[j]))
	}
	return columns, coef
}

// largestSupport returns the number of rows that count or of columns, whichever is less.
func largestSupport(view *sparse.View) float64 {
	n, p := view.Dims()
	if weights := view.Weights(); weights != nil {
		n = 0
		for _, w := range weights {
			if w > 0 {
				n++
			}
		}
	}
	return float64(max(1, min(n, p)))
}
