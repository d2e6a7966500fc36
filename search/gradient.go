package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Gradient minimises by the paper's gradient descent (Bertrand et al., JMLR
// 2022, algorithm 6), repaired. As there, λ ← λ − step·∇L with normalised steps,
// step = 1/‖∇L‖, until the value first fails to fall. The repairs: a step that
// fails is undone; from then on the step is that of Barzilai and Borwein, from the
// gradients at both ends of the last step, while the paper keeps a tenth of its
// step, which is slow; iterates stay in the box; a vanishing gradient ends the
// search instead of being divided by; and the search stops where the next step is
// predicted to gain less than options.Stop.
//
// The status is Stationary, Kink where the slope changes sign without
// vanishing, Box where only the border holds the iterate back, or Flat where
// the objective does not change.
func Gradient(ctx context.Context, f Objective, start []float64, box Box, options Options) (*Result, error) {
	return descend(ctx, f, start, box, options, func() stepper { return &barzilai{normalised: true} })
}

const (
	leastShrink = 0.5 // largest factor on a step that raised the value
	mostShrink  = 0.1 // smallest factor on a step
	mostGrowth  = 10  // largest factor from one step to the next
)

// barzilai is the step length of [Gradient].
type barzilai struct {
	normalised        bool    // no step has raised the value yet
	step, firstFitted float64 // the last step, and the first one that was fitted to the curvature
}

func (s *barzilai) length(norm float64) float64 {
	if s.normalised {
		s.step = 1 / norm
	}
	return s.step
}

func (s *barzilai) accept(here, next *Evaluation) bool {
	newton := barzilaiBorwein(here, next)
	if decrease(here, next) > 0 {
		if !s.normalised && newton > 0 {
			s.step = min(max(newton, mostShrink*s.step), mostGrowth*s.step)
		}
		return true
	}
	if s.normalised {
		s.normalised, s.firstFitted = false, newton
	}
	if !(newton > 0) {
		newton = leastShrink * s.step
	}
	s.step = min(max(newton, mostShrink*s.step), leastShrink*s.step)
	return false
}

func (s *barzilai) usesCurvature() bool    { return !s.normalised }
func (s *barzilai) status() outcome.Status { return endStatus(s.firstFitted, s.step) }

// barzilaiBorwein returns ⟨δ,δ⟩/⟨δ,Δ∇L⟩ for the move δ from a to b, the step that
// fits the curvature met on that move; not positive where the curvature is negative.
func barzilaiBorwein(a, b *Evaluation) float64 {
	var square, curvature float64
	for i, x := range a.LogLambda {
		d := b.LogLambda[i] - x
		square = math.FMA(d, d, square)
		curvature = math.FMA(d, b.Gradient[i]-a.Gradient[i], curvature)
	}
	return square / curvature
}

// stepper chooses how far to go along the negative gradient.
type stepper interface {
	// length returns the step for a gradient of this norm.
	length(norm float64) float64
	// accept reports whether to go on from next instead of here, and updates the step.
	accept(here, next *Evaluation) bool
	// usesCurvature reports whether the step depends on the curvature.
	usesCurvature() bool
	// status returns the status of a search that no border holds back at its end.
	status() outcome.Status
}

// descend is projected gradient descent.
func descend(ctx context.Context, f Objective, start []float64, box Box, options Options, begin func() stepper) (*Result, error) {
	if err := box.check(start); err != nil {
		return nil, err
	}
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	return r.search(ctx, func(ctx context.Context) (outcome.Status, error) { return r.followGradient(ctx, start, box, begin) })
}

func (r *recorder) followGradient(ctx context.Context, start []float64, box Box, begin func() stepper) (outcome.Status, error) {
	here, _, status, err := r.begin(ctx, start, box)
	if status != "" || err != nil {
		return status, err
	}
	x, steps, moved := slices.Clone(start), begin(), false
	for {
		free, held := projectedNorm(here, box)
		done := free <= zeroNorm
		if !done {
			step := steps.length(free)
			for i, g := range here.Gradient {
				x[i] = math.FMA(-step, g, here.LogLambda[i])
			}
			box.clamp(x)
			done = slices.Equal(x, here.LogLambda) || (steps.usesCurvature() && 0.5*step*free*free <= r.options.Stop*math.Abs(here.Value))
		}
		switch {
		case done && !here.Final:
			loose := here.Gradient
			if here, err = r.confirmUsable(ctx, here); err != nil {
				return "", err
			}
			if !moved && dot(loose, here.Gradient) < 0 { // all steps went in the wrong direction
				steps = begin()
			}
			continue
		case done && held:
			return outcome.Box, nil
		case done:
			return steps.status(), nil
		}
		next, err := r.eval(ctx, x, false)
		if err != nil {
			return "", err
		}
		if steps.accept(here, next) {
			here, moved = next, true
		}
	}
}
