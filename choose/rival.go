package choose

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

const (
	rivalWithin = 0.3 // standard errors above the best up to which a point is a rival
	rivalApart  = 0.5 // its least distance from the best, in ln C or ln ε
)

// scanFromRival scans by turns from another point. The result is no worse than best, and has the status of best if the
// evaluations run out.
func (p *Problem) scanFromRival(ctx context.Context, s *stages, best *search.Result, rival search.Evaluation, o Options, across int) (*search.Result, error) {
	before, status := best.Best, best.Status
	best.Best = rival
	result, err := p.scanInTurn(ctx, s, best, o, across)
	if !(result.Best.Value < before.Value) {
		result.Best = before
	}
	if result.Status == outcome.Budget {
		result.Status = status
	}
	return result, err
}

// rivalTo returns the lowest dip of a line seen that is apart from the best point or, if there is none, the lowest
// other point apart from it. A line must have gone through it along one coordinate only, and across is the other
// coordinate. Every row that enters or leaves the tube bends the criterion, and lines may step over dips.
func rivalTo(best search.Evaluation, done []search.Evaluation) (rival search.Evaluation, across int, ok bool) {
	limit, dip := best.Value+float64(rivalWithin*best.StandardError), false
	for _, e := range done {
		if !(e.Value < limit) || isClose(e, best) || e.Work > cheapPoint {
			continue
		}
		for along := range 2 {
			here := isMinimum(e, along, done)
			if !ok || here && !dip || here == dip && e.Value < rival.Value {
				if onLine(e, along, done) && !onLine(e, 1-along, done) {
					rival, across, ok, dip = e, 1-along, true, here
				}
			}
		}
	}
	return rival, across, ok
}

// isClose reports whether two points are less than rivalApart from each other in both coordinates.
func isClose(a, b search.Evaluation) bool {
	for k, l := range a.LogLambda {
		if math.Abs(l-b.LogLambda[k]) >= rivalApart {
			return false
		}
	}
	return true
}

// isMinimum reports whether, on the line through e along a coordinate, the nearest evaluations on both sides are higher.
func isMinimum(e search.Evaluation, along int, done []search.Evaluation) bool {
	nearest := [2]float64{math.Inf(-1), math.Inf(1)}
	var value [2]float64
	for _, f := range done {
		if f.LogLambda[1-along] != e.LogLambda[1-along] {
			continue
		}
		switch d := f.LogLambda[along] - e.LogLambda[along]; {
		case d < 0 && d > nearest[0]:
			nearest[0], value[0] = d, f.Value
		case d > 0 && d < nearest[1]:
			nearest[1], value[1] = d, f.Value
		}
	}
	return value[0] > e.Value && value[1] > e.Value // 0 where there is none
}

// onLine reports whether an evaluation is on a line along a coordinate, with at least two others.
func onLine(e search.Evaluation, along int, done []search.Evaluation) bool {
	others := 0
	for _, f := range done {
		if f.LogLambda[1-along] == e.LogLambda[1-along] && f.LogLambda[along] != e.LogLambda[along] {
			others++
		}
	}
	return others > 1
}
