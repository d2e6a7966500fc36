package choose

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/search"
)

// axis is an objective of two coordinates along one of them, with the other fixed.
type axis struct {
	Objective
	free  int
	fixed float64
}

// onlyStrength returns the axis of one strength with the other strength 0.
func onlyStrength(f Objective, free int) axis { return axis{f, free, noStrength} }

func (a axis) at(x []float64) []float64 {
	both := []float64{a.fixed, a.fixed}
	both[a.free] = x[0]
	return both
}

// Eval implements [search.Objective].
func (a axis) Eval(ctx context.Context, request search.Request) (search.Evaluation, error) {
	x := request.LogLambda
	request.LogLambda = a.at(x)
	if request.From != nil {
		request.From = a.at(request.From)
	}
	e, err := a.Objective.Eval(ctx, request)
	e.LogLambda = x
	if e.Gradient != nil {
		e.Gradient = e.Gradient[a.free : a.free+1]
	}
	e.Curvature = nil
	return e, err
}

// KeepSolutions passes the call on to the objective.
func (a axis) KeepSolutions() {
	if k, ok := a.Objective.(keepsSolutions); ok {
		k.KeepSolutions()
	}
}

// LogLambdaMax returns ln αmax of the ℓ1 strength, −Inf if the objective has none.
func (a axis) LogLambdaMax() float64 {
	if t, ok := a.Objective.(withMaximum); ok {
		return t.LogLambdaMax()
	}
	return math.Inf(-1)
}

// lift returns an evaluation on the axis with both coordinates.
func (a axis) lift(e search.Evaluation) search.Evaluation {
	if e.LogLambda == nil {
		return e
	}
	e.LogLambda = a.at(e.LogLambda)
	if e.Gradient != nil {
		both := make([]float64, 2)
		both[a.free] = e.Gradient[0]
		e.Gradient = both
	}
	return e
}

// lower is the inverse of lift; it reports false for an evaluation that is not on the axis.
func (a axis) lower(e search.Evaluation) (search.Evaluation, bool) {
	if len(e.LogLambda) != 2 || e.LogLambda[1-a.free] != a.fixed || e.LogLambda[a.free] == noStrength {
		return e, false
	}
	e.LogLambda = e.LogLambda[a.free : a.free+1]
	if len(e.Gradient) == 2 { // otherwise it already is the slope along this axis
		e.Gradient = e.Gradient[a.free : a.free+1]
	}
	return e, true
}

// movedOnto returns an earlier scan along the same coordinate, with its points moved onto this axis.
func (a axis) movedOnto(r *search.Result) *search.Result {
	if r == nil {
		return nil
	}
	moved := func(e search.Evaluation) search.Evaluation {
		if len(e.LogLambda) == 2 {
			e.LogLambda = a.at(e.LogLambda[a.free : a.free+1])
		}
		return e
	}
	out := &search.Result{Best: moved(r.Best)}
	for _, e := range r.Evaluations {
		out.Evaluations = append(out.Evaluations, moved(e))
	}
	return out
}
