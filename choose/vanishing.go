package choose

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
)

// vanishing is an objective whose first strength may vanish. Below a floor its
// coordinate t is the strength α itself, in units of the floor's strength,
//
//	λ = floor + ln(1 + t − floor), t < floor,
//
// since slopes in λ vanish there in proportion to α. In t a strength of 0 is only a step
// of 1 below the floor. Above the floor t is λ.
type vanishing struct {
	search.Objective
	floor float64
}

// Eval implements [search.Objective].
func (v vanishing) Eval(ctx context.Context, request search.Request) (search.Evaluation, error) {
	t := request.LogLambda
	request.LogLambda = v.lambda(t)
	if request.From != nil {
		request.From = v.lambda(request.From)
	}
	e, err := v.Objective.Eval(ctx, request)
	return v.at(t, e), err
}

// at returns an evaluation in the coordinates t.
func (v vanishing) at(t []float64, e search.Evaluation) search.Evaluation {
	share := v.strengthRatio(t)
	e.LogLambda = t
	if e.Gradient != nil {
		e.Gradient = slices.Clone(e.Gradient)
		e.Gradient[0] /= share
	}
	if r := len(t); e.Curvature != nil {
		e.Curvature = slices.Clone(e.Curvature)
		for i := range r {
			e.Curvature[i] /= share
			e.Curvature[i*r] /= share
		}
	}
	return e
}

// strengthRatio returns the strength at t divided by the floor's, 1 above the floor.
func (v vanishing) strengthRatio(t []float64) float64 { return min(1, 1+(t[0]-v.floor)) }

// lambda returns λ at t.
func (v vanishing) lambda(t []float64) []float64 {
	lambda := slices.Clone(t)
	if share := v.strengthRatio(t); share < 1 {
		lambda[0] = v.floor + kernels.Log(share)
	}
	return lambda
}

// coordinates returns t at λ.
func (v vanishing) coordinates(lambda []float64) []float64 {
	t := slices.Clone(lambda)
	if t[0] < v.floor {
		t[0] = v.floor - 1 + kernels.Exp(t[0]-v.floor)
	}
	return t
}

// lift returns an evaluation in the coordinates λ.
func (v vanishing) lift(e search.Evaluation) search.Evaluation {
	if e.LogLambda == nil {
		return e
	}
	if e.Gradient != nil {
		e.Gradient = slices.Clone(e.Gradient)
		e.Gradient[0] *= v.strengthRatio(e.LogLambda)
	}
	e.LogLambda = v.lambda(e.LogLambda)
	return e
}
