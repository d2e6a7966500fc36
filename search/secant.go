package search

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Secant minimises over one λ by the secant method on the slope L′ with a sign
// bracket. The first step has length 1 against the slope; then each step goes
// where the line through the last two slopes vanishes, no further than 1.2
// towards small λ, where inner problems are expensive, and 2 towards large.
// Once L′ has changed sign the root is bracketed; steps stay inside, not too
// close to its ends, and a bracket that shrinks slowly is halved.
//
// On real data L′ is a saw-tooth and L looks smooth: knots carry a large part of
// the curvature, which is why slopes between iterates serve better than second
// derivatives on a segment, and why the minimum may be a kink. The search stops
// where the bracket promises less than options.Stop, as Stationary, or as Kink
// where the slopes at its ends have not shrunk with it; at the Box; or where the
// objective is Flat.
func Secant(ctx context.Context, f Objective, start float64, box Box, options Options) (*Result, error) {
	x := []float64{start}
	if err := checkBox(x, box); err != nil {
		return nil, err
	}
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	status, err := r.secant(ctx, start, box.Lower[0], box.Upper[0])
	return r.finish(ctx, status, err)
}

const (
	downwards = 1.2  // longest step towards small λ
	upwards   = 2.0  // longest step towards large λ
	nearEnd   = 0.05 // share of the bracket kept from its ends
	narrow    = 1e-4 // bracket below which its ends are one point
)

func (r *recorder) secant(ctx context.Context, start, lower, upper float64) (outcome.Status, error) {
	var falling, rising *Evaluation // ends of the bracket: L′ < 0 on the left, > 0 on the right
	var last *Evaluation
	x := min(max(start, lower), upper)
	restarted, stalls := false, 0
	broad := 0.0 // curvature over the first bracket
	for {
		e, err := r.eval(ctx, []float64{x}, false)
		if err != nil {
			return "", err
		}
		here, slope := e.LogLambda[0], e.Gradient[0]
		width := math.Inf(1)
		if falling != nil && rising != nil {
			width = rising.LogLambda[0] - falling.LogLambda[0]
		}
		switch {
		case e.Flat && !restarted && here > lower:
			// At and above λmax nothing moves: start again well inside.
			restarted = true
			rising = e
			x = max(lower, min(here, upper)-upwards)
			continue
		case e.Flat:
			return outcome.Flat, nil
		case slope == 0:
			return outcome.Stationary, nil
		case slope < 0:
			falling = e
		default:
			rising = e
		}
		if (slope < 0 && here >= upper) || (slope > 0 && here <= lower) {
			return outcome.Box, nil
		}
		if falling == nil || rising == nil || rising.Flat {
			x = outward(here, slope, last, lower, upper)
			if falling != nil && rising != nil { // bracketed by a flat zone
				x = min(x, 0.5*(here+rising.LogLambda[0]))
			}
			last = e
			continue
		}
		left, right := falling.LogLambda[0], rising.LogLambda[0]
		remaining := right - left
		curvature := (rising.Gradient[0] - falling.Gradient[0]) / remaining
		if broad == 0 {
			broad = curvature
		}
		if remaining < narrow || gain(falling, rising) < r.options.Stop*math.Abs(e.Value) {
			return ended(curvature, broad), nil
		}
		x = left + float64(remaining*share(falling, rising))
		if stalls++; remaining < 0.5*width {
			stalls = 0
		}
		if stalls >= 2 {
			x, stalls = 0.5*(left+right), 0
		}
		last = e
	}
}

// outward steps against the slope while the minimum is not bracketed.
func outward(here, slope float64, last *Evaluation, lower, upper float64) float64 {
	length := 1.0
	if last != nil {
		if curvature := (slope - last.Gradient[0]) / (here - last.LogLambda[0]); curvature > 0 {
			length = math.Abs(slope) / curvature
		} else {
			length = math.Inf(1)
		}
	}
	if slope > 0 {
		return max(lower, here-min(length, downwards))
	}
	return min(upper, here+min(length, upwards))
}

// share returns where in the bracket the line through both slopes vanishes.
func share(falling, rising *Evaluation) float64 {
	t := -falling.Gradient[0] / (rising.Gradient[0] - falling.Gradient[0])
	return min(max(t, nearEnd), 1-nearEnd)
}

// gain returns what one more step promises below the better end of the bracket:
// the smaller of what convexity allows, the depth at which the tangents of both
// ends meet, and what a parabola fitted to the slopes has left.
func gain(falling, rising *Evaluation) float64 {
	width := rising.LogLambda[0] - falling.LogLambda[0]
	a, b := -falling.Gradient[0], rising.Gradient[0]
	best, slope := falling.Value, a
	if rising.Value < best {
		best, slope = rising.Value, b
	}
	parabola := 0.5 * slope * slope * width / (a + b)
	meet := (float64(b*width) - (rising.Value - falling.Value)) / (a + b)
	tangents := best - falling.Value + float64(a*min(max(meet, 0), width))
	return min(parabola, max(0, tangents))
}
