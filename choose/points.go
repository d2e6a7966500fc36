package choose

import (
	"cmp"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// mostPoints is the largest size of a grid, whose points are all held in memory.
const mostPoints = 1_000_000

// grid returns the points of a grid search: for two λ, the product of two
// geometric grids, ⌊√Points⌋ a side.
func (o Options) grid(top []float64) ([][]float64, error) {
	if o.Points == 0 {
		o.Points = 100
	}
	if o.Points < 1 || o.Points > mostPoints {
		return nil, outcome.At(outcome.BadParameter, "points", "must be 1 to %d, got %d", mostPoints, o.Points)
	}
	span, err := o.span()
	if err != nil {
		return nil, err
	}
	if len(top) == 1 {
		return search.Geometric(top[0], span, o.Points), nil
	}
	side := int(math.Sqrt(float64(o.Points)))
	var points [][]float64
	for _, second := range search.Geometric(top[1], span, side) {
		for _, first := range search.Geometric(top[0], span, side) {
			points = append(points, []float64{first[0], second[0]})
		}
	}
	return points, nil
}

// span returns ln of a grid's least share of αmax.
func (o Options) span() (float64, error) {
	ratio := cmp.Or(o.MinRatio, 0.001)
	if !(ratio > 0 && ratio <= 1) {
		return 0, outcome.At(outcome.BadParameter, "min-ratio", "must be above 0 and at most 1, got %g", ratio)
	}
	return kernels.Log(ratio), nil
}
