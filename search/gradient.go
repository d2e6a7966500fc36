package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Gradient minimises by the paper's gradient descent with normalised steps
// (Bertrand et al., JMLR 2022, algorithm 6), repaired: λ ← λ − step·∇L with
// step = 1/‖∇L‖ until the value first rises; from then on the step is fixed and
// divided whenever it rises again. The repairs: a step that raises the value is
// undone, iterates stay in the box, a vanishing gradient stops the search
// instead of dividing by it, and there is a stopping rule.
//
// It stops as Stationary where the projected gradient is small, at the Box
// where only the border holds it back, as Flat where the objective does not
// move, and at a Kink where the slope changes sign over a step shorter than
// 1e-3.
func Gradient(ctx context.Context, f Objective, start []float64, box Box, options Options) (*Result, error) {
	if err := checkBox(start, box); err != nil {
		return nil, err
	}
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	status, err := r.descend(ctx, start, box)
	return r.finish(ctx, status, err)
}

const (
	shrink      = 10   // divides a step that raised the value
	shortest    = 1e-3 // a step in λ too short to matter
	leastNormal = 1e-300
)

func (r *recorder) descend(ctx context.Context, start []float64, box Box) (outcome.Status, error) {
	x := slices.Clone(start)
	box.clamp(x)
	first, err := r.eval(ctx, x, false)
	if err != nil {
		return "", err
	}
	here := *first
	adaptive, step := true, 0.0
	trial := make([]float64, len(x))
	for {
		free, held := projected(&here, box)
		switch {
		case here.Flat:
			return outcome.Flat, nil
		case free <= max(leastNormal, r.options.Stop*math.Abs(here.Value)):
			if held {
				return outcome.Box, nil
			}
			return outcome.Stationary, nil
		}
		if adaptive {
			step = 1 / here.norm()
		}
		var length float64
		for i, g := range here.Gradient {
			trial[i] = math.FMA(-step, g, here.LogLambda[i])
			length = max(length, math.Abs(float64(step*g)))
		}
		if length < shortest {
			return outcome.Kink, nil
		}
		box.clamp(trial)
		next, err := r.eval(ctx, trial, false)
		if err != nil {
			return "", err
		}
		if !(next.Value <= here.Value) {
			adaptive = false
			step /= shrink
			continue
		}
		here = *next
	}
}

// projected returns the norm of the gradient without the components that push
// against the border of the box, and whether there are such.
func projected(e *Evaluation, box Box) (norm float64, held bool) {
	var sum float64
	for i, g := range e.Gradient {
		if (g > 0 && e.LogLambda[i] <= box.Lower[i]) || (g < 0 && e.LogLambda[i] >= box.Upper[i]) {
			held = true
			continue
		}
		sum = math.FMA(g, g, sum)
	}
	return math.Sqrt(sum), held
}
