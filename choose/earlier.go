package choose

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/search"
)

// earlier returns the evaluations of the earlier choice in the coordinates of f, the point
// chosen first; none where that is none of f's.
func (o Options) earlier(f search.Objective) []search.Evaluation {
	if o.From == nil {
		return nil
	}
	lower := one
	if on, ok := f.(interface {
		lower(search.Evaluation) (search.Evaluation, bool)
	}); ok {
		lower = on.lower
	}
	best, ok := lower(o.From.Best)
	if !ok {
		return nil
	}
	seen := []search.Evaluation{best}
	for _, e := range o.From.Evaluations {
		if e, ok = lower(e); ok {
			seen = append(seen, e)
		}
	}
	return seen
}

// one names an evaluation by the λ that all coordinates have.
func one(e search.Evaluation) (search.Evaluation, bool) {
	if len(e.LogLambda) == 0 || slices.Min(e.LogLambda) != slices.Max(e.LogLambda) {
		return e, false
	}
	e.LogLambda = e.LogLambda[:1]
	return e, true
}

// lower is the inverse of lift.
func (r line) lower(e search.Evaluation) (search.Evaluation, bool) {
	shift, ok := along(e.LogLambda, r.from)
	e.LogLambda = []float64{shift}
	return e, ok
}

// pairAgain chooses both λ's of an elastic net from an earlier choice: on the axis where
// that was a Lasso or a ridge, else by the trust region. done is false where nothing came
// of it.
func (p *Problem) pairAgain(ctx context.Context, s *stages, top []float64, o Options) (result *search.Result, done bool, err error) {
	from := o.From.Best.LogLambda
	if len(from) != 2 {
		return nil, false, nil
	}
	for free := range from {
		if from[1-free] != noStrength {
			continue
		}
		one := *p
		on := alone(p.Objective, free)
		one.Objective, one.Top, one.Shape, one.Pair = on, p.Top[:1], Sparse, false
		if free == 1 {
			one.Top, one.Shape = []float64{p.RidgeTop}, Smooth
		}
		result, err = s.run(on.lift, func(options search.Options) (*search.Result, error) {
			return one.scan(ctx, on, o, options)
		})
		return result, true, err
	}
	if c, ok := p.Objective.(hasCurvature); ok {
		c.AskCurvature()
	}
	result, err = s.run(asIs, func(options search.Options) (*search.Result, error) {
		options.Tol, options.Schedule = p.pairTol(options.Tol, o.From.Best), search.Exact
		return search.Point(ctx, o.stepped(p), slices.Clone(from), options)
	})
	if result == nil || err != nil || !(result.Best.Value < p.Null().Value) {
		return result, err != nil, err
	}
	result, err = p.descendBoth(ctx, s, result, result.Best, from[0], boxAround(from[0], from[1], from[1], top), o)
	return result, true, err
}
