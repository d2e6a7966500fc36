package search

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
)

// LineSearch is a baseline: gradient descent with the adaptive step of HOAG
// (Pedregosa, ICML 2016), with which the paper compares its own method. The step is
// 1/ℓ; ℓ is multiplied by 0.95 where the value falls by as much as the slope predicts,
// up to the tolerances, and doubled where a step is undone.
//
// Two things differ from the implementation that the paper used: each step is taken
// once, not once before its test and once more after it; and a step that raises
// the value is undone.
func LineSearch(ctx context.Context, f Objective, start []float64, box Box, options Options) (*Result, error) {
	return descend(ctx, f, start, box, options, func() stepper { return &hoag{} })
}

const (
	hoagGrowth   = 0.95
	hoagSlack    = 0.25
	hoagLeast    = 1e-3 // norm below which the first step is not normalised
	hoagRejected = 2
)

// hoag is the step length of [LineSearch].
type hoag struct {
	lipschitz, first float64 // ℓ = 1/step, and its first value
}

func (s *hoag) length(norm float64) float64 {
	if s.lipschitz == 0 {
		s.lipschitz = 1
		if norm > hoagLeast {
			s.lipschitz = norm
		}
		s.first = s.lipschitz
	}
	return 1 / s.lipschitz
}

func (s *hoag) accept(here, next *Evaluation) bool {
	var square float64
	for i, x := range here.LogLambda {
		d := next.LogLambda[i] - x
		square = math.FMA(d, d, square)
	}
	scale := math.Abs(here.Value)
	slack := float64(hoagSlack*next.Tol*scale) + float64(here.Tol*scale*(1+hoagSlack)*math.Sqrt(square))
	switch gain := decrease(here, next); {
	case !(gain > 0):
		s.lipschitz *= hoagRejected
		return false
	case gain >= float64(s.lipschitz*square)-slack:
		s.lipschitz *= hoagGrowth
	}
	return true
}

func (s *hoag) usesCurvature() bool    { return true }
func (s *hoag) status() outcome.Status { return endStatus(s.lipschitz, s.first) }
