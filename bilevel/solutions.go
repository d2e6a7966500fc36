package bilevel

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

func (l *penalisedLane) solution() *Solution {
	return &Solution{slices.Clone(l.last.Support), slices.Clone(l.last.Coef)}
}

func (l *penalisedLane) moveTo(s *Solution) error {
	l.start = s
	l.solver.MoveTo(s.Support, s.Coef)
	l.tangent.forget()
	return nil
}

func (l *classLane) solution() *Solution {
	return &Solution{slices.Clone(l.support), slices.Clone(l.coef)}
}

func (l *penalisedLane) innerView() *sparse.View { return l.view }

func (l *classLane) innerView() *sparse.View { return l.fold.view }

func (l *classLane) moveTo(s *Solution) error {
	l.support, l.coef = append(l.support[:0], s.Support...), append(l.coef[:0], s.Coef...)
	l.tangent.forget()
	return nil
}

// points are the λ's of the evaluations whose solutions the lanes keep. The number of a solution is
// the position of its λ, counted from 1.
type points [][]float64

// number returns the number of λ, or 0 if λ is not among the points.
func (p points) number(logLambda []float64) int {
	return 1 + slices.IndexFunc(p, func(at []float64) bool { return slices.Equal(at, logLambda) })
}

// nextNumber returns the number under which to keep the solutions at λ.
func (p points) nextNumber(logLambda []float64) int {
	return cmp.Or(p.number(logLambda), len(p)+1)
}

// add records that the solutions at λ are kept.
func (p *points) add(logLambda []float64) {
	if p.number(logLambda) == 0 {
		*p = append(*p, slices.Clone(logLambda))
	}
}

// Solutions returns the solutions kept at λ, one for each lane; nil if a lane has kept none.
// They must not be changed. The error is that of the [Runner].
func (p *Problem) Solutions(ctx context.Context, logLambda []float64) ([]*Solution, error) {
	return p.kept.solutions(ctx, p.runner, p.toAllLanes(LaneRequest{}), logLambda, nil)
}

// Solutions is [Problem.Solutions], with one solution for every class of the first fold, then of the second, and so on.
func (m *Multiclass) Solutions(ctx context.Context, logLambda []float64) ([]*Solution, error) {
	return m.kept.solutions(ctx, m.runner, m.toAllLanes(LaneRequest{}), logLambda, nil)
}

// solutions asks lanes for the solutions kept at λ, moved to the λ in to unless that is nil.
func (p points) solutions(ctx context.Context, runner Runner, lanes []LaneRequest, logLambda, to []float64) ([]*Solution, error) {
	number := p.number(logLambda)
	if number == 0 {
		return nil, nil
	}
	for i := range lanes {
		lanes[i].Ask, lanes[i].From, lanes[i].LogLambda = AskKept, number, to
	}
	results, err := runner.Run(ctx, lanes, nil)
	if err != nil {
		return nil, err
	}
	all := make([]*Solution, len(results))
	for i := range results {
		if all[i] = results[i].Solution; all[i] == nil {
			return nil, nil
		}
	}
	return all, nil
}

// Mean returns what the solutions kept at λ have in common: the columns in more than half
// of the folds' supports, ascending, with their mean coefficients in the coordinates of the views.
// It is a start for the same problem on all rows. Both are nil where nothing was kept. The error is
// that of the [Runner].
func (p *Problem) Mean(ctx context.Context, logLambda []float64) (columns []int32, coef []float64, err error) {
	return p.mean(ctx, logLambda, nil)
}

// nearestDistance is the largest distance in λ from which kept solutions serve as a start for a solve on all rows.
const nearestDistance = 0.5

// MeanBefore is [Problem.Mean] of the solutions at the point nearest to λ among those kept before λ
// itself, moved to λ along their derivatives. They are known before the lanes solve at λ. Columns and
// coefficients are nil where no such point is near, or where λ has several entries.
func (p *Problem) MeanBefore(ctx context.Context, logLambda []float64) (columns []int32, coef []float64, err error) {
	if len(logLambda) != 1 {
		return nil, nil, nil
	}
	var from []float64
	for _, at := range p.kept[:p.kept.nextNumber(logLambda)-1] {
		distance := math.Abs(at[0] - logLambda[0])
		if distance <= nearestDistance && (from == nil || distance < math.Abs(from[0]-logLambda[0])) {
			from = at
		}
	}
	return p.mean(ctx, from, logLambda)
}

// mean is [Problem.Mean] of solutions that are moved to the λ in to unless that is nil.
func (p *Problem) mean(ctx context.Context, logLambda, to []float64) (columns []int32, coef []float64, err error) {
	solutions, err := p.kept.solutions(ctx, p.runner, p.toAllLanes(LaneRequest{}), logLambda, to)
	if err != nil || solutions == nil {
		return nil, nil, err
	}
	count, sum := map[int32]int{}, map[int32]float64{}
	for _, s := range solutions {
		for k, j := range s.Support {
			count[j]++
			sum[j] += s.Coef[k]
		}
	}
	for j, times := range count {
		if 2*times > p.lanes {
			columns = append(columns, j)
		}
	}
	slices.Sort(columns)
	for _, j := range columns {
		coef = append(coef, sum[j]/float64(count[j]))
	}
	return columns, coef, nil
}

// largestSupport returns the number of rows of positive weight or of columns, whichever is less, but at least 1.
func largestSupport(view *sparse.View) float64 {
	_, p := view.Dims()
	return float64(max(1, min(view.Positive(), p)))
}

// mostOf is [largestSupport] for a number of columns and row weights.
func mostOf(k *kernels.Set, columns int, weights []float64) float64 {
	rows := 0
	for from, to := range k.Pieces(len(weights)) {
		for _, w := range weights[from:to] {
			if w > 0 {
				rows++
			}
		}
	}
	return float64(max(1, min(rows, columns)))
}
