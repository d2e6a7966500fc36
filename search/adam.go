package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// AdamOptions are the options of [Adam].
type AdamOptions struct {
	Options
	// Rate is the length of the first step, in each coordinate. 0 means 0.05.
	Rate float64
}

const (
	adamRate     = 0.05
	adamMean     = 0.9   // β₁ of Kingma and Ba
	adamSquare   = 0.999 // β₂
	adamEpsilon  = 1e-8
	adamPatience = 25 // evaluations without a gain after which the search stops
)

// Adam is a baseline: the method of Kingma and Ba (ICLR 2015), which moves every
// coordinate by about the same length, projected onto the box. It has no line
// search, so values may rise on the way. It stops when 25 evaluations in a row
// have gained less than options.Stop, as Stationary, Box or Flat. After a step to
// a point whose value or slope is not finite, it reverses its direction.
func Adam(ctx context.Context, f Objective, start []float64, box Box, options AdamOptions) (*Result, error) {
	if err := box.check(start); err != nil {
		return nil, err
	}
	if !(options.Rate >= 0) || math.IsInf(options.Rate, 0) {
		return nil, outcome.At(outcome.BadParameter, "rate", "must be positive, got %g", options.Rate)
	}
	if options.Rate == 0 {
		options.Rate = adamRate
	}
	r, err := newRecorder(f, options.Options)
	if err != nil {
		return nil, err
	}
	return r.search(ctx, func(ctx context.Context) (outcome.Status, error) {
		return r.adam(ctx, start, box, options.Rate)
	})
}

func (r *recorder) adam(ctx context.Context, start []float64, box Box, rate float64) (outcome.Status, error) {
	here, _, status, err := r.begin(ctx, start, box)
	if status != "" || err != nil {
		return status, err
	}
	x := slices.Clone(here.LogLambda)
	m := moments{mean: make([]float64, len(x)), square: make([]float64, len(x)), meanPower: 1, squarePower: 1}
	best, waited := here, 0
	for {
		if here.usable() && here.Value < best.Value {
			if best.Value-here.Value > r.options.Stop*math.Abs(best.Value) {
				waited = 0
			}
			best = here
		}
		free, held := projectedNorm(best, box)
		if done := waited >= adamPatience || free <= zeroNorm; done && best.Final {
			if held {
				return outcome.Box, nil
			}
			return outcome.Stationary, nil
		} else if done {
			if best, err = r.confirmUsable(ctx, best); err != nil {
				return "", err
			}
			continue
		}
		waited++
		m.move(x, here, rate)
		box.clamp(x)
		if here, err = r.eval(ctx, x, false); err != nil {
			return "", err
		}
	}
}

// moments are the decaying means of the slopes and of their squares.
type moments struct {
	mean, square           []float64
	meanPower, squarePower float64 // powers of β₁ and β₂
}

// move moves x by one step, with the gradient at here.
func (m *moments) move(x []float64, here *Evaluation, rate float64) {
	m.meanPower = float64(m.meanPower * adamMean)
	m.squarePower = float64(m.squarePower * adamSquare)
	for i := range x {
		if here.usable() {
			g := here.Gradient[i]
			m.mean[i] = math.FMA(adamMean, m.mean[i], (1-adamMean)*g)
			m.square[i] = math.FMA(adamSquare, m.square[i], float64((1-adamSquare)*g)*g)
		} else {
			m.mean[i] = -m.mean[i]
		}
		x[i] -= rate * (m.mean[i] / (1 - m.meanPower)) / (math.Sqrt(m.square[i]/(1-m.squarePower)) + adamEpsilon)
	}
}
