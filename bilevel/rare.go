package bilevel

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/model"
)

// Rare returns the classes that have few of the rows each, and the one in the middle of
// them by size: its solution is a good place for all of them to start. It returns none
// where there are less than three. weights may be nil.
func Rare(label []int32, weights []float64, classes int) (few []int, middle int) {
	count, total := make([]float64, classes), 0.0
	for i, k := range label {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		count[k] += w
		total += w
	}
	for k, c := range count {
		if c <= rare*total {
			few = append(few, k)
		}
	}
	if len(few) < 3 {
		return nil, 0
	}
	slices.SortStableFunc(few, func(a, b int) int { return cmp.Compare(count[a], count[b]) })
	return few, few[len(few)/2]
}

// lead solves a rare class of every fold that has no solutions yet, for the others to
// start from.
func (m *Multiclass) lead(ctx context.Context, logLambda []float64, penalties []model.Penalty, options cd.Options) error {
	for _, f := range m.folds {
		if f.led {
			continue
		}
		few, leader := Rare(m.label, f.view.Weights(), len(m.classes))
		if few == nil {
			continue
		}
		w := <-f.workers
		err := m.solve(ctx, f, w, leader, logLambda[leader], penalties[leader], options)
		f.workers <- w
		if err != nil {
			return err
		}
		f.led = true
		for _, k := range few {
			f.lanes[k].support = slices.Clone(f.lanes[leader].support)
			f.lanes[k].coef = slices.Clone(f.lanes[leader].coef)
		}
	}
	return nil
}
