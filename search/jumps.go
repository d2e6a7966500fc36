package search

import (
	"cmp"
	"context"
	"slices"
)

const (
	halvings     = 3   // how often the intervals between a path's points are halved
	halvedWithin = 0.5 // standard errors above the best up to which an interval is halved
	mostHalved   = 5   // intervals that are halved each time, at most
)

// halveIntervals evaluates the middles of the intervals with an end near the best value, those with the
// lowest end first: where the criterion jumps, the slopes at the ends do not show what lies between.
func (l *scan) halveIntervals(ctx context.Context) error {
	for range halvings {
		type interval struct{ value, middle float64 }
		var near []interval
		for k := 1; k < len(l.points); k++ {
			a, b := l.points[k-1], l.points[k]
			value := min(a.Value, b.Value)
			if b.depth-a.depth >= leastDistance && value <= l.best.Value+float64(halvedWithin*l.unit(l.best.Evaluation)) {
				near = append(near, interval{value, 0.5 * (a.depth + b.depth)})
			}
		}
		slices.SortStableFunc(near, func(a, b interval) int { return cmp.Compare(a.value, b.value) })
		for _, i := range near[:min(mostHalved, len(near))] {
			if err := l.visit(ctx, i.middle, scanGap, l.nearest(i.middle)); err != nil {
				return err
			}
		}
	}
	return nil
}
