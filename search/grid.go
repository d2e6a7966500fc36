package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Grid evaluates the objective, value only, at the points in the order given
// and returns the best: the baseline. With decreasing λ an objective can start
// each inner problem from the solution of the one before. Every point counts
// against the budget, which defaults to the number of points. The status is
// Exhausted if the best point is inside the grid's range, and Box if it lies on
// its edge, so that a better one may lie beyond.
func Grid(ctx context.Context, f Objective, points [][]float64, options Options) (*Result, error) {
	if len(points) == 0 {
		return nil, outcome.At(outcome.BadParameter, "points", "a grid needs at least one point")
	}
	for k, at := range points {
		if len(at) != len(points[0]) {
			return nil, outcome.At(outcome.Shape, "points", "point %d has %d coordinates, point 0 has %d", k, len(at), len(points[0]))
		}
	}
	if options.Evaluations == 0 {
		options.Evaluations = len(points)
	}
	result, err := evaluateAll(ctx, f, options, false, func(k int, _ []Evaluation) []float64 {
		if k < len(points) {
			return points[k]
		}
		return nil
	})
	if err == nil && result.Status == outcome.Exhausted && onEdge(result.Best.LogLambda, points) {
		result.Status = outcome.Box
	}
	return result, err
}

// Point evaluates the objective and its gradient at one point. The status is Exhausted.
func Point(ctx context.Context, f Objective, at []float64, options Options) (*Result, error) {
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	r.useFinalTol()
	return r.search(ctx, func(ctx context.Context) (outcome.Status, error) {
		_, err := r.eval(ctx, at, false)
		return outcome.Exhausted, err
	})
}

// evaluateAll evaluates the objective, value only, at the points that next proposes from the
// evaluations so far, until next returns nil or the budget is spent. If the proposals are unending,
// a spent budget gives the status Exhausted.
func evaluateAll(ctx context.Context, f Objective, options Options, unending bool, next func(k int, before []Evaluation) []float64) (*Result, error) {
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	return r.evaluateAll(ctx, unending, next)
}

func (r *recorder) evaluateAll(ctx context.Context, unending bool, next func(k int, before []Evaluation) []float64) (*Result, error) {
	r.useFinalTol()
	return r.search(ctx, func(ctx context.Context) (outcome.Status, error) {
		for k := 0; ; k++ {
			x := next(k, r.result.Evaluations)
			if x == nil {
				return outcome.Exhausted, nil
			}
			if _, err := r.eval(ctx, x, true); err != nil {
				return "", err
			}
			if unending && r.evaluationsLeft() == 0 {
				return outcome.Exhausted, nil
			}
		}
	})
}

// onEdge reports whether x is extreme in some coordinate of the grid.
func onEdge(x []float64, points [][]float64) bool {
	for i := range x {
		lower, upper := math.Inf(1), math.Inf(-1)
		for _, q := range points {
			lower, upper = min(lower, q[i]), max(upper, q[i])
		}
		if lower < upper && (x[i] == lower || x[i] == upper) {
			return true
		}
	}
	return false
}

// Geometric returns n points from logMax down to logMax + ln(ratio), evenly
// spaced in λ; logRatio = ln(ratio) ≤ 0. One point is logMax alone.
func Geometric(logMax, logRatio float64, n int) [][]float64 {
	points := make([][]float64, 0, n)
	for i := range n {
		t := 0.0
		if n > 1 {
			t = float64(i) / float64(n-1)
		}
		points = append(points, []float64{math.FMA(t, logRatio, logMax)})
	}
	return slices.Clip(points)
}
