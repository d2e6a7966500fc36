package search

import (
	"context"
	"math"
	"slices"
)

// valley takes a step along the floor of a valley whose walls meet in a corner, where
// neither gradient by itself leads on: against the shortest weighted mean of the gradients
// on both walls. The point on the other wall is one of near, within valleyWidth of here.
// valley returns nil if the mean vanishes, so that here is a minimum, or if no step along
// it lowers the value.
func (r *recorder) valley(ctx context.Context, here *Evaluation, near []*Evaluation, box Box) (*Evaluation, error) {
	var down []float64
	least := math.Inf(1)
	for _, across := range near {
		if v, norm := shortestMean(here, across, box); norm < least {
			down, least = v, norm
		}
	}
	if down == nil || least <= zeroSlope*r.options.Stop*math.Abs(here.Value) {
		return nil, nil
	}
	most := 0.0
	for _, d := range down {
		most = max(most, math.Abs(d))
	}
	for length := valleyStep; length > 0.1*valleyStep; length *= 0.5 {
		x := slices.Clone(here.LogLambda)
		for i := range x {
			x[i] -= length * down[i] / most
		}
		box.clamp(x)
		next, err := r.eval(ctx, x, false)
		if err != nil {
			return nil, err
		}
		if decrease(here, next) > 0 {
			return next, nil
		}
	}
	return nil, nil
}

// shortestMean returns the vector of least norm on the segment between the gradients of two
// points, without the components that push against the border, and its norm. The norm is
// +Inf if the points are not close to each other, or if that vector is one of the gradients.
func shortestMean(here, across *Evaluation, box Box) (v []float64, norm float64) {
	var along, square float64
	for i, g := range here.Gradient {
		if math.Abs(across.LogLambda[i]-here.LogLambda[i]) > valleyWidth {
			return nil, math.Inf(1)
		}
		d := g - across.Gradient[i]
		along, square = math.FMA(g, d, along), math.FMA(d, d, square)
	}
	if !(along > 0 && along < square) { // the shortest is at an end
		return nil, math.Inf(1)
	}
	t := along / square
	v = make([]float64, len(here.Gradient))
	for i, g := range here.Gradient {
		if v[i] = math.FMA(t, across.Gradient[i]-g, g); box.blocked(i, here.LogLambda[i], v[i]) {
			v[i] = 0
		}
	}
	return v, math.Sqrt(dot(v, v))
}
