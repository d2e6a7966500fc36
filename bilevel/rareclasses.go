package bilevel

import (
	"cmp"
	"context"
	"slices"
)

// RareClasses returns the rare classes, those with a small share of the total weight, and the one of
// median size, whose solution is a good start for all of them. It returns none if there are fewer
// than three. weights has the weights of the rows; nil means all 1.
func RareClasses(label []int32, weights []float64, classes int) (few []int, middle int) {
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
		if c <= rareShare*total {
			few = append(few, k)
		}
	}
	if len(few) < 3 {
		return nil, 0
	}
	slices.SortStableFunc(few, func(a, b int) int { return cmp.Compare(count[a], count[b]) })
	return few, few[len(few)/2]
}

// startRareClasses solves one rare class in every fold that has no solutions yet, and makes the requests of all rare
// classes of the fold start from its solution.
func (m *Multiclass) startRareClasses(ctx context.Context, requests []LaneRequest) error {
	q := len(m.classes)
	var first []LaneRequest
	for fold, f := range m.folds {
		if few, leader := RareClasses(m.label, f.train, q); few != nil && !f.started {
			r := requests[fold*q+leader]
			r.ValueOnly, r.Keep, r.Tell = true, 0, true
			first = append(first, r)
		}
	}
	if len(first) == 0 {
		return nil
	}
	results, err := m.runner.Run(ctx, first, nil)
	if err != nil {
		return err
	}
	for i, r := range first {
		m.folds[r.Lane.Fold].started = true
		few, _ := RareClasses(m.label, m.folds[r.Lane.Fold].train, q)
		for _, k := range few {
			requests[r.Lane.Fold*q+k].Start = results[i].Solution
		}
	}
	return nil
}
