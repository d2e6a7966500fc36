package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Gradient minimises by the paper's gradient descent (Bertrand et al., JMLR
// 2022, algorithm 6), repaired. As there, λ ← λ − step·∇L with normalised steps,
// step = 1/‖∇L‖, until the value first rises. The repairs: a step that raises
// the value is undone; after it the step is that of Barzilai and Borwein, from
// the gradients at both ends of the last one, where the paper keeps a tenth of
// a step and creeps; iterates stay in the box; a vanishing gradient ends the
// search instead of dividing by it; and it stops where the next step promises
// less than options.Stop.
//
// The status is Stationary, Kink where the slope changes sign without
// vanishing, Box where only the border holds the iterate back, or Flat where
// the objective does not move.
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
	leastShrink = 0.5 // of a step that raised the value
	mostShrink  = 0.1
	mostGrowth  = 10 // of a step, from one to the next
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
	normalised, step := true, 0.0
	longest := 0.0 // the first step fitted to a curvature
	trial := make([]float64, len(x))
	for {
		free, held := projected(&here, box)
		switch {
		case here.Flat:
			return outcome.Flat, nil
		case free <= leastNormal || (!normalised && 0.5*step*free*free <= r.options.Stop*math.Abs(here.Value)):
			if held {
				return outcome.Box, nil
			}
			return ended(longest, step), nil
		}
		if normalised {
			step = 1 / free
		}
		for i, g := range here.Gradient {
			trial[i] = math.FMA(-step, g, here.LogLambda[i])
		}
		box.clamp(trial)
		next, err := r.eval(ctx, trial, false)
		if err != nil {
			return "", err
		}
		newton := barzilaiBorwein(&here, next)
		if next.Value <= here.Value {
			if !normalised && newton > 0 {
				step = min(max(newton, mostShrink*step), mostGrowth*step)
			}
			here = *next
			continue
		}
		if normalised {
			normalised, longest = false, newton
		}
		if !(newton > 0) {
			newton = leastShrink * step
		}
		step = min(max(newton, mostShrink*step), leastShrink*step)
	}
}

// barzilaiBorwein returns ⟨δ,δ⟩/⟨δ,Δ∇L⟩ for the move δ from a to b, the step that
// fits the curvature met on it; not positive where there is none to fit.
func barzilaiBorwein(a, b *Evaluation) float64 {
	var square, bend float64
	for i, x := range a.LogLambda {
		d := b.LogLambda[i] - x
		square = math.FMA(d, d, square)
		bend = math.FMA(d, b.Gradient[i]-a.Gradient[i], bend)
	}
	return square / bend
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
